/* SPDX-License-Identifier: MIT
 *
 * record.h - the records of lockhound-records(5), as JSON lines.
 *
 * Each function appends to a buffer of the calling thread, together with what
 * it refers to and was not recorded yet; logfile.h writes it.
 *
 * Threads:  called with the detector's lock held, but for
 *           lh_record_finding().
 */
#ifndef LH_RUNTIME_RECORD_H
#define LH_RUNTIME_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/order.h"
#include "core/segments.h"
#include "runtime/finding.h"
#include "runtime/fmt.h"

/* forked_from: 0 unless the process was made by fork. */
void lh_record_process(struct lh_fmt *f, long forked_from);

void lh_record_thread(struct lh_fmt *f, const struct lh_finding_thread *t,
                      const struct lh_segments *segments);
void lh_record_lock(struct lh_fmt *f, struct lh_lock_info *lock);
void lh_record_stack(struct lh_fmt *f, uint32_t stack);
void lh_record_dependency(struct lh_fmt *f, uint32_t serial,
                          const struct lh_request *request);
void lh_record_finding(struct lh_fmt *f, const struct lh_finding *finding);
void lh_record_count(struct lh_fmt *f, uint32_t dependency,
                     struct lh_seen seen);
void lh_record_merged(struct lh_fmt *f, uint32_t finding, uint64_t nrings);
void lh_record_note(struct lh_fmt *f, const char *code, const char *text);
void lh_record_end(struct lh_fmt *f, uint64_t nlocks, uint64_t nthreads,
                   const struct lh_order_totals *totals);

#endif
