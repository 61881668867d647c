/* SPDX-License-Identifier: MIT
 * holds.c - what the threads of a watched process hold. */
#include "holds.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "core/published.h"
#include "place.h"

enum {
    MOST_THREADS = 1 << 20, /* what is read may be torn: no walk is endless */
    MOST_SLOTS = 1 << 16,
};

/* The value of a dynamic symbol; 0 if the file has none. */
static uint64_t symbol_in(Elf *elf, const char *name)
{
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(s, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (found && strcmp(found, name) == 0)
                return symbol.st_value;
        }
    }
    return 0;
}

static uint64_t symbol_of(const char *path, const char *name)
{
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    uint64_t value = elf ? symbol_in(elf, name) : 0;
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return value;
}

static bool find_published(const struct lh_outside *o, struct lh_published *p)
{
    for (size_t i = 0; i < o->nranges; i++) {
        const struct lh_outside_range *r = &o->ranges[i];
        if (r->offset != 0 ||
            strcmp(lh_place_base(r->path), "liblockhound.so") != 0)
            continue;
        uint64_t value = symbol_of(r->path, "lockhound_published");
        return value && lh_outside_read(o, r->start + value, p, sizeof *p) &&
               strcmp(p->magic, LH_PUBLISHED_MAGIC) == 0 &&
               p->version == LH_PUBLISHED_VERSION && p->first &&
               p->slot_bytes && p->chunk_nslots;
    }
    return false;
}

/* Whether the slot's lock is held; one that is waited for goes to *wants. */
static bool read_slot(const struct lh_outside *o, const struct lh_published *p,
                      uint64_t slot, struct lh_outside_hold *h, uint64_t *wants)
{
    uint16_t how;
    uint8_t state;
    if (!lh_outside_u64(o, slot + p->slot_lock, &h->lock) ||
        !lh_outside_u64(o, slot + p->slot_pc, &h->pc) ||
        !lh_outside_read(o, slot + p->slot_how, &how, sizeof how) ||
        !lh_outside_read(o, slot + p->slot_state, &state, sizeof state))
        return false;
    h->shared = how & 1;
    h->kind = how >> p->how_kind_shift & p->how_kind_mask;
    h->by_owner = state == p->state_takes;
    if (state != p->state_holds &&
        (how >> p->how_wait_shift & p->how_wait_mask) == p->how_wait_block)
        *wants = h->lock;
    return state == p->state_holds || state == p->state_takes;
}

/* A mutex that is being taken is held if its owner word says so. */
static bool is_held(const struct lh_outside *o,
                    const struct lh_outside_thread *t,
                    const struct lh_outside_hold *h)
{
    uint32_t owner;
    return !h->by_owner ||
           (lh_outside_u32(o, h->lock + 8, &owner) && owner == t->tid);
}

static void add(const struct lh_outside *o, struct lh_outside_thread *t,
                const struct lh_outside_hold *h)
{
    struct lh_outside_hold *more =
        lh_pool_array(o->pool, t->nholds + 1, sizeof *more);
    if (t->nholds)
        memcpy(more, t->holds, t->nholds * sizeof *more);
    more[t->nholds++] = *h;
    t->holds = more;
}

static void read_thread(const struct lh_outside *o,
                        const struct lh_published *p, uint64_t thread,
                        struct lh_outside_thread *t)
{
    uint64_t chunk, top;
    uint32_t joins = 0;
    size_t n = 0;
    t->joins = lh_outside_u32(o, thread + p->thread_joins, &joins) && joins;
    if (!lh_outside_u64(o, thread + p->thread_chunk, &chunk) ||
        !lh_outside_u64(o, thread + p->thread_top, &top))
        return;
    while (chunk && n < MOST_SLOTS) {
        uint64_t slot = chunk + p->chunk_slots;
        for (unsigned i = 1; i < p->chunk_nslots; i++, n++) {
            struct lh_outside_hold h;
            slot += p->slot_bytes;
            if (slot == top)
                return;
            t->wants = 0; /* the newest slot counts */
            if (read_slot(o, p, slot, &h, &t->wants) && is_held(o, t, &h))
                add(o, t, &h);
        }
        if (slot + p->slot_bytes == top ||
            !lh_outside_u64(o, chunk + p->chunk_above, &chunk))
            return;
    }
}

void lh_holds_read(struct lh_outside *o)
{
    struct lh_published p;
    uint64_t thread;
    if (!find_published(o, &p) || p.pid != o->pid ||
        !lh_outside_u64(o, p.first, &thread))
        return;
    for (size_t n = 0; thread && n < MOST_THREADS; n++) {
        uint32_t tid;
        if (!lh_outside_u32(o, thread + p.thread_tid, &tid))
            return;
        for (size_t i = 0; i < o->nthreads; i++)
            if (o->threads[i].tid == tid)
                read_thread(o, &p, thread, &o->threads[i]);
        if (!lh_outside_u64(o, thread + p.thread_next, &thread))
            return;
    }
}
