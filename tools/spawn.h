/* SPDX-License-Identifier: MIT
 *
 * spawn.h - the target as a child process that notices nothing of us.
 *
 * It has our standard streams, process group, signal mask and dispositions as
 * they were before lh_spawn_start(). We ignore what the terminal sends to both
 * (SIGINT, SIGQUIT) and pass on what a process sent to us alone (these,
 * SIGTERM and SIGHUP).
 */
#ifndef LH_TOOLS_SPAWN_H
#define LH_TOOLS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

struct lh_spawn {
    bool explain; /* SIGQUIT came, not from a key: set here, reset by callers */
    pid_t pid;
    int fd;     /* readable when lh_spawn_poll() has something to do */
    int status; /* as waitpid(2) gives it, once it has ended */
};

/* Executes argv, found in PATH, with variables added to the environment: an
 * array of names, each followed by its value, ended by NULL. Returns 0, or the
 * errno number of what failed: fork or exec. */
int lh_spawn_start(struct lh_spawn *s, char **argv,
                   const char *const *variables);

/* Passes signals on; whether the target has ended. Does not block. */
bool lh_spawn_poll(struct lh_spawn *s);

#endif
