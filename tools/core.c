/* SPDX-License-Identifier: MIT
 * core.c - a process out of a core file. */
#include "core.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libunwind-coredump.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "apart.h"
#include "diag.h"
#include "holds.h"
#include "walk.h"

struct segment {
    uint64_t start, bytes; /* bytes: as many as the file has */
    uint64_t offset;
};

struct core {
    const char *path;
    int fd;
    struct segment *segments;
    size_t nsegments;
    uint64_t entry; /* of the executable; 0: not known */
};

static Elf *open_elf(const char *path, int *fd)
{
    elf_version(EV_CURRENT);
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return NULL;
    Elf *elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
        header.e_type == ET_CORE)
        return elf;
    int error = errno;
    if (elf)
        elf_end(elf);
    close(*fd);
    errno = error ? error : ENOEXEC;
    return NULL;
}

/* From the core; what it left out, as text does not change, from the file that
 * was mapped there. */
static bool read_file(const char *path, uint64_t offset, void *buffer, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, buffer, n, (off_t)offset);
    close(fd);
    return got == (ssize_t)n;
}

static bool read_core(const struct lh_outside *o, uint64_t address,
                      void *buffer, size_t n)
{
    const struct core *c = o->source;
    for (size_t i = 0; i < c->nsegments; i++) {
        const struct segment *s = &c->segments[i];
        if (lh_outside_covers(s->start, s->bytes, address, n))
            return pread(c->fd, buffer, n,
                         (off_t)(s->offset + (address - s->start))) ==
                   (ssize_t)n;
    }
    for (size_t i = 0; i < o->nranges; i++) {
        const struct lh_outside_range *r = &o->ranges[i];
        if (*r->path && r->start < r->end &&
            lh_outside_covers(r->start, r->end - r->start, address, n))
            return read_file(r->path, r->offset + (address - r->start), buffer,
                             n);
    }
    return false;
}

static void add_thread(struct lh_outside *o, size_t *capacity,
                       const Elf_Data *data)
{
    struct elf_prstatus status;
    struct lh_outside_thread t = { .name = "" };
    if (data->d_size < sizeof status)
        return;
    memcpy(&status, data->d_buf, sizeof status);
    _Static_assert(sizeof t.registers == sizeof status.pr_reg,
                   "a core has the registers as ptrace has them");
    memcpy(&t.registers, &status.pr_reg, sizeof t.registers);
    t.tid = (uint32_t)status.pr_pid;
    t.has_registers = true;
    t.in_call = (int64_t)t.registers.orig_rax >= 0;
    t.call = (int64_t)t.registers.orig_rax;
    uint64_t args[] = { t.registers.rdi, t.registers.rsi, t.registers.rdx,
                        t.registers.r10, t.registers.r8,  t.registers.r9 };
    memcpy(t.args, args, sizeof t.args);
    t.sp = t.registers.rsp;
    o->threads =
        lh_pool_grow(o->threads, o->nthreads, capacity, sizeof *o->threads);
    o->threads[o->nthreads++] = t;
}

/* A word of a note, which may lie anywhere. */
static uint64_t word(const Elf_Data *data, size_t number)
{
    uint64_t value;
    memcpy(&value, (const char *)data->d_buf + number * sizeof value,
           sizeof value);
    return value;
}

/* NT_FILE: a count, the page size, (start, end, page offset) for each, and then
 * the names. A second list is damage. */
static void add_ranges(struct lh_outside *o, const Elf_Data *data)
{
    size_t nwords = data->d_size / sizeof(uint64_t);
    if (o->ranges || nwords < 2 || word(data, 0) > (nwords - 2) / 3)
        return;
    size_t n = word(data, 0);
    const char *name =
        (const char *)data->d_buf + (2 + 3 * n) * sizeof(uint64_t);
    const char *end = (const char *)data->d_buf + data->d_size;
    o->ranges = lh_pool_array(o->pool, n, sizeof *o->ranges);
    for (size_t i = 0; i < n && name < end; i++) {
        size_t at = 2 + 3 * i, length = strnlen(name, (size_t)(end - name));
        o->ranges[o->nranges++] =
            (struct lh_outside_range){ word(data, at), word(data, at + 1),
                                       word(data, at + 2) * word(data, 1),
                                       lh_pool_format(o->pool, "%.*s",
                                                      (int)length, name) };
        name += length + 1;
    }
}

static void read_process(struct lh_outside *o, const Elf_Data *data)
{
    struct elf_prpsinfo info;
    if (data->d_size < sizeof info)
        return;
    memcpy(&info, data->d_buf, sizeof info);
    o->pid = (uint32_t)info.pr_pid;
    o->exe = lh_pool_format(o->pool, "%.*s", (int)sizeof info.pr_fname,
                            info.pr_fname);
}

static void read_vector(struct core *c, const Elf_Data *data)
{
    for (size_t i = 0; i + 1 < data->d_size / sizeof(uint64_t); i += 2)
        if (word(data, i) == AT_ENTRY)
            c->entry = word(data, i + 1);
}

