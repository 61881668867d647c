/* SPDX-License-Identifier: MIT
 * test_unwind.c - a stack that was unwound before is recalled. */
#include "runtime/unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/arena.h"

/* A thread's stack as far as it matters: return addresses between locals. */
enum { WORDS = 256, CFA = 16, NFRAMES = 6, NCALLERS = 32 };

static uintptr_t words[WORDS];
static struct lh_thread self;
static void *const place = (void *)0x1000; /* the one that locks for all */

static int setup(void **state)
{
    (void)state;
    lh_arena_set_budget((size_t)64 << 20);
    self = (struct lh_thread){ .number = 2,
                               .stack_low = (uintptr_t)words,
                               .stack_high = (uintptr_t)(words + WORDS) };
    self.stacks = lh_arena_resize(NULL, NULL, 0, sizeof *self.stacks);
    return self.stacks ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    lh_arena_resize(NULL, self.stacks, sizeof *self.stacks, 0);
    return 0;
}

/* The frames of one caller, `extent` words each from the second on; then its
 * words are those on the stack. */
static void call(struct lh_return *frames, unsigned caller, uint32_t extent)
{
    memset(words, 0x5a, sizeof words);
    for (uint32_t i = 0; i < NFRAMES; i++) {
        frames[i].pc = i == 0 ? (uintptr_t)place : 0x2000 + i * 64;
        frames[i].at = i == 0 ? 0 : 2 + (i - 1) * extent;
        if (i == 2)
            frames[i].pc += 0x10000 + caller * 16;
        words[CFA - 1 + frames[i].at] = frames[i].pc;
    }
}

static void remember(unsigned caller, uint32_t extent)
{
    struct lh_return frames[NFRAMES];
    struct lh_unwound u = { .n = NFRAMES,
                            .provable = true,
                            .frames = frames,
                            .pc = place,
                            .cfa = (uintptr_t)(words + CFA) };

    call(frames, caller, extent);
    lh_unwind_remember(&self, &u, caller + 1);
}

static uint32_t recall(unsigned caller, uint32_t extent)
{
    struct lh_return frames[NFRAMES];
    uint8_t hint = 0;

    call(frames, caller, extent);
    return lh_stack_recall(&self, place, (uintptr_t)(words + CFA), &hint);
}

static void one_place_has_the_stacks_of_many_callers(void **state)
{
    (void)state;
    for (unsigned caller = 0; caller < NCALLERS; caller++)
        remember(caller, 3);
    for (unsigned caller = 0; caller < NCALLERS; caller++)
        assert_int_equal(recall(caller, 3), caller + 1);
}

static void another_caller_is_not_taken_for_one_of_them(void **state)
{
    (void)state;
    for (unsigned caller = 0; caller < NCALLERS; caller++)
        remember(caller, 3);
    assert_int_equal(recall(NCALLERS, 3), 0);
}

/* As with alloca: the guess ends there, and what is found is still proved. */
static void a_frame_may_change_its_size(void **state)
{
    (void)state;
    remember(0, 3);
    for (uint32_t extent = 4; extent < 40; extent++) {
        assert_int_equal(recall(0, extent), 0);
        remember(0, extent);
        assert_int_equal(recall(0, extent), 1);
    }
    remember(0, 3);
    assert_int_equal(recall(0, 3), 1);
}

/* As deep as stacks are taken: those of an interpreter are all cut off. */
static void a_stack_that_was_cut_off_is_recalled(void **state)
{
    struct lh_return frames[LH_MAX_FRAMES];
    struct lh_unwound u = { .n = LH_MAX_FRAMES,
                            .truncated = true,
                            .provable = true,
                            .frames = frames,
                            .pc = place,
                            .cfa = (uintptr_t)(words + CFA) };
    uint8_t hint = 0;

    (void)state;
    for (uint32_t i = 0; i < LH_MAX_FRAMES; i++) {
        frames[i] = (struct lh_return){ (uintptr_t)place + i * 64, i * 3 };
        words[CFA - 1 + i * 3] = frames[i].pc;
    }
    lh_unwind_remember(&self, &u, 7);
    assert_int_equal(lh_stack_recall(&self, place, u.cfa, &hint), 7);
}

/* Where frames seem to go on beyond the end of the stack, nothing is read. */
static void a_guess_stays_inside_the_stack(void **state)
{
    (void)state;
    remember(0, 40);
    self.stack_high = (uintptr_t)(words + CFA + 20);
    assert_int_equal(recall(1, 3), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_place_has_the_stacks_of_many_callers),
        TEST(another_caller_is_not_taken_for_one_of_them),
        TEST(a_frame_may_change_its_size),
        TEST(a_stack_that_was_cut_off_is_recalled),
        TEST(a_guess_stays_inside_the_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
