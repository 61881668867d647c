/* SPDX-License-Identifier: MIT
 * libplugin.c - a library that calls what the environment says when it is
 * loaded, and when it is unloaded: addresses of functions. */
#include <stdlib.h>

static void call(const char *name)
{
    const char *address = getenv(name);

    if (address)
        ((void (*)(void))strtoul(address, NULL, 16))();
}

__attribute__((constructor)) static void loaded(void)
{
    call("PLUGIN_LOADED");
}

__attribute__((destructor)) static void unloaded(void)
{
    call("PLUGIN_UNLOADED");
}
