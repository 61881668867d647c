/* SPDX-License-Identifier: MIT
 *
 * late.h - real functions of libraries that may be loaded after the start, and
 * by dlopen with RTLD_LOCAL: GLib, the C++ runtime.
 *
 * RTLD_NEXT does not reach those, and to ask the loader from a hook takes its
 * lock.
 */
#ifndef LH_RUNTIME_LATE_H
#define LH_RUNTIME_LATE_H

/*
 * The function of that name in a loaded library whose file name begins with
 * `library` ("libglib-2.0.so"); NULL if there is none. Any thread, also while
 * another one holds the loader's lock. Slow: callers keep the result.
 */
void *lh_late_symbol(const char *library, const char *symbol);

#endif
