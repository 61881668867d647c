/* SPDX-License-Identifier: MIT
 * buildid.h - which build of a file a process has mapped, out of its memory. */
#ifndef LH_TOOLS_BUILDID_H
#define LH_TOOLS_BUILDID_H

#include <stdint.h>

struct lh_outside;

/* The GNU build id of the ELF file whose first byte is mapped at base, in
 * hexadecimal, from the pool of o; "" if it has none or is not to be read. */
const char *lh_buildid_mapped(const struct lh_outside *o, uint64_t base);

#endif
