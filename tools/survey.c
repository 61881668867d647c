/* SPDX-License-Identifier: MIT
 * survey.c - which lock calls of a program will be seen, and which not. */
#include "survey.h"

#include <string.h>

#include "closure.h"
#include "elffile.h"
#include "lockcalls.h"
#include "place.h"
#include "pool.h"

enum { MAX_NAMED = 4 }; /* files, in a remark */

struct taking {
    struct lh_pool *pool;
    struct lh_survey *survey;
    const struct lh_elffile *files;
    uint64_t hooked; /* calls that the preload defines */
};

static bool has(uint64_t calls, size_t call)
{
    return calls >> call & 1;
}

const char *lh_survey_families(struct lh_pool *pool, uint64_t calls)
{
    const char *text = "", *last = "";
    for (size_t i = 0; i < lh_lockcalls_count(); i++) {
        const char *family = lh_lockcalls_family(i);
        if (!has(calls, i) || strcmp(family, last) == 0)
            continue;
        text = lh_pool_format(pool, "%s%s%s", text, *text ? ", " : "", family);
        last = family;
    }
    return text;
}

static const char *call_names(struct lh_pool *pool, uint64_t calls)
{
    const char *text = "";
    for (size_t i = 0; i < lh_lockcalls_count(); i++)
        if (has(calls, i))
            text = lh_pool_format(pool, "%s%s%s", text, *text ? ", " : "",
                                  lh_lockcalls_name(i));
    return text;
}

static void remark(struct taking *t, bool usual, const char *text)
{
    struct lh_survey *s = t->survey;
    struct lh_survey_remark *grown =
        lh_pool_array(t->pool, s->nremarks + 1, sizeof *grown);
    if (s->nremarks)
        memcpy(grown, s->remarks, s->nremarks * sizeof *grown);
    grown[s->nremarks++] = (struct lh_survey_remark){ text, usual };
    s->remarks = grown;
}

/* Adds a file to "a, b and c"; many are not all named. */
static const char *add_name(struct taking *t, const char *names, size_t *n,
                            const char *name)
{
    if (++*n > MAX_NAMED + 1)
        return names;
    if (*n > MAX_NAMED)
        return lh_pool_format(t->pool, "%s and others", names);
    return lh_pool_format(t->pool, "%s%s%s", names, *names ? ", " : "", name);
}

static void remark_runtimes(struct taking *t)
{
    static const struct {
        unsigned bit;
        const char *what;
    } runtimes[] = {
        { LH_ELFFILE_GO, "the locks of Go (sync.Mutex, channels)" },
        { LH_ELFFILE_RUST, "the locks of Rust's library (std::sync)" },
        { LH_ELFFILE_QT,
          "the locks of Qt (QMutex, QReadWriteLock, QSemaphore)" },
        { LH_ELFFILE_JAVA,
          "the locks of Java (monitors, java.util.concurrent)" },
        { LH_ELFFILE_DOTNET, "the locks of .NET (Monitor)" },
    };
    for (size_t r = 0; r < sizeof runtimes / sizeof *runtimes; r++) {
        const char *names = "";
        size_t n = 0;
        for (size_t i = 0; i < t->survey->nfiles; i++)
            if (t->files[i].runtimes & runtimes[r].bit)
                names = add_name(t, names, &n, t->survey->files[i].name);
        if (n)
            remark(
                t, false,
                lh_pool_format(t->pool, "%s, in %s", runtimes[r].what, names));
    }
}

/* The program comes before the preload in the search for a name. */
static void remark_program(struct taking *t)
{
    const struct lh_elffile *f = &t->files[0];
    const char *name = t->survey->files[0].name;
    if (f->exports)
        remark(t, false,
               lh_pool_format(t->pool, "any call of %s: %s defines it itself",
                              call_names(t->pool, f->exports), name));
    if (f->has_free)
        remark(t, false,
               lh_pool_format(t->pool,
                              "when memory with locks in it is freed: %s "
                              "defines malloc and free itself",
                              name));
}

/* Definitions that a file keeps to itself, or prefers. */
static void remark_own(struct taking *t, size_t i)
{
    const struct lh_elffile *f = &t->files[i];
    uint64_t bound = f->is_symbolic ? f->own : f->own & ~f->exports;
    if (i == 0)
        bound = f->own & ~f->exports;
    if (bound && !f->is_libc && !f->is_loader)
        remark(t, false,
               lh_pool_format(t->pool, "calls of %s in %s, which go to its own",
                              call_names(t->pool, bound),
                              t->survey->files[i].name));
}

static void remark_libraries(struct taking *t)
{
    const char *names = "";
    size_t n = 0;
    for (size_t i = 1; i < t->survey->nfiles; i++) {
        const struct lh_elffile *f = &t->files[i];
        if (f->has_malloc && f->has_free && !f->is_libc && !f->is_loader)
            names = add_name(t, names, &n, t->survey->files[i].name);
    }
    if (n)
        remark(
            t, true,
            lh_pool_format(t->pool, "locks inside the allocator of %s", names));
    for (size_t i = 1; i < t->survey->nfiles; i++)
        if (t->files[i].is_libc)
            remark(t, true,
                   lh_pool_format(t->pool,
                                  "locks inside the C library (malloc, stdio "
                                  "without flockfile, ...), in %s",
                                  t->survey->files[i].name));
}

struct lh_survey lh_survey_take(struct lh_pool *pool, const char *program,
                                const char *preload)
{
    struct lh_survey s = { 0 };
    size_t n;
    const char **paths = lh_closure_list(pool, program, &n);
    struct lh_elffile *files = lh_pool_array(pool, n, sizeof *files);
    struct taking t = { pool, &s, files,
                        lh_elffile_read(pool, preload).exports };
    s.files = lh_pool_array(pool, n, sizeof *s.files);
    for (size_t i = 0; i < n; i++) {
        struct lh_elffile f = lh_elffile_read(pool, paths[i]);
        if (!f.is_elf || strcmp(f.soname, "liblockhound.so") == 0)
            continue;
        uint64_t hidden = files[0].exports;
        if (s.nfiles == 0)
            hidden = f.exports;
        files[s.nfiles] = f;
        s.files[s.nfiles++] = (struct lh_survey_file){
            .name = lh_place_base(paths[i]),
            .seen = f.calls & t.hooked & ~hidden,
            .unseen = f.calls & ~(t.hooked & ~hidden),
        };
    }
    if (!s.nfiles)
        return s;
    remark_runtimes(&t);
    remark_program(&t);
    for (size_t i = 0; i < s.nfiles; i++)
        remark_own(&t, i);
    remark_libraries(&t);
    return s;
}
