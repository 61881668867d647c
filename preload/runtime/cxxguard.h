/* SPDX-License-Identifier: MIT
 *
 * cxxguard.h - the C++ runtime behind the hooks of __cxa_guard_*, which the
 * initialization of function-local statics goes through.
 *
 * It is libstdc++ or libc++abi, loaded at the start or later, and may be
 * unloaded with the last plugin that needed it. Without either (a runtime
 * under another name) it is done here, as libstdc++ does it.
 *
 * Threads:  any. Signals: none needs to be blocked.
 */
#ifndef LH_RUNTIME_CXXGUARD_H
#define LH_RUNTIME_CXXGUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Its first byte is not 0 once the object was initialized. */
typedef uint64_t lh_cxxguard;

/* 1: the caller initializes the object, and then releases or aborts. 0: it was
 * initialized, perhaps while this call waited. */
int lh_cxxguard_acquire(lh_cxxguard *guard);
void lh_cxxguard_release(lh_cxxguard *guard);
void lh_cxxguard_abort(lh_cxxguard *guard);

/* Does a thread that initializes an object and asks for it again wait for
 * itself? libc++abi aborts; libstdc++ throws as long as there is one thread. */
bool lh_cxxguard_hangs(void);

#endif
