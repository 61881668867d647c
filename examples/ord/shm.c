/* SPDX-License-Identifier: MIT
 * shm.c - a counter and an array that processes share and survive.
 *
 * Each cell has its value and the one that it had at the last unlock, valid if
 * the cell was changed in the present generation. An unlock begins a new
 * generation, which makes all changes final by one store; a repair undoes the
 * cells of the present one, and may itself die and be repeated.
 *
 * A process dies between two instructions: what it stored before is stored. So
 * only the compiler must keep the stores in order, and release does that. */
#include "ord/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x316d68732d64726f) /* "ord-shm1" */
#define COUNTER 0 /* the cell of the counter; those of the array follow */

struct cell {
    int64_t value, undo;
    uint64_t changed_in; /* generation; 0: never */
};

struct ord_shm_region {
    uint64_t magic;
    size_t n; /* cells of the array */
    enum ord_shm_policy policy;
    struct ord_mutex mutex; /* robust and shared; protects what follows */
    pid_t holder;           /* atomic; thread id, or 0 */
    uint64_t generation;
    uint64_t nrepairs; /* atomic */
    struct cell cells[];
};

static int size_of_region(size_t n, size_t *size_bytes)
{
    if (__builtin_add_overflow(n, 1, size_bytes) ||
        __builtin_mul_overflow(*size_bytes, sizeof(struct cell), size_bytes) ||
        __builtin_add_overflow(*size_bytes, sizeof(struct ord_shm_region),
                               size_bytes) ||
        *size_bytes > INT64_MAX)
        return ENOMEM;
    return 0;
}

static void init_mutex(struct ord_mutex *mutex)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex->m, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* Maps the region and takes over the descriptor, also on failure. */
static int map(struct ord_shm *shm, int fd, size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED) {
        int rc = errno;
        close(fd);
        return rc;
    }
    *shm = (struct ord_shm){ .region = p, .fd = fd };
    return 0;
}

int ord_shm_create(struct ord_shm *shm, size_t n, enum ord_shm_policy policy)
{
    size_t size_bytes;
    int rc, fd;

    if (n == 0 || (policy != ORD_SHM_REPAIR && policy != ORD_SHM_REFUSE))
        return EINVAL;
    rc = size_of_region(n, &size_bytes);
    if (rc != 0)
        return rc;
    fd = memfd_create("ord-shm", MFD_CLOEXEC);
    if (fd < 0)
        return errno;
    if (ftruncate(fd, (off_t)size_bytes) != 0) {
        rc = errno;
        close(fd);
        return rc;
    }
    rc = map(shm, fd, size_bytes);
    if (rc != 0)
        return rc;
    shm->region->n = n;
    shm->region->policy = policy;
    shm->region->generation = 1;
    init_mutex(&shm->region->mutex);
    shm->region->magic = MAGIC;
    return 0;
}

/* Whether the file's size is that of the region that it says it is. */
static int check_region(const struct ord_shm_region *region, size_t size_bytes)
{
    size_t expected;

    if (region->magic != MAGIC || size_of_region(region->n, &expected) != 0 ||
        expected != size_bytes)
        return EINVAL;
    return 0;
}

int ord_shm_attach(struct ord_shm *shm, int fd)
{
    struct ord_shm attached;
    struct stat st;
    int rc, own;

    if (fstat(fd, &st) != 0)
        return errno;
    if (st.st_size < (off_t)sizeof(struct ord_shm_region))
        return EINVAL;
    own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return errno;
    rc = map(&attached, own, (size_t)st.st_size);
    if (rc != 0)
        return rc;
    rc = check_region(attached.region, (size_t)st.st_size);
    if (rc == 0) {
        *shm = attached;
    } else {
        munmap(attached.region, (size_t)st.st_size);
        close(own);
    }
    return rc;
}

static bool is_held_by_caller(const struct ord_shm *shm)
{
    /* Relaxed: only the holder's own store can be equal. A dead holder's is
     * replaced by who locks next; the mutex itself decides about locking. */
    return __atomic_load_n(&shm->region->holder, __ATOMIC_RELAXED) == gettid();
}

static void set_holder(struct ord_shm *shm, pid_t holder)
{
    __atomic_store_n(&shm->region->holder, holder, __ATOMIC_RELAXED);
}

