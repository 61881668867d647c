/* SPDX-License-Identifier: MIT
 *
 * maps.h - what /proc/self/maps says about an address.
 */
#ifndef LH_RUNTIME_MAPS_H
#define LH_RUNTIME_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* True if the memory there may be shared with another process: it is, or one
 * cannot know. Reads a file: for what is about to be reported. */
bool lh_maps_may_be_shared(uintptr_t address);

#endif
