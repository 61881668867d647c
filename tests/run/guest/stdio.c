/* SPDX-License-Identifier: MIT
 *
 * stdio.c - streams as locks, by flockfile.
 */
#include "guest.h"

static mutex_t m = MUTEX;
static FILE *stream;

struct order {
    int *after, done;
};

static void nest_stream(void)
{
    flockfile(stream);
    lock(&m);
    unlock(&m);
    funlockfile(stream);
}

static void *stream_then_m(void *order_ptr)
{
    struct order *o = order_ptr;

    nest_stream();
    set_flag(&o->done);
    return NULL;
}

static void *m_then_stream(void *order_ptr)
{
    struct order *o = order_ptr;

    wait_flag(o->after);
    lock(&m);
    flockfile(stream);
    fputc_unlocked('x', stream);
    funlockfile(stream);
    unlock(&m);
    return NULL;
}

static void *m_then_try(void *order_ptr)
{
    struct order *o = order_ptr;

    wait_flag(o->after);
    lock(&m);
    CHECK(ftrylockfile(stream) == 0);
    funlockfile(stream);
    unlock(&m);
    return NULL;
}

static void beside(void *(*first)(void *), void *(*second)(void *))
{
    struct order one = { NULL, 0 }, two = { &one.done, 0 };
    pthread_t t = go(second, &two), u = go(first, &one);

    join(u);
    join(t);
}

/* Re-entry is no request, and the last release counts. */
static void *reentering(void *order_ptr)
{
    struct order *o = order_ptr;

    flockfile(stream);
    flockfile(stream);
    CHECK(ftrylockfile(stream) == 0);
    funlockfile(stream);
    funlockfile(stream);
    lock(&m); /* still under the stream */
    flockfile(stream);
    funlockfile(stream);
    unlock(&m);
    funlockfile(stream);
    set_flag(&o->done);
    return NULL;
}

static void *released(void *order_ptr)
{
    struct order *o = order_ptr;

    flockfile(stream);
    flockfile(stream);
    funlockfile(stream);
    funlockfile(stream);
    lock(&m);
    unlock(&m);
    set_flag(&o->done);
    return NULL;
}

/* A try that fails holds nothing. */
static void *try_fails(void *unused)
{
    CHECK(ftrylockfile(stream) != 0);
    lock(&m);
    unlock(&m);
    return unused;
}

static void failing(void)
{
    flockfile(stream);
    join(go(try_fails, NULL));
    funlockfile(stream);
    beside(released, m_then_stream);
}

/* Called by stdio while it holds the stream itself. */
static ssize_t written(void *unused, const char *bytes, size_t size)
{
    (void)unused;
    (void)bytes;
    flockfile(stream);
    lock(&m);
    unlock(&m);
    funlockfile(stream);
    return (ssize_t)size;
}

static void called_back(void)
{
    cookie_io_functions_t functions = { .write = written };

    stream = fopencookie(NULL, "w", functions);
    CHECK(stream);
    CHECK(fputs("text", stream) >= 0 && fflush(stream) == 0);
    CHECK(fclose(stream) == 0);
}

/* errno stays, and output is what it should be. */
static void results(void)
{
    errno = 1234;
    flockfile(stdout);
    printf("one ");
    putchar_unlocked('2');
    CHECK(ftrylockfile(stdout) == 0);
    funlockfile(stdout);
    funlockfile(stdout);
    printf(" three, errno %d\n", errno);
}

int main(int argc, char **argv)
{
    (void)argc;
    stream = stdout;
    if (is_mode(argv, "opened")) {
        stream = fopen("/dev/null", "w");
        CHECK(stream && dup2(fileno(stream), 57) == 57);
        CHECK(fclose(stream) == 0);
        stream = fdopen(57, "w");
    }
    if (is_mode(argv, "in-memory"))
        stream = fmemopen(NULL, 100, "w");
    if (is_mode(argv, "inversion") || is_mode(argv, "opened") ||
        is_mode(argv, "in-memory"))
        beside(stream_then_m, m_then_stream);
    if (is_mode(argv, "try"))
        beside(stream_then_m, m_then_try);
    if (is_mode(argv, "reentering"))
        beside(reentering, m_then_stream);
    if (is_mode(argv, "reentering-only"))
        beside(reentering, m_then_try);
    if (is_mode(argv, "released"))
        beside(released, m_then_stream);
    if (is_mode(argv, "failing"))
        failing();
    if (is_mode(argv, "called-back"))
        called_back();
    if (is_mode(argv, "results"))
        results();
    return 0;
}
