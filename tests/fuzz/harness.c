/* SPDX-License-Identifier: MIT
 * harness.c - what the harness of each reader shares. */
#include "harness.h"

#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"

/* ---- files ---- */

static int files[FUZZ_FILES];
static char paths[FUZZ_FILES][32];

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    abort();
}

const char *fuzz_path(size_t number)
{
    if (!files[number]) {
        files[number] = memfd_create("fuzz", MFD_CLOEXEC);
        check(files[number] > 0 && fchmod(files[number], 0700) == 0, "memfd");
        snprintf(paths[number], sizeof paths[number], "/proc/self/fd/%d",
                 files[number]);
    }
    return paths[number];
}

const char *fuzz_file(size_t number, const void *data, size_t n)
{
    const char *path = fuzz_path(number);
    check(ftruncate(files[number], 0) == 0 &&
              (!n || pwrite(files[number], data, n, 0) == (ssize_t)n),
          "memfd");
    return path;
}

char *fuzz_word(const char *word)
{
    return (char *)word;
}

void fuzz_expect(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "expected: %s\n", what);
    abort();
}

/* ---- what a command that ends leaves to the kernel: memory ---- */

enum { MAX_EVENTS = 1 << 22 };

struct event {
    uintptr_t block;
    uint32_t at;
    bool freed;
};

static bool reading; /* inside of fuzz_one() */
static struct event *events;
static size_t nevents;

static void note(uintptr_t block, bool freed)
{
    if (!reading || !block || nevents == MAX_EVENTS)
        return;
    events[nevents] = (struct event){ block, (uint32_t)nevents, freed };
    nevents++;
}

static void on_malloc(const volatile void *block, size_t n)
{
    (void)n;
    note((uintptr_t)block, false);
}

static void on_free(const volatile void *block)
{
    note((uintptr_t)block, true);
}

static int by_block(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    return x->block != y->block ? (x->block < y->block ? -1 : 1)
                                : (x->at < y->at ? -1 : 1);
}

static void free_what_is_left(void)
{
    if (nevents)
        qsort(events, nevents, sizeof *events, by_block);
    for (size_t i = 0; i < nevents; i++)
        if (!events[i].freed &&
            (i + 1 == nevents || events[i + 1].block != events[i].block))
            free((void *)events[i].block);
}

/* Of the sanitizers, where there are any. */
int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void *, size_t),
    void (*on_free)(const volatile void *)) __attribute__((weak));

static void begin(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    /* The same input does the same each time. */
    json_object_seed(1);
    events = mmap(NULL, MAX_EVENTS * sizeof *events, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(events != MAP_FAILED, "mmap");
    if (__sanitizer_install_malloc_and_free_hooks)
        __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    for (size_t i = 0; i < FUZZ_FILES; i++)
        fuzz_path(i);
    if (fuzz_begin)
        fuzz_begin();
}

/* ---- likewise streams and descriptors; the linker leads these here ---- */

enum { MAX_STREAMS = 32 };

static FILE *streams[MAX_STREAMS];

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);

FILE *__wrap_fopen(const char *path, const char *mode)
{
    FILE *stream =
        __real_fopen(fuzz_instead_of ? fuzz_instead_of(path) : path, mode);
    for (size_t i = 0; reading && stream && i < MAX_STREAMS; i++)
        if (!streams[i]) {
            streams[i] = stream;
            break;
        }
    return stream;
}

int __wrap_fclose(FILE *stream)
{
    for (size_t i = 0; i < MAX_STREAMS; i++)
        if (streams[i] == stream)
            streams[i] = NULL;
    return __real_fclose(stream);
}

static void close_what_is_left(int first)
{
    for (size_t i = 0; i < MAX_STREAMS; i++)
        if (streams[i])
            __wrap_fclose(streams[i]);
    close_range((unsigned)first, ~0U, 0);
}

/* ---- one input ---- */

static jmp_buf ended;

_Noreturn void __wrap_exit(int status)
{
    if (!reading)
        __real_exit(status);
    fuzz_expect(status == LH_EXIT_USAGE, "a reader gives up with status 2");
    longjmp(ended, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    begin();
    int first = dup(STDIN_FILENO);
    close(first);
    nevents = 0;
    reading = true;
    if (setjmp(ended) == 0) {
        fuzz_one(data, n);
    } else {
        close_what_is_left(first);
        reading = false;
        free_what_is_left();
    }
    reading = false;
    return 0;
}
