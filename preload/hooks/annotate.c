/* SPDX-License-Identifier: MIT
 * annotate.c - the functions behind lockhound.h. */
#include "lockhound.h"

#include "hooks/hook.h"

static uint16_t how(int mode, unsigned wait)
{
    return LH_HOW(mode == LOCKHOUND_SHARED ? LH_SHARED : LH_EXCLUSIVE, wait,
                  LH_KIND_ANNOTATED);
}

static void name(const void *lock, const char *text)
{
    lh_detector_name_lock((void *)lock, text);
}

static void rank(const void *lock, int n)
{
    lh_detector_rank_lock((void *)lock, n);
}

static void assert_held(const void *lock, int held)
{
    lh_detector_assert((void *)lock, held, LH_CALLER(), LH_CFA());
}

static void request(const void *lock, int mode)
{
    lh_held_push((void *)lock, how(mode, LH_WAIT_BLOCK), LH_CALLER(), LH_CFA());
}

static void acquired(const void *lock, int mode)
{
    struct lh_slot *slot = lh_self ? lh_held_find(lh_self, lock, true) : NULL;

    if (!slot)
        slot = lh_held_push((void *)lock, how(mode, LH_WAIT_TRY), LH_CALLER(),
                            LH_CFA());
    lh_held_settle(slot, (void *)lock, LH_HOLDS);
}

static void released(const void *lock, int mode)
{
    struct lh_slot *waiting =
        lh_self ? lh_held_find(lh_self, lock, true) : NULL;

    (void)mode;
    if (waiting) /* it gave up */
        lh_held_settle(waiting, (void *)lock, LH_GONE);
    else
        lh_held_release((void *)lock);
}

extern const struct lockhound_api lockhound_api_v1;
LH_HOOK const struct lockhound_api lockhound_api_v1 = {
    .name = name,
    .rank = rank,
    .assert_held = assert_held,
    .request = request,
    .acquired = acquired,
    .released = released,
};