int ord_shm_detach(struct ord_shm *shm)
{
    size_t size_bytes;

    if (is_held_by_caller(shm))
        return EBUSY;
    size_of_region(shm->region->n, &size_bytes);
    munmap(shm->region, size_bytes);
    close(shm->fd);
    return 0;
}

size_t ord_shm_size(const struct ord_shm *shm)
{
    return shm->region->n;
}

uint64_t ord_shm_nrepairs(const struct ord_shm *shm)
{
    return __atomic_load_n(&shm->region->nrepairs, __ATOMIC_RELAXED);
}

/* One store makes all changes final. */
static void begin_generation(struct ord_shm_region *region)
{
    __atomic_store_n(&region->generation, region->generation + 1,
                     __ATOMIC_RELEASE);
}

static void undo_changes(struct ord_shm_region *region)
{
    for (size_t i = 0; i <= region->n; i++)
        if (region->cells[i].changed_in == region->generation)
            region->cells[i].value = region->cells[i].undo;
    begin_generation(region);
}

/* The holder died and the caller holds the mutex, in an inconsistent state. An
 * unlock that does not end that state makes the mutex unusable for all. */
static int recover(struct ord_shm_region *region)
{
    if (region->policy == ORD_SHM_REFUSE) {
        ord_mutex_unlock(&region->mutex);
        return ENOTRECOVERABLE;
    }
    undo_changes(region);
    __atomic_fetch_add(&region->nrepairs, 1, __ATOMIC_RELAXED);
    return pthread_mutex_consistent(&region->mutex.m);
}

int ord_shm_lock(struct ord_shm *shm, ord_ns deadline)
{
    struct ord_mutex *mutex = &shm->region->mutex;
    int rc = deadline == ORD_NEVER ? ord_mutex_lock(mutex)
                                   : ord_mutex_timedlock(mutex, deadline);

    if (rc == EOWNERDEAD)
        rc = recover(shm->region);
    if (rc == 0)
        set_holder(shm, gettid());
    return rc;
}

int ord_shm_unlock(struct ord_shm *shm)
{
    if (!is_held_by_caller(shm))
        return EPERM;
    begin_generation(shm->region);
    set_holder(shm, 0);
    return ord_mutex_unlock(&shm->region->mutex);
}

/* The undo value, then its mark, then the change. */
static void set_cell(struct ord_shm_region *region, size_t i, int64_t value)
{
    struct cell *cell = &region->cells[i];

    if (cell->changed_in != region->generation) {
        cell->undo = cell->value;
        __atomic_store_n(&cell->changed_in, region->generation,
                         __ATOMIC_RELEASE);
    }
    __atomic_store_n(&cell->value, value, __ATOMIC_RELEASE);
}

static int check_access(const struct ord_shm *shm, size_t index)
{
    if (!is_held_by_caller(shm))
        return EPERM;
    return index < shm->region->n ? 0 : EINVAL;
}

int ord_shm_get(struct ord_shm *shm, size_t index, int64_t *value)
{
    int rc = check_access(shm, index);

    if (rc == 0)
        *value = shm->region->cells[COUNTER + 1 + index].value;
    return rc;
}

int ord_shm_set(struct ord_shm *shm, size_t index, int64_t value)
{
    int rc = check_access(shm, index);

    if (rc == 0)
        set_cell(shm->region, COUNTER + 1 + index, value);
    return rc;
}

static int add_to_counter(struct ord_shm_region *region, int64_t n,
                          int64_t *result)
{
    int64_t sum;

    if (__builtin_add_overflow(region->cells[COUNTER].value, n, &sum))
        return EOVERFLOW;
    set_cell(region, COUNTER, sum);
    if (result)
        *result = sum;
    return 0;
}

int ord_shm_add(struct ord_shm *shm, int64_t n, int64_t *result,
                ord_ns deadline)
{
    int rc = ord_shm_lock(shm, deadline);

    if (rc == EDEADLK)
        return add_to_counter(shm->region, n, result);
    if (rc != 0)
        return rc;
    rc = add_to_counter(shm->region, n, result);
    ord_shm_unlock(shm);
    return rc;
}
