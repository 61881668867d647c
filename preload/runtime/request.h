/* SPDX-License-Identifier: MIT
 *
 * request.h - a request made while something is held is taken in.
 *
 * See lh_detector_request() and lh_detector_spill() in detector.h.
 */
#ifndef LH_RUNTIME_REQUEST_H
#define LH_RUNTIME_REQUEST_H

#include "runtime/thread.h"

/* Adds what a thread's cache has counted to the order store. With the
 * detector's lock held. */
void lh_request_keep_counts(const struct lh_thread *t);

#endif
