/* SPDX-License-Identifier: MIT
 *
 * inversion.c - one potential deadlock, and then what the mode says: the end
 * of the process in all its forms, or another fate of the descriptors.
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;

static void open_and_count(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    for (int to = 3; to < 1100; to++)
        CHECK(dup2(fd, to) == to || errno == EBADF);
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "stderr-closed"))
        close(2);
    if (is_mode(argv, "stderr-reused")) {
        int fd = open(argv[2], O_RDWR | O_CREAT, 0600);
        CHECK(dup2(fd, 2) == 2);
    }
    if (is_mode(argv, "all-reused")) {
        CHECK(syscall(SYS_close_range, 3, ~0u, 0) == 0);
        open_and_count(argv[2]);
    }
    if (is_mode(argv, "chdir"))
        CHECK(chdir("/") == 0);
    if (is_mode(argv, "setuid") || is_mode(argv, "setuid_child"))
        CHECK(setresgid(65534, 65534, 65534) == 0 &&
              setresuid(65534, 65534, 65534) == 0);
    if (is_mode(argv, "setuid_child")) {
        int status;
        pid_t child = fork();
        if (child) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            return 0;
        }
    }
    if (is_mode(argv, "named"))
        pthread_setname_np(pthread_self(), "tricky \"n\\\x01\xff");
    invert(&a, &b);
    if (is_mode(argv, "SIGKILL"))
        raise(SIGKILL);
    if (is_mode(argv, "abort")) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        abort();
    }
    if (is_mode(argv, "_exit"))
        _exit(3);
    if (is_mode(argv, "exit"))
        exit(3);
    if (is_mode(argv, "buffered")) {
        printf("still in the buffer");
        return 3;
    }
    (void)argc;
    return 0;
}
