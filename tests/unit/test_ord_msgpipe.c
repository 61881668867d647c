/* SPDX-License-Identifier: MIT
 * test_ord_msgpipe.c - two ends that send messages to each other. */
#include "ord/msgpipe.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ord_race.h"

static struct ord_msgpipe a, b;

static int setup(void **state)
{
    (void)state;
    return ord_msgpipe_open(&a, &b);
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(ord_msgpipe_close(&a), 0);
    return ord_msgpipe_close(&b);
}

static void say(struct ord_msgpipe *end, const char *text)
{
    assert_int_equal(ord_msgpipe_send(end, text, strlen(text), ORD_NEVER), 0);
}

static void hear(struct ord_msgpipe *end, const char *text)
{
    char buffer[64];
    size_t size = 0;

    assert_int_equal(
        ord_msgpipe_receive(end, buffer, sizeof buffer, &size, ORD_NEVER), 0);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(buffer, text, size);
}

static void messages_stay_whole_and_in_order_both_ways(void **state)
{
    (void)state;
    say(&a, "one");
    say(&a, "and two");
    say(&b, "three");
    hear(&b, "one");
    hear(&b, "and two");
    hear(&a, "three");
}

static void a_message_has_a_size_within_bounds(void **state)
{
    static char large[ORD_MSGPIPE_MAX + 1], received[ORD_MSGPIPE_MAX];
    size_t size = 0;

    (void)state;
    assert_int_equal(ord_msgpipe_send(&a, large, 0, ORD_NEVER), EINVAL);
    assert_int_equal(ord_msgpipe_send(&a, large, sizeof large, ORD_NEVER),
                     EMSGSIZE);
    assert_int_equal(ord_msgpipe_send(&a, large, ORD_MSGPIPE_MAX, ORD_NEVER),
                     0);
    assert_int_equal(
        ord_msgpipe_receive(&b, received, sizeof received, &size, ORD_NEVER),
        0);
    assert_int_equal(size, ORD_MSGPIPE_MAX);
}

static void what_does_not_fit_the_buffer_is_not_lost(void **state)
{
    char small[2];
    size_t size = 0;

    (void)state;
    say(&a, "large");
    assert_int_equal(
        ord_msgpipe_receive(&b, small, sizeof small, &size, ORD_NEVER),
        EMSGSIZE);
    assert_int_equal(size, 5);
    hear(&b, "large");
}

static void an_empty_pipe_times_out(void **state)
{
    char buffer[8];
    size_t size = 77;

    (void)state;
    assert_int_equal(
        ord_msgpipe_receive(&a, buffer, 8, &size, ord_deadline_after(ORD_MS)),
        ETIMEDOUT);
    assert_int_equal(ord_msgpipe_receive(&a, buffer, 8, &size, 0), ETIMEDOUT);
    assert_int_equal(size, 77);
}

static void a_full_pipe_times_out_and_loses_nothing(void **state)
{
    size_t nsent = 0, size;
    unsigned char message[1000];
    int rc;

    (void)state;
    memset(message, 0, sizeof message);
    while ((rc = ord_msgpipe_send(&a, message, sizeof message,
                                  ord_deadline_after(ORD_MS))) == 0)
        message[0] = (unsigned char)++nsent;
    assert_int_equal(rc, ETIMEDOUT);
    for (size_t i = 0; i < nsent; i++) {
        assert_int_equal(
            ord_msgpipe_receive(&b, message, sizeof message, &size, ORD_NEVER),
            0);
        assert_int_equal(message[0], (unsigned char)i);
    }
}

static void a_finished_end_is_drained_and_still_receives(void **state)
{
    char buffer[8];
    size_t size;

    (void)state;
    say(&a, "last");
    ord_msgpipe_finish(&a);
    assert_int_equal(ord_msgpipe_send(&a, "x", 1, ORD_NEVER), EPIPE);
    hear(&b, "last");
    assert_int_equal(ord_msgpipe_receive(&b, buffer, 8, &size, ORD_NEVER),
                     EPIPE);
    say(&b, "answer");
    hear(&a, "answer");
}

