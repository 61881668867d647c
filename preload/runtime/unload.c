/* SPDX-License-Identifier: MIT
 * unload.c - libraries that are unloaded. */
#include "runtime/unload.h"

void lh_ends_note_unload(void) {}
