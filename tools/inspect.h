/* SPDX-License-Identifier: MIT
 *
 * inspect.h - lockhound inspect: what a process, or a core file, waits for.
 */
#ifndef LH_TOOLS_INSPECT_H
#define LH_TOOLS_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "explain.h"
#include "outside.h"
#include "picture.h"
#include "waits.h"

/* All that is known, for the renderers. */
struct lh_inspection {
    struct lh_outside o;
    struct lh_wait *waits; /* by thread */
    struct lh_picture picture;
    struct lh_explain explain;
    size_t **rings; /* each with the indices of its threads */
    size_t *ring_sizes;
    size_t nrings;
    size_t *ring_of;  /* by thread: 1 and up, or 0 */
    bool has_endless; /* a lock's holder is gone */
};

/* argv[0] is "inspect". Returns the exit status. */
int lh_inspect_main(int argc, char **argv);

/* "waits for accounts[0].lock, held by T3 (worker)"; in words that a person
 * reads. */
const char *lh_inspect_sentence(const struct lh_inspection *in, size_t thread);

/* Writes the text report of a living process. Whether there is a deadlock. */
bool lh_inspect_show(FILE *out, bool colour, uint64_t pid);

/* Whether it can never end, though there is no ring. */
bool lh_inspect_is_endless(const struct lh_wait *w);

void lh_inspect_text(FILE *out, bool colour, const struct lh_inspection *in);

/* Returns 0 or EIO. */
int lh_inspect_json(FILE *out, const struct lh_inspection *in);

#endif
