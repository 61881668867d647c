/* SPDX-License-Identifier: MIT
 * late.c - real functions of libraries that are loaded late. */
#include "runtime/late.h"

#include <dlfcn.h>

void *lh_late_symbol(const char *library, const char *symbol)
{
    (void)library;
    return dlsym(RTLD_NEXT, symbol);
}