static void a_closed_end_is_drained_and_takes_no_more(void **state)
{
    char buffer[8];
    size_t size;

    (void)state;
    say(&a, "last");
    assert_int_equal(ord_msgpipe_close(&a), 0);
    hear(&b, "last");
    assert_int_equal(ord_msgpipe_receive(&b, buffer, 8, &size, ORD_NEVER),
                     EPIPE);
    assert_int_equal(ord_msgpipe_send(&b, "x", 1, ORD_NEVER), EPIPE);
    assert_int_equal(ord_msgpipe_close(&b), 0);
    assert_int_equal(ord_msgpipe_open(&a, &b), 0);
}

static void *receive_end(void *arg)
{
    char buffer[8];
    size_t size;

    assert_int_equal(ord_msgpipe_receive(arg, buffer, 8, &size, ORD_NEVER),
                     EPIPE);
    return NULL;
}

static void an_end_in_use_is_not_closed(void **state)
{
    ord_ns end = ord_deadline_after(10 * ORD_SECOND);
    pthread_t receiver;

    (void)state;
    assert_int_equal(pthread_create(&receiver, NULL, receive_end, &b), 0);
    while (__atomic_load_n(&b.nusers, __ATOMIC_RELAXED) == 0 && ord_now() < end)
        sched_yield();
    assert_int_equal(ord_msgpipe_close(&b), EBUSY);
    ord_msgpipe_finish(&a);
    pthread_join(receiver, NULL);
}

/* In the child: answers until the parent has finished. */
static void echo(void)
{
    char buffer[64];
    size_t size;

    while (ord_msgpipe_receive(&b, buffer, sizeof buffer, &size, ORD_NEVER) ==
           0)
        ord_msgpipe_send(&b, buffer, size, ORD_NEVER);
    _exit(0);
}

static void processes_talk_and_notice_the_end(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        ord_msgpipe_close(&a);
        echo();
    }
    say(&a, "hello");
    hear(&a, "hello");
    ord_msgpipe_finish(&a);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

struct stress {
    ord_ns end;
    unsigned nstarted;      /* atomic: even ones send */
    int64_t sent, received; /* atomic: sums */
};

static void send_until_end(struct stress *stress, unsigned self)
{
    int64_t message[4];

    for (int64_t i = 1; ord_now() < stress->end; i++) {
        for (size_t k = 0; k < 4; k++)
            message[k] = i * 16 + self;
        if (ord_msgpipe_send(&a, message, sizeof message,
                             ord_deadline_after(ORD_MS)) == 0)
            __atomic_fetch_add(&stress->sent, message[0], __ATOMIC_RELAXED);
    }
}

static void receive_until_silence(struct stress *stress)
{
    ord_ns last = stress->end + 50 * ORD_MS;
    int64_t message[4];
    size_t size;

    while (ord_msgpipe_receive(&b, message, sizeof message, &size, last) == 0) {
        assert_int_equal(size, sizeof message);
        for (size_t k = 1; k < 4; k++)
            assert_int_equal(message[k], message[0]);
        __atomic_fetch_add(&stress->received, message[0], __ATOMIC_RELAXED);
    }
}

static void *send_or_receive(void *arg)
{
    struct stress *stress = arg;
    unsigned self = __atomic_fetch_add(&stress->nstarted, 1, __ATOMIC_RELAXED);

    if (self % 2 == 0)
        send_until_end(stress, self);
    else
        receive_until_silence(stress);
    return NULL;
}

static void nothing_is_lost_or_mixed_under_stress(void **state)
{
    struct stress stress = { race_end(), 0, 0, 0 };

    (void)state;
    race_run(4, send_or_receive, &stress);
    stress.end = 0;
    receive_until_silence(&stress);
    assert_true(stress.sent > 0);
    assert_true(stress.sent == stress.received);
}

#define WITH_PIPE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PIPE(messages_stay_whole_and_in_order_both_ways),
        WITH_PIPE(a_message_has_a_size_within_bounds),
        WITH_PIPE(what_does_not_fit_the_buffer_is_not_lost),
        WITH_PIPE(an_empty_pipe_times_out),
        WITH_PIPE(a_full_pipe_times_out_and_loses_nothing),
        WITH_PIPE(a_finished_end_is_drained_and_still_receives),
        WITH_PIPE(a_closed_end_is_drained_and_takes_no_more),
        WITH_PIPE(an_end_in_use_is_not_closed),
        WITH_PIPE(processes_talk_and_notice_the_end),
        WITH_PIPE(nothing_is_lost_or_mixed_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
