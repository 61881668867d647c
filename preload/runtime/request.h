/* SPDX-License-Identifier: MIT
 *
 * request.h - a request made while something is held is taken in.
 *
 * See lh_detector_request() and lh_detector_spill() in detector.h.
 */
#ifndef LH_RUNTIME_REQUEST_H
#define LH_RUNTIME_REQUEST_H

#include <stdint.h>

#include "core/order.h"
#include "runtime/thread.h"

/* Adds what a thread's cache has counted to the order store. With the
 * detector's lock held. */
void lh_request_keep_counts(const struct lh_thread *t);

/* How often a dependency was seen by what the caches have counted and was not
 * added yet. Looks through them all. With the detector's lock held. */
uint64_t lh_request_uncounted(uint32_t dependency);

/* Records the requests for a lock, and those made while it was held, that were
 * kept back as it was not known to be one. With the detector's lock held. */
void lh_request_record_of(struct lh_thread *t, lh_lock lock);

#endif
