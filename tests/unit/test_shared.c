/* SPDX-License-Identifier: MIT
 * test_shared.c - which locks are shared, and by what they are known. */
#include "runtime/shared.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/lockkind.h"

enum { AREA_BYTES = 3 * 4096, NODE = 7 };

static char *map(int flags, int fd, off_t offset)
{
    void *p = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
                   flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, offset);
    assert_ptr_not_equal(p, MAP_FAILED);
    return p;
}

static pthread_mutex_t *mutex_at(void *place, int shared)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, shared);
    pthread_mutex_init(place, &attr);
    return place;
}

static pthread_rwlock_t *rwlock_at(void *place, int shared)
{
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setpshared(&attr, shared);
    pthread_rwlock_init(place, &attr);
    return place;
}

static sem_t *semaphore_at(void *place, int shared)
{
    sem_init(place, shared, 1);
    return place;
}

static void lock_that_says_so_is_shared(void **state)
{
    (void)state;
    char *area = map(MAP_SHARED, -1, 0);
    assert_true(lh_shared_set(NODE, mutex_at(area, 1), LH_KIND_MUTEX));
    assert_true(lh_shared_set(NODE, rwlock_at(area, 1), LH_KIND_RWLOCK));
    assert_true(lh_shared_set(NODE, semaphore_at(area, 1), LH_KIND_SEMAPHORE));
    assert_false(lh_shared_set(NODE, mutex_at(area, 0), LH_KIND_MUTEX));
    assert_false(lh_shared_set(NODE, rwlock_at(area, 0), LH_KIND_RWLOCK));
    assert_false(lh_shared_set(NODE, semaphore_at(area, 0), LH_KIND_SEMAPHORE));
    munmap(area, AREA_BYTES);
}

static void lock_in_private_memory_is_private(void **state)
{
    (void)state;
    char *area = map(MAP_PRIVATE, -1, 0);
    assert_false(lh_shared_set(NODE, mutex_at(area, 1), LH_KIND_MUTEX));
    munmap(area, AREA_BYTES);
}

static void place_is_offset_in_the_file(void **state)
{
    (void)state;
    struct stat st;
    int fd = memfd_create("area", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 3 * AREA_BYTES), 0);
    assert_int_equal(fstat(fd, &st), 0);
    char *one = map(MAP_SHARED, fd, 0), *two = map(MAP_SHARED, fd, 4096);
    assert_true(
        lh_shared_set(NODE, mutex_at(one + 4096 + 64, 1), LH_KIND_MUTEX));
    struct lh_object a = lh_shared_get(NODE);
    assert_true(lh_shared_set(NODE + 1, two + 64, LH_KIND_MUTEX));
    struct lh_object b = lh_shared_get(NODE + 1);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.inode, st.st_ino);
    assert_int_equal(a.offset, 4096 + 64);
    munmap(one, AREA_BYTES);
    munmap(two, AREA_BYTES);
    close(fd);
}

static void shared_memory_of_two_mappings_is_two(void **state)
{
    (void)state;
    char *one = map(MAP_SHARED, -1, 0), *two = map(MAP_SHARED, -1, 0);
    assert_true(lh_shared_set(NODE, mutex_at(one, 1), LH_KIND_MUTEX));
    struct lh_object a = lh_shared_get(NODE);
    assert_true(lh_shared_set(NODE, mutex_at(two, 1), LH_KIND_MUTEX));
    assert_memory_not_equal(&a, &(struct lh_object){ 0 }, sizeof a);
    struct lh_object b = lh_shared_get(NODE);
    assert_memory_not_equal(&a, &b, sizeof a);
    munmap(one, AREA_BYTES);
    munmap(two, AREA_BYTES);
}

/* A line of /proc/self/maps ends with the path, which may be of any length. */
static void line_with_a_long_path_is_read(void **state)
{
    (void)state;
    enum { DEPTH = 15 };
    char name[201], folder[] = "/tmp/test_shared.XXXXXX";
    int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdir(name, 0700), 0);
        assert_int_equal(chdir(name), 0);
    }
    fd = open("area", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, 2 * AREA_BYTES), 0);
    char *one = map(MAP_SHARED, fd, 0), *two = map(MAP_SHARED, fd, 4096);
    assert_true(lh_shared_set(NODE, mutex_at(one, 1), LH_KIND_MUTEX));
    assert_true(lh_shared_set(NODE, mutex_at(two, 1), LH_KIND_MUTEX));
    assert_int_equal(lh_shared_get(NODE).offset, 4096);
    munmap(one, AREA_BYTES);
    munmap(two, AREA_BYTES);
    close(fd);
    unlink("area");
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(chdir(".."), 0);
        assert_int_equal(rmdir(name), 0);
    }
    assert_int_equal(fchdir(back), 0);
    close(back);
    rmdir(folder);
}

static void first_shared_lock_is_noticed(void **state)
{
    (void)state;
    pthread_mutex_t place;
    lh_shared_notice(mutex_at(&place, 0), LH_KIND_MUTEX);
    assert_false(lh_shared_any());
    lh_shared_notice(mutex_at(&place, 1), LH_KIND_MUTEX);
    assert_true(lh_shared_any());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_shared_lock_is_noticed),
        cmocka_unit_test(lock_that_says_so_is_shared),
        cmocka_unit_test(lock_in_private_memory_is_private),
        cmocka_unit_test(place_is_offset_in_the_file),
        cmocka_unit_test(shared_memory_of_two_mappings_is_two),
        cmocka_unit_test(line_with_a_long_path_is_read),
    };
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
