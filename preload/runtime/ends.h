/* SPDX-License-Identifier: MIT
 *
 * ends.h - the ends of locks that no destroy call tells.
 */
#ifndef LH_RUNTIME_ENDS_H
#define LH_RUNTIME_ENDS_H

/* After a library may have been unloaded. */
void lh_ends_note_unload(void);

#endif
