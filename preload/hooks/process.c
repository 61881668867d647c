/* SPDX-License-Identifier: MIT
 *
 * process.c - the process begins, forks and ends.
 *
 * The library is linked initfirst: its constructor runs before any other, so
 * that its atfork handlers, registered first, run last before a fork and first
 * after it. environ is not set yet; the third argument is.
 */
#include <stdio.h>
#include <unistd.h>

#include "hooks/hook.h"
#include "runtime/config.h"
#include "runtime/loader.h"
#include "runtime/unseen.h"

/* What pthread_atfork calls; that one is linked statically and of no use
 * here. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso_handle);

static void prepare(void)
{
    lh_detector_before_fork();
}

static void in_parent(void)
{
    lh_detector_after_fork(false);
}

static void in_child(void)
{
    lh_detector_after_fork(true);
}

__attribute__((constructor)) static void begin(int argc, char **argv,
                                               char **envp)
{
    (void)argc;
    (void)argv;
    lh_real_resolve();
    lh_unseen_begin();
    lh_loader_find();
    lh_detector_start(envp);
    __register_atfork(prepare, in_parent, in_child, NULL);
}

__attribute__((destructor)) static void end(void)
{
    lh_detector_finish();
    /* Asked for by exit-code=N: what stdio holds is not lost. */
    if (lh_config.exit_code && lh_detector_found()) {
        fflush(NULL);
        _exit(lh_config.exit_code);
    }
}
