/* SPDX-License-Identifier: MIT
 * test_late.c - functions of libraries, found without the loader. */
#include "runtime/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_function_of_a_library_from_the_start_is_found(void **state)
{
    (void)state;
    assert_ptr_equal(lh_late_symbol("libcmocka.so", "_cmocka_run_group_tests"),
                     dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
    assert_ptr_equal(lh_late_symbol("libcmocka.so", "mock_assert"),
                     dlsym(RTLD_DEFAULT, "mock_assert"));
}

static void a_function_of_a_local_library_is_found(void **state)
{
    void *handle = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function = handle ? dlsym(handle, "omp_get_num_threads") : NULL;

    (void)state;
    assert_non_null(function);
    assert_null(dlsym(RTLD_DEFAULT, "omp_get_num_threads"));
    assert_ptr_equal(lh_late_symbol("libgomp.so", "omp_get_num_threads"),
                     function);
}

static void another_library_is_looked_into_last(void **state)
{
    (void)state;
    assert_ptr_equal(lh_late_symbol("libnone.so", "mock_assert"),
                     dlsym(RTLD_DEFAULT, "mock_assert"));
}

static void what_is_nowhere_is_null(void **state)
{
    (void)state;
    errno = EXDEV;
    assert_null(lh_late_symbol("libcmocka.so", "no_such_function"));
    assert_null(lh_late_symbol("libcmocka.so", ""));
    assert_int_equal(errno, EXDEV);
}

/* They are in their table, as undefined. */
static void what_a_library_asks_for_it_does_not_have(void **state)
{
    (void)state;
    assert_ptr_equal(lh_late_symbol("libcmocka.so", "getenv"),
                     dlsym(RTLD_DEFAULT, "getenv"));
}

/* As a debugger does, or our own symbol reader. */
static void a_file_that_is_merely_mapped_is_not_read(void **state)
{
    struct link_map *file;
    char path[PATH_MAX];
    struct stat st;
    void *handle = dlopen("libcmocka.so.0", RTLD_NOW | RTLD_NOLOAD), *p;
    int fd;

    (void)state;
    assert_non_null(handle);
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &file), 0);
    assert_non_null(realpath(file->l_name, path));
    fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &st), 0);
    /* Below all others: the first in the list. */
    p = mmap((void *)(1 << 21), (size_t)st.st_size, PROT_READ,
             MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    assert_ptr_equal(p, (void *)(1 << 21));
    a_function_of_a_library_from_the_start_is_found(state);
    munmap(p, (size_t)st.st_size);
    close(fd);
    dlclose(handle);
}

static void without_descriptors_it_is_found_as_well(void **state)
{
    struct rlimit was, none;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(open("/proc/self/maps", O_RDONLY), -1);
    a_function_of_a_library_from_the_start_is_found(state);
    another_library_is_looked_into_last(state);
    what_is_nowhere_is_null(state);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_of_a_library_from_the_start_is_found),
        cmocka_unit_test(a_function_of_a_local_library_is_found),
        cmocka_unit_test(another_library_is_looked_into_last),
        cmocka_unit_test(what_is_nowhere_is_null),
        cmocka_unit_test(what_a_library_asks_for_it_does_not_have),
        cmocka_unit_test(a_file_that_is_merely_mapped_is_not_read),
        cmocka_unit_test(without_descriptors_it_is_found_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
