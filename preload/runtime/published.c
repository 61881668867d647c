/* SPDX-License-Identifier: MIT
 * published.c - what others may read of our threads: core/published.h. */
#include "core/published.h"

#include <stddef.h>

#include "runtime/held.h"
#include "runtime/published.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

extern struct lh_published lockhound_published;
__attribute__((
    visibility("default"))) struct lh_published lockhound_published = {
    .magic = LH_PUBLISHED_MAGIC,
    .version = LH_PUBLISHED_VERSION,
    .thread_next = offsetof(struct lh_thread, next),
    .thread_chunk = offsetof(struct lh_thread, chunk),
    .thread_top = offsetof(struct lh_thread, top),
    .thread_tid = offsetof(struct lh_thread, tid),
    .thread_joins = offsetof(struct lh_thread, live.joins),
    .thread_number = offsetof(struct lh_thread, number),
    .chunk_slots = offsetof(struct lh_chunk, slots),
    .chunk_nslots = LH_CHUNK_SLOTS + 1,
    .chunk_above = offsetof(struct lh_chunk, above),
    .slot_bytes = sizeof(struct lh_slot),
    .slot_lock = offsetof(struct lh_slot, lock),
    .slot_pc = offsetof(struct lh_slot, pc),
    .slot_how = offsetof(struct lh_slot, how),
    .slot_state = offsetof(struct lh_slot, state),
    .how_kind_shift = LH_HOW_KIND_SHIFT,
    .how_kind_mask = LH_HOW_KIND_MASK,
    .how_wait_shift = LH_HOW_WAIT_SHIFT,
    .how_wait_mask = LH_HOW_WAIT_MASK,
    .how_wait_block = LH_WAIT_BLOCK,
    .state_holds = LH_HOLDS,
    .state_takes = LH_TAKES,
    .state_wants = LH_WANTS,
};

void lh_publish(struct lh_thread **first)
{
    lockhound_published.first = (uintptr_t)first;
    lockhound_published.pid = (uint32_t)lh_sys_getpid();
}
