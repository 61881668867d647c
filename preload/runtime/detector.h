/* SPDX-License-Identifier: MIT
 *
 * detector.h - the slow path: what was seen for the first time is learned.
 *
 * The hooks' events arrive here when the hot path does not know them. Every
 * function enters the guard (signals blocked, errno saved), takes the
 * detector's lock for a bounded number of steps, and writes what it found
 * after giving it back.
 *
 * Lock order: detector -> sites, detector -> stacks. Nothing is taken under
 * sites or stacks. Never held across a real call, an unwinding or a write.
 */
#ifndef LH_RUNTIME_DETECTOR_H
#define LH_RUNTIME_DETECTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/held.h"
#include "runtime/thread.h"

/* By the constructor, with its own environment. Once. */
void lh_detector_start(char **envp);

/* At exit, or never: writes the counts and the end record. */
void lh_detector_finish(void);

/* State for a thread that was not announced; NULL when memory is short. */
struct lh_thread *lh_detector_attach(void);

/*
 * A blocking request (slot, not yet granted) made while something is held, by
 * a thread inside the guard. stack is the request's.
 * Returns the dependency's slot, 0 if there is none.
 */
uint32_t lh_detector_request(struct lh_thread *t, struct lh_slot *slot,
                             uint32_t stack);

/* First thing in the guard: a child that was made without the atfork handlers
 * starts afresh, as locks of ours may be held by threads that it has not. */
void lh_detector_check_process(void);

/* True in such a child until then. */
bool lh_detector_is_unknown_process(void);

/* True once there was a finding that counts. */
bool lh_detector_found(void);

/* An entry of t's cache goes: its count is kept. ctx is unused. */
void lh_detector_spill(void *ctx, const struct lh_entry *entry);

/* A site became nesting: every cached answer about its stacks is stale. */
void lh_detector_new_epoch(void);

/* The stack of a lock's init or destroy, by its own thread t with signals open;
 * not while t is busy. */
uint32_t lh_detector_stack(struct lh_thread *t, void *pc, uintptr_t cfa);

/* Life of a lock. */
void lh_detector_lock_born(void *lock, uint8_t kind, void *pc, uintptr_t cfa);
void lh_detector_lock_died(void *lock);
void lh_detector_name_lock(void *lock, const char *name);
void lh_detector_rank_lock(void *lock, int rank);
void lh_detector_assert(void *lock, bool held, void *pc, uintptr_t cfa);

/* Life of a thread. announce: by its creator, before it exists; then cancel,
 * if it does not come to be, or created. begin: by itself; cfa lies just
 * above the start routine's return address. */
struct lh_thread *lh_detector_announce(void *(*start)(void *), void *argument,
                                       const pthread_attr_t *attr);
void lh_detector_cancel(struct lh_thread *t);
void lh_detector_created(uint32_t number, pthread_t handle);
void lh_detector_begin(struct lh_thread *t, uintptr_t cfa);
void lh_detector_joined(pthread_t handle, uint32_t number);
void lh_detector_detached(pthread_t handle);
void lh_detector_named(pthread_t handle, const char *name);

/* The number of the thread with that handle, 0 if unknown. */
uint32_t lh_detector_number(pthread_t handle);

/* Around fork. */
void lh_detector_before_fork(void);
void lh_detector_after_fork(bool child);

#endif
