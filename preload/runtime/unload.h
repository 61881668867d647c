/* SPDX-License-Identifier: MIT
 *
 * unload.h - libraries that are unloaded.
 */
#ifndef LH_RUNTIME_UNLOAD_H
#define LH_RUNTIME_UNLOAD_H

/* By the hook of dlclose, just before it goes on into the real function. */
void lh_ends_note_unload(void);

#endif
