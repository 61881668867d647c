/* SPDX-License-Identifier: MIT
 *
 * calls.h - the system calls that threads are commonly blocked in.
 */
#ifndef LH_TOOLS_CALLS_H
#define LH_TOOLS_CALLS_H

#include <stdint.h>

/* "read"; NULL for one that is not in the list. */
const char *lh_calls_name(int64_t call);

#endif
