/* SPDX-License-Identifier: MIT
 * spawn.c - the target as a child process. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* SIGPIPE is ours alone: a reader of our stderr that has gone must not end us
 * before the target. SIGCHLD must not be ignored, or there is no status. */
static const struct {
    int signal;
    bool ignore;
} changed[] = {
    { SIGPIPE, true },
    { SIGCHLD, false },
};
enum { NCHANGED = sizeof changed / sizeof *changed };

struct before {
    struct sigaction actions[NCHANGED];
    sigset_t mask;
};

static void change_signals(struct before *before, sigset_t *ours)
{
    sigemptyset(ours);
    sigaddset(ours, SIGCHLD);
    sigaddset(ours, SIGTERM);
    sigaddset(ours, SIGHUP);
    sigaddset(ours, SIGINT);
    sigaddset(ours, SIGQUIT);
    sigprocmask(SIG_BLOCK, ours, &before->mask);
    for (int i = 0; i < NCHANGED; i++) {
        struct sigaction action = { 0 };
        action.sa_handler = changed[i].ignore ? SIG_IGN : SIG_DFL;
        sigaction(changed[i].signal, &action, &before->actions[i]);
    }
}

static void restore_signals(const struct before *before)
{
    for (int i = 0; i < NCHANGED; i++)
        sigaction(changed[i].signal, &before->actions[i], NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

static _Noreturn void child(char **argv, const char *const *variables,
                            const struct before *before, int report)
{
    for (; *variables; variables += 2)
        setenv(variables[0], variables[1], 1);
    restore_signals(before);
    execvp(argv[0], argv);
    int error = errno;
    ssize_t ignored = write(report, &error, sizeof error);
    (void)ignored;
    _exit(127);
}

/* What the child says through the pipe, which a successful exec closes. */
static int exec_error(int fd)
{
    int error = 0;
    ssize_t n;
    while ((n = read(fd, &error, sizeof error)) < 0 && errno == EINTR)
        ;
    return n == sizeof error ? error : 0;
}

int lh_spawn_start(struct lh_spawn *s, char **argv,
                   const char *const *variables)
{
    struct before before;
    sigset_t ours;
    int ends[2], error;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    change_signals(&before, &ours);
    s->fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    s->pid = s->fd < 0 ? -1 : fork();
    if (s->pid == 0)
        child(argv, variables, &before, ends[1]);
    error = s->pid < 0 ? errno : 0;
    close(ends[1]);
    if (!error) {
        error = exec_error(ends[0]);
        if (error)
            waitpid(s->pid, NULL, 0);
    }
    close(ends[0]);
    return error;
}

/* What a key on the terminal sends comes from the kernel, and goes to the
 * target as well; what kill(2) sends goes to us alone. */
static bool is_for_target(const struct signalfd_siginfo *info)
{
    bool is_key = info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT;
    return info->ssi_signo != SIGCHLD &&
           !(is_key && info->ssi_code == SI_KERNEL);
}

/* Who sends SIGQUIT to us asks what all threads do. */
static bool is_for_us(const struct signalfd_siginfo *info)
{
    return info->ssi_signo == SIGQUIT && info->ssi_code != SI_KERNEL;
}

bool lh_spawn_poll(struct lh_spawn *s)
{
    struct signalfd_siginfo info;
    while (read(s->fd, &info, sizeof info) == sizeof info) {
        if (is_for_us(&info))
            s->explain = true;
        else if (is_for_target(&info))
            kill(s->pid, (int)info.ssi_signo);
    }
    return waitpid(s->pid, &s->status, WNOHANG) == s->pid;
}
