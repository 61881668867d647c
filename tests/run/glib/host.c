/* SPDX-License-Identifier: MIT
 *
 * host.c - a C program that knows neither C++ nor GLib and opens a plugin that
 * does: host PLUGIN, or host PLUGIN WAITING to make the plugin's first call
 * while the loader's lock is held by who waits for it.
 */
#include <dlfcn.h>

#include "../guest/guest.h"

static void *open_plugin(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        dprintf(2, "%s\n", dlerror());
    CHECK(handle);
    return handle;
}

static int is_loading, is_done;

static void *run(void *plugin)
{
    wait_flag(&is_loading);
    ((void (*)(void))plugin)();
    set_flag(&is_done);
    return NULL;
}

/* Called by the constructor of WAITING. */
void host_wait(void);
void host_wait(void)
{
    set_flag(&is_loading);
    wait_flag(&is_done);
}

int main(int argc, char **argv)
{
    void *plugin = dlsym(open_plugin(argv[1]), "plugin_run");
    pthread_t t;

    CHECK(plugin);
    t = go(run, plugin);
    if (argc > 2)
        open_plugin(argv[2]);
    else
        set_flag(&is_loading);
    join(t);
    return 0;
}