static void read_notes(struct lh_outside *o, Elf *elf, const GElf_Phdr *p,
                       size_t *capacity)
{
    Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)p->p_offset,
                                           p->p_filesz, ELF_T_NHDR);
    GElf_Nhdr note;
    size_t name, data;
    for (size_t at = 0;
         notes && (at = gelf_getnote(notes, at, &note, &name, &data)) > 0;) {
        Elf_Data d = { .d_buf = (char *)notes->d_buf + data,
                       .d_size = note.n_descsz };
        if (note.n_type == NT_PRSTATUS)
            add_thread(o, capacity, &d);
        else if (note.n_type == NT_FILE)
            add_ranges(o, &d);
        else if (note.n_type == NT_PRPSINFO)
            read_process(o, &d);
        else if (note.n_type == NT_AUXV)
            read_vector(o->source, &d);
    }
}

/* A list from the heap, once it has all its elements. */
static void *into_pool(struct lh_pool *pool, void *list, size_t n,
                       size_t size_bytes)
{
    void *copy = lh_pool_array(pool, n, size_bytes);
    if (n)
        memcpy(copy, list, n * size_bytes);
    free(list);
    return copy;
}

static void read_segments(struct lh_outside *o, Elf *elf)
{
    struct core *c = o->source;
    size_t n = 0, capacity = 0, nthreads_capacity = 0;
    struct segment *list = NULL;
    GElf_Phdr p;
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++) {
        if (!gelf_getphdr(elf, (int)i, &p))
            continue;
        if (p.p_type == PT_NOTE)
            read_notes(o, elf, &p, &nthreads_capacity);
        if (p.p_type != PT_LOAD || !p.p_filesz)
            continue;
        list = lh_pool_grow(list, c->nsegments, &capacity, sizeof *list);
        list[c->nsegments++] =
            (struct segment){ p.p_vaddr, p.p_filesz, p.p_offset };
    }
    c->segments = into_pool(o->pool, list, c->nsegments, sizeof *list);
    o->threads =
        into_pool(o->pool, o->threads, o->nthreads, sizeof *o->threads);
}

/* The executable's own ranges are those of the file with its entry point. */
static void place_executable(struct lh_outside *o, const char *exe)
{
    const struct core *c = o->source;
    uint64_t base;
    const struct lh_outside_range *r =
        c->entry ? lh_outside_range_at(o, c->entry, &base) : NULL;
    if (!r)
        return;
    const char *recorded = r->path;
    o->exe = exe ? exe : recorded;
    for (size_t i = 0; exe && i < o->nranges; i++)
        if (strcmp(o->ranges[i].path, recorded) == 0)
            o->ranges[i].path = exe;
}

/* ---- stacks: by libraries that trust what they read, so apart ---- */

/* What the child says of a thread, with so many frames behind it. */
struct told {
    size_t thread, nframes;
};

struct unwinding {
    struct lh_outside *o;
    Elf *elf;
};

static void tell(const struct lh_outside *o, size_t thread, FILE *out)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    struct told told = { thread, t->nframes };
    fwrite(&told, sizeof told, 1, out);
    if (t->nframes)
        fwrite(t->frames, sizeof *t->frames, t->nframes, out);
    fflush(out);
}

/* Takes what one thread has; how many bytes that were, or 0. */
static size_t hear(struct lh_outside *o, const char *bytes, size_t n)
{
    struct told told;
    if (n < sizeof told)
        return 0;
    memcpy(&told, bytes, sizeof told);
    if (told.thread >= o->nthreads ||
        told.nframes > (n - sizeof told) / sizeof *o->threads->frames)
        return 0;
    struct lh_outside_thread *t = &o->threads[told.thread];
    size_t size = told.nframes * sizeof *t->frames;
    t->frames = lh_pool_alloc(o->pool, size);
    memcpy(t->frames, bytes + sizeof told, size);
    t->nframes = told.nframes;
    return sizeof told + size;
}

/* Whether the library came to its end. */
static bool unwind_apart(struct unwinding *u, lh_apart_fn *fn)
{
    const char *bytes;
    size_t n, heard;
    bool ended = lh_apart(u->o->pool, fn, u, &bytes, &n);
    for (; (heard = hear(u->o, bytes, n)); bytes += heard)
        n -= heard;
    return ended;
}

