/* SPDX-License-Identifier: MIT
 * libcaller.c - loads a library by its own RUNPATH. */
#include <dlfcn.h>
#include <stddef.h>

void *load_inner(void);
void *load_inner(void)
{
    return dlopen("inner.so", RTLD_NOW | RTLD_LOCAL);
}
