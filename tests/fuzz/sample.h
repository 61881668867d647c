/* SPDX-License-Identifier: MIT
 *
 * sample.h - findings of every kind, to be judged by files that are fuzzed.
 */
#ifndef FUZZ_SAMPLE_H
#define FUZZ_SAMPLE_H

#include "gather.h"

/* The name of the file with their records. */
const char *fuzz_sample_path(void);

/* They, read before the first input. */
struct lh_symbols *fuzz_sample_symbols(void);
struct lh_gather *fuzz_sample(void);

#endif
