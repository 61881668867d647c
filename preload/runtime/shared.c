/* SPDX-License-Identifier: MIT
 * shared.c - which locks are shared by processes, and which one it is. */
#include "runtime/shared.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/arena.h"
#include "runtime/lockkind.h"
#include "runtime/sys.h"

enum { MUTEX_PSHARED = 128, DEVICE_MINOR_BITS = 20 };

static struct lh_object *objects; /* by node */
static size_t capacity;
static _Atomic bool seen_any;

/* glibc's private layout of a sem_t: the value and the waiters, then what tells
 * the kernel that waiters are in other processes. */
struct semaphore_words {
    uint64_t value;
    uint32_t shared;
};

static bool says_shared(const void *lock, unsigned kind)
{
    const pthread_mutex_t *mutex = lock;
    const pthread_rwlock_t *rwlock = lock;
    const struct semaphore_words *semaphore = lock;

    switch (kind) {
    case LH_KIND_MUTEX:
        return mutex->__data.__kind & MUTEX_PSHARED;
    case LH_KIND_RWLOCK:
        return rwlock->__data.__shared != 0;
    case LH_KIND_SEMAPHORE:
        return semaphore->shared != 0;
    default:
        return false;
    }
}

/* A number in hexadecimal; at receives what follows it. */
static uint64_t hexadecimal(const char **at)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        unsigned char c = (unsigned char)**at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (c - 'a' + 10u);
        else
            return value;
    }
}

static uint64_t decimal(const char *at)
{
    uint64_t value = 0;

    for (; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    return value;
}

/* "7f00-7fff rw-s 00001000 00:01 1871 /dev/zero": whether it holds the address
 * and is shared. */
static bool read_line(const char *line, uintptr_t address,
                      struct lh_object *object)
{
    uint64_t start = hexadecimal(&line), end, offset;

    line++;
    end = hexadecimal(&line);
    if (address < start || address >= end || line[4] != 's')
        return false;
    line += strlen(" rw-s ");
    offset = hexadecimal(&line);
    line++;
    object->device = hexadecimal(&line) << DEVICE_MINOR_BITS;
    line++;
    object->device |= hexadecimal(&line);
    object->inode = decimal(line + 1);
    object->offset = offset + (address - start);
    return true;
}

/* Line by line; of one that does not fit, its end, a path, is dropped. */
static bool find_mapping(uintptr_t address, struct lh_object *object)
{
    static char text[4096]; /* under the detector's lock */
    size_t kept = 0;
    long n, fd = lh_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    bool found = false, in_rest = false;

    if (fd < 0)
        return false;
    while (!found && (n = lh_sys_read((int)fd, text + kept,
                                      sizeof text - 1 - kept)) > 0) {
        char *line = text, *end;
        kept += (size_t)n;
        text[kept] = '\0';
        while (!found && *(end = line + strcspn(line, "\n"))) {
            *end = '\0';
            found = !in_rest && read_line(line, address, object);
            in_rest = false;
            line = end + 1;
        }
        kept -= (size_t)(line - text);
        if (kept == sizeof text - 1) {
            found = !in_rest && read_line(text, address, object);
            in_rest = true;
            kept = 0;
        }
        memmove(text, line, kept);
    }
    lh_sys_close((int)fd);
    return found;
}

bool lh_shared_set(lh_lock node, const void *lock, unsigned kind)
{
    struct lh_object object = { 0, 0, 0 };
    void *array = objects;

    if (!says_shared(lock, kind) || !find_mapping((uintptr_t)lock, &object) ||
        lh_arena_reserve(&array, &capacity, sizeof *objects, (size_t)node + 1))
        return false;
    objects = array;
    objects[node] = object;
    atomic_store_explicit(&seen_any, true, memory_order_relaxed);
    return true;
}

struct lh_object lh_shared_get(lh_lock node)
{
    return node < capacity ? objects[node] : (struct lh_object){ 0, 0, 0 };
}

void lh_shared_notice(const void *lock, unsigned kind)
{
    if (says_shared(lock, kind))
        atomic_store_explicit(&seen_any, true, memory_order_relaxed);
}

bool lh_shared_any(void)
{
    return atomic_load_explicit(&seen_any, memory_order_relaxed);
}
