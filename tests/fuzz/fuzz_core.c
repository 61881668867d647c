/* SPDX-License-Identifier: MIT
 * fuzz_core.c - core files, and all that inspect does with them.
 *
 * The unwinders are libraries of others: here a thread that has one of a few
 * ids has a stack of where it is and one frame around that. The libraries that
 * a core names lie in the folder of this program; see names. */
#include <elfutils/libdwfl.h>
#include <getopt.h>
#include <jansson.h>
#include <libgen.h>
#include <libunwind-coredump.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"
#include "harness.h"
#include "inspect.h"
#include "pool.h"
#include "walk.h"

enum { INPUT, OUTPUT, FIRST_THREAD = 100, NTHREADS = 6 };

void lh_walk(struct lh_outside_thread *t, unw_addr_space_t as, void *argument,
             struct lh_pool *pool)
{
    (void)as;
    (void)argument;
    t->frames = lh_pool_array(pool, 2, sizeof *t->frames);
    t->nframes = 2;
    t->frames[0] = (struct lh_outside_frame){ t->registers.rip, false };
    t->frames[1] = (struct lh_outside_frame){ t->registers.rbp, true };
}

/* A process an input is too slow. */
bool lh_apart(struct lh_pool *pool, lh_apart_fn *fn, void *ctx,
              const char **bytes, size_t *n)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, n);
    fn(ctx, out);
    fclose(out);
    char *kept = lh_pool_alloc(pool, *n);
    memcpy(kept, text, *n);
    free(text);
    *bytes = kept;
    return true;
}

struct UCD_info {
    int thread;
};

struct UCD_info *_UCD_create(const char *file)
{
    static struct UCD_info info;
    (void)file;
    return &info;
}

void _UCD_destroy(struct UCD_info *info)
{
    (void)info;
}

int _UCD_get_num_threads(struct UCD_info *info)
{
    (void)info;
    return NTHREADS;
}

void _UCD_select_thread(struct UCD_info *info, int thread)
{
    info->thread = thread;
}

pid_t _UCD_get_pid(struct UCD_info *info)
{
    return FIRST_THREAD + info->thread;
}

int _UCD_add_backing_file_at_vaddr(struct UCD_info *info, unsigned long address,
                                   const char *file)
{
    (void)info;
    (void)address;
    (void)file;
    return 0;
}

int dwfl_core_file_report(Dwfl *dwfl, Elf *elf, const char *executable)
{
    (void)dwfl;
    (void)elf;
    (void)executable;
    return -1;
}

void fuzz_begin(void)
{
    char path[PATH_MAX] = "";
    fuzz_expect(readlink("/proc/self/exe", path, sizeof path - 1) > 0 &&
                    chdir(dirname(path)) == 0,
                "the folder of this program can be entered");
}

static void inspect(const char *format)
{
    char *argv[] = { fuzz_word("inspect"),
                     fuzz_word("--format"),
                     fuzz_word(format),
                     fuzz_word("-o"),
                     fuzz_word(fuzz_file(OUTPUT, "", 0)),
                     fuzz_word(fuzz_path(INPUT)),
                     NULL };
    optind = 0;
    lh_inspect_main(sizeof argv / sizeof *argv - 1, argv);
}

void fuzz_one(const uint8_t *data, size_t n)
{
    fuzz_file(INPUT, data, n);
    inspect("text");
    inspect("json");
    json_t *root = json_load_file(fuzz_path(OUTPUT), 0, NULL);
    fuzz_expect(root != NULL, "what claims to be JSON is JSON");
    json_decref(root);
}
