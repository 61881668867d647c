/* SPDX-License-Identifier: MIT
 *
 * check.h - lockhound run --check: what would be seen, and runs nothing.
 */
#ifndef LH_TOOLS_CHECK_H
#define LH_TOOLS_CHECK_H

struct lh_pool;

/* Prints it; exits with 2 where nothing can be seen. */
void lh_check_print(struct lh_pool *pool, const char *command,
                    const char *preload);

#endif
