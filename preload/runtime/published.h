/* SPDX-License-Identifier: MIT
 * published.h - see core/published.h. */
#ifndef LH_RUNTIME_PUBLISHED_H
#define LH_RUNTIME_PUBLISHED_H

struct lh_thread;

/* The list of threads begins at *first, from now on. Once in each process. */
void lh_publish(struct lh_thread **first);

#endif
