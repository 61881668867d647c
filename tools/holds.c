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
    MOST_THREADS = 1 << 20,
    MOST_SLOTS = 1 << 18, /* of all threads */
    HOW_BITS = 16,
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
               p->slot_bytes && p->chunk_nslots &&
               p->how_kind_shift < HOW_BITS && p->how_wait_shift < HOW_BITS;
    }
    return false;
}

/* False if it cannot be read. *held: whether its lock is; one that is waited
 * for goes to *wants. */
static bool read_slot(const struct lh_outside *o, const struct lh_published *p,
                      uint64_t slot, struct lh_outside_hold *h, bool *held,
                      uint64_t *wants)
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
    *held = state == p->state_holds || state == p->state_takes;
    *wants = state != p->state_holds && (how >> p->how_wait_shift &
                                         p->how_wait_mask) == p->how_wait_block
                 ? h->lock
                 : 0;
    return true;
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

/* Its room doubles: there is some for the next power of two. */
static void add(const struct lh_outside *o, struct lh_outside_thread *t,
                const struct lh_outside_hold *h)
{
    size_t n = t->nholds;
    if ((n & (n - 1)) == 0) {
        struct lh_outside_hold *more =
            lh_pool_array(o->pool, n ? n * 2 : 1, sizeof *more);
        if (n)
            memcpy(more, t->holds, n * sizeof *more);
        t->holds = more;
    }
    t->holds[t->nholds++] = *h;
}

/* What is left of a walk: what is read may be torn or damaged, and no walk is
 * endless. */
enum progress { MORE, AT_TOP, LOST };

/* *wants is what the slot that was read last waits for. */
static enum progress read_chunk(const struct lh_outside *o,
                                const struct lh_published *p, uint64_t chunk,
                                uint64_t top, struct lh_outside_thread *t,
                                uint64_t *wants, size_t *slots_left)
{
    uint64_t slot = chunk + p->chunk_slots;
    for (unsigned i = 1; i < p->chunk_nslots; i++) {
        struct lh_outside_hold h;
        bool held;
        slot += p->slot_bytes;
        if (slot == top)
            return AT_TOP;
        if (!*slots_left || !read_slot(o, p, slot, &h, &held, wants))
            return LOST;
        --*slots_left;
        if (held && is_held(o, t, &h))
            add(o, t, &h);
    }
    return slot + p->slot_bytes == top ? AT_TOP : MORE;
}

/* A list that comes back to where it was at a power of two is a circle. What
 * the thread waits for is the newest slot's, if that was found. */
static void read_thread(const struct lh_outside *o,
                        const struct lh_published *p, uint64_t thread,
                        struct lh_outside_thread *t, size_t *slots_left)
{
    uint64_t chunk, top, wants = 0, seen = 0;
    uint32_t joins = 0;
    enum progress progress = MORE;
    t->joins = lh_outside_u32(o, thread + p->thread_joins, &joins) && joins;
    if (!lh_outside_u64(o, thread + p->thread_chunk, &chunk) ||
        !lh_outside_u64(o, thread + p->thread_top, &top))
        return;
    for (size_t n = 0; progress == MORE && chunk && chunk != seen; n++) {
        if ((n & (n - 1)) == 0)
            seen = chunk;
        progress = read_chunk(o, p, chunk, top, t, &wants, slots_left);
        if (progress == MORE &&
            !lh_outside_u64(o, chunk + p->chunk_above, &chunk))
            progress = LOST;
    }
    t->wants = progress == AT_TOP ? wants : 0;
}

void lh_holds_read(struct lh_outside *o)
{
    struct lh_published p;
    uint64_t thread, seen = 0;
    size_t slots_left = MOST_SLOTS;
    if (!find_published(o, &p) || p.pid != o->pid ||
        !lh_outside_u64(o, p.first, &thread))
        return;
    for (size_t n = 0; thread && thread != seen && n < MOST_THREADS; n++) {
        uint32_t tid;
        if ((n & (n - 1)) == 0)
            seen = thread;
        if (!lh_outside_u32(o, thread + p.thread_tid, &tid))
            return;
        for (size_t i = 0; i < o->nthreads; i++)
            if (o->threads[i].tid == tid)
                read_thread(o, &p, thread, &o->threads[i], &slots_left);
        if (!lh_outside_u64(o, thread + p.thread_next, &thread))
            return;
    }
}