static void unwind(void *ctx, FILE *out)
{
    const struct unwinding *u = ctx;
    struct lh_outside *o = u->o;
    const struct core *c = o->source;
    unw_addr_space_t as = unw_create_addr_space(&_UCD_accessors, 0);
    struct UCD_info *ucd = as ? _UCD_create(c->path) : NULL;
    for (size_t i = 0; ucd && i < o->nranges; i++)
        if (access(o->ranges[i].path, R_OK) == 0)
            (void)_UCD_add_backing_file_at_vaddr(ucd, o->ranges[i].start,
                                                 o->ranges[i].path);
    for (int i = 0; ucd && i < _UCD_get_num_threads(ucd); i++) {
        _UCD_select_thread(ucd, i);
        for (size_t j = 0; j < o->nthreads; j++) {
            if (o->threads[j].tid != (uint32_t)_UCD_get_pid(ucd))
                continue;
            lh_walk(&o->threads[j], as, ucd, o->pool);
            tell(o, j, out);
        }
    }
    if (ucd)
        _UCD_destroy(ucd);
    if (as)
        unw_destroy_addr_space(as);
}

/* ---- libdw's own unwinder, where libunwind has stopped early ---- */

struct walk {
    struct lh_outside_frame frames[LH_WALK_FRAMES];
    size_t n;
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
    struct walk *w = arg;
    Dwarf_Addr pc;
    bool is_exact;
    if (!dwfl_frame_pc(frame, &pc, &is_exact) || w->n == LH_WALK_FRAMES)
        return DWARF_CB_ABORT;
    w->frames[w->n++] = (struct lh_outside_frame){ pc, !is_exact };
    return DWARF_CB_OK;
}

static void walk_by_dwfl(struct lh_outside *o, Dwfl *dwfl, size_t thread,
                         FILE *out)
{
    struct walk w = { .n = 0 };
    struct lh_outside_thread *t = &o->threads[thread];
    (void)dwfl_getthread_frames(dwfl, (pid_t)t->tid, take_frame, &w);
    if (w.n <= t->nframes)
        return;
    t->frames = lh_pool_array(o->pool, w.n, sizeof *w.frames);
    memcpy(t->frames, w.frames, w.n * sizeof *w.frames);
    t->nframes = w.n;
    tell(o, thread, out);
}

static void unwind_by_dwfl(void *ctx, FILE *out)
{
    const struct unwinding *u = ctx;
    struct lh_outside *o = u->o;
    Elf *elf = u->elf;
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return;
    dwfl_report_begin(dwfl);
    int n = dwfl_core_file_report(dwfl, elf, *o->exe ? o->exe : NULL);
    dwfl_report_end(dwfl, NULL, NULL);
    if (n >= 0 && dwfl_core_file_attach(dwfl, elf) >= 0)
        for (size_t i = 0; i < o->nthreads; i++)
            walk_by_dwfl(o, dwfl, i, out);
    dwfl_end(dwfl);
}

/* The thread that died comes first in a core; people know the main one. */
static void sort_threads(struct lh_outside *o)
{
    for (size_t i = 1; i < o->nthreads; i++) {
        struct lh_outside_thread t = o->threads[i];
        size_t j = i;
        for (; j > 0 && o->threads[j - 1].tid > t.tid; j--)
            o->threads[j] = o->threads[j - 1];
        o->threads[j] = t;
    }
}

/* As in records: a file whose path is not absolute is none. */
static const char *whole_path(struct lh_pool *pool, const char *exe)
{
    char *path = realpath(exe, NULL);
    const char *copy = lh_pool_copy(pool, path ? path : exe);
    free(path);
    return copy;
}

/* Returns NULL, or why it cannot be. */
static const char *read_process_of(struct lh_outside *o, Elf *elf,
                                   const char *exe)
{
    const struct core *c = o->source;
    struct unwinding u = { o, elf };
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
        return "of another architecture (expected x86-64)";
    read_segments(o, elf);
    if (!o->nthreads)
        return "has no threads (expected a whole core file)";
    sort_threads(o);
    place_executable(o, exe);
    lh_holds_read(o);
    bool ended = unwind_apart(&u, unwind);
    ended &= unwind_apart(&u, unwind_by_dwfl);
    if (!ended)
        lh_diag_say("inspect: %s: its stacks cannot be read to their end "
                    "(expected a whole core file); what was read is shown",
                    c->path);
    return NULL;
}

void lh_core_open(struct lh_outside *o, struct lh_pool *pool, const char *path,
                  const char *exe)
{
    struct core *c = lh_pool_alloc(pool, sizeof *c);
    *o = (struct lh_outside){
        .pool = pool, .exe = "", .read = read_core, .source = c
    };
    c->path = path;
    if (exe && access(exe, R_OK) != 0)
        lh_diag_fail("inspect: %s: %s (expected the executable)", exe,
                     strerror(errno));
    Elf *elf = open_elf(path, &c->fd);
    if (!elf)
        lh_diag_fail("inspect: %s: %s (expected a process id or a core file)",
                     path, errno == ENOEXEC ? "no core file" : strerror(errno));
    const char *why =
        read_process_of(o, elf, exe ? whole_path(pool, exe) : NULL);
    elf_end(elf);
    if (why)
        lh_diag_fail("inspect: %s: %s", path, why);
}

void lh_core_close(struct lh_outside *o)
{
    const struct core *c = o->source;
    close(c->fd);
}
