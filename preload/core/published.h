/* SPDX-License-Identifier: MIT
 *
 * published.h - what a watched process lets others read of its threads: the
 * contract between the preload and `lockhound inspect`.
 *
 * The preload exports one structure, lockhound_published. It says where the
 * list of threads begins and where in a thread, a chunk and a slot each field
 * lies, so that a reader needs no other knowledge of that build. Offsets are in
 * bytes; pointers have the process's own size. What is read while the process
 * runs may be torn: a reader stops it, or reads twice.
 */
#ifndef LH_CORE_PUBLISHED_H
#define LH_CORE_PUBLISHED_H

#include <stdint.h>

#define LH_PUBLISHED_MAGIC "lckhnd"
enum { LH_PUBLISHED_VERSION = 1 };

struct lh_published {
    char magic[8];
    uint32_t version; /* another one: nothing else can be relied on */
    uint32_t pid;     /* of the process that these are the threads of */
    uint64_t first;   /* address of the pointer to the first thread, or 0 */
    /* In a thread: pointers to the next one, its first chunk and the slot
     * behind its newest; 32-bit tid and number. */
    uint16_t thread_next, thread_chunk, thread_top, thread_tid, thread_number;
    /* A 32-bit number: of the thread whose end it waits for, or 0. */
    uint16_t thread_joins;
    /* In a chunk: its slots, of which the first does not count, and the pointer
     * to the chunk above. */
    uint16_t chunk_slots, chunk_nslots, chunk_above;
    /* In a slot: pointers to the lock and to the caller; 16 bits of how it was
     * asked for, 8 bits of state. */
    uint16_t slot_bytes, slot_lock, slot_pc, slot_how, slot_state;
    /* how: bit 0 is set for shared; the kind, as a number, is the bits of the
     * mask from this bit on. */
    uint16_t how_kind_shift, how_kind_mask;
    /* Likewise how it waits: a wait of this value has no limit, though the
     * thread may sleep with one. */
    uint16_t how_wait_shift, how_wait_mask, how_wait_block;
    /* Values of a state. Taken: held if the lock's own word says so. */
    uint8_t state_holds, state_takes, state_wants;
};

#endif
