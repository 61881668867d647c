/* SPDX-License-Identifier: MIT
 *
 * late.h - real functions of libraries that may be loaded after the start, and
 * by dlopen with RTLD_LOCAL: GLib, the C++ runtime.
 *
 * RTLD_NEXT does not reach those, and to ask the loader from a hook takes its
 * lock, which a thread may hold that waits for this one. So the loaded files
 * are taken from the kernel's list, and the symbol from the file's own tables
 * in memory. Where there is no /proc, the loader's list is walked as it is.
 */
#ifndef LH_RUNTIME_LATE_H
#define LH_RUNTIME_LATE_H

/*
 * The function of that name in a loaded library whose file name begins with
 * `library` ("libglib-2"); else in any other file than ours, as a library may
 * bring a copy of its own. NULL if there is none.
 *
 * Any thread, also while another one holds the loader's lock; errno is kept;
 * about 400 bytes of stack. Slow: callers keep the result. That is safe as long
 * as the library stays, which libglib and libstdc++ do once they are loaded.
 */
void *lh_late_symbol(const char *library, const char *symbol);

#endif
