/* SPDX-License-Identifier: MIT
 *
 * sys.h - system calls that are no cancellation points.
 *
 * glibc's write(2) and open(2) can end the thread when a cancellation is
 * pending, which would leave the target's mutex locked; syscall(2) cannot. All
 * return -errno on failure, as the kernel does, and errno is the caller's to
 * save (guard.h does).
 */
#ifndef LH_RUNTIME_SYS_H
#define LH_RUNTIME_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

long lh_sys_open(const char *path, int flags, mode_t mode);
long lh_sys_close(int fd);
long lh_sys_read(int fd, void *buffer, size_t size_bytes);
long lh_sys_readlink(const char *path, char *buffer, size_t size_bytes);
long lh_sys_write(int fd, const void *data, size_t size_bytes);
long lh_sys_fstat(int fd, struct stat *st);
long lh_sys_getpid(void);
long lh_sys_getppid(void);
long lh_sys_gettid(void);

/* Ends the process at once, without its exit handlers. */
_Noreturn void lh_sys_exit(int status);

/* Private memory that reads as zero; or, with fd not -1, a file's, to be read.
 * NULL on failure. By system call: a sanitizer's interceptors of the C
 * library's functions are not ready when our constructor runs. */
void *lh_sys_map(size_t size_bytes, int fd);
/* Memory that children made by fork share; NULL on failure. */
void *lh_sys_map_shared(size_t size_bytes);
void *lh_sys_remap(void *block, size_t old_bytes, size_t new_bytes);
void lh_sys_unmap(void *block, size_t size_bytes);
long lh_sys_advise(void *block, size_t size_bytes, int advice);

/* True while any thread of the system, as far as we see it, has that number. */
bool lh_sys_tid_exists(long tid);

/* True while a thread of this process has that number. */
int lh_sys_thread_exists(long pid, long tid);

/* True if the main thread has ended before the others: its tid still exists. */
bool lh_sys_main_has_ended(void);

/* True if there is surely no other thread in this process. */
bool lh_sys_is_only_thread(void);

/* True if the process has a handler for some signal but faults. */
bool lh_sys_catches_signals(void);

/* The address of the futex on which a thread of this process sleeps; 0 if it
 * does not, or that cannot be known. */
uintptr_t lh_sys_sleeps_on(long tid);

/* CLOCK_MONOTONIC, in milliseconds; and the time so many from now. */
uint64_t lh_sys_monotonic_ms(void);
void lh_sys_in_ms(struct timespec *time, unsigned ms);

/* Sleeps; a signal ends it early. */
void lh_sys_nap(unsigned ms);

/* Moves fd to a number far above what programs use, close-on-exec. */
long lh_sys_hide_descriptor(int fd);

/* Bytes left below sp when the thread runs on its alternate signal stack,
 * SIZE_MAX when it does not. */
size_t lh_sys_altstack_left(uintptr_t sp);

/* True if eight bytes can be read there. About 100 ns. */
bool lh_sys_can_read(const void *address);

/* Seconds since the Epoch. Makes a system call when there is no vDSO. */
int64_t lh_sys_time(void);

#endif
