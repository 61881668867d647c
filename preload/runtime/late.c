/* SPDX-License-Identifier: MIT
 * late.c - real functions of libraries that are loaded late. */
#include "runtime/late.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/sys.h"

/* The tables of a loaded file. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu, *sysv; /* hash tables; either may be NULL */
};

/* ld.so relocates these entries in place, but not where they are read-only. */
static const void *at(const struct link_map *file, const ElfW(Dyn) * d)
{
    uintptr_t p = d->d_un.d_ptr;

    return (const void *)(p < file->l_addr ? p + file->l_addr : p);
}

static struct tables tables_of(const struct link_map *file)
{
    struct tables t = { NULL, NULL, NULL, NULL };

    for (const ElfW(Dyn) *d = file->l_ld; d && d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_SYMTAB:
            t.symbols = at(file, d);
            break;
        case DT_STRTAB:
            t.names = at(file, d);
            break;
        case DT_GNU_HASH:
            t.gnu = at(file, d);
            break;
        case DT_HASH:
            t.sysv = at(file, d);
            break;
        }
    return t;
}

/* What an indirect function leads to is not known before it is asked. */
static bool is_it(const struct tables *t, uint32_t i, const char *name)
{
    const ElfW(Sym) *sym = &t->symbols[i];

    return (sym->st_info & 15) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
           strcmp(t->names + sym->st_name, name) == 0;
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t h = 5381;

    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

/* The table: nbuckets, first symbol, bloom words, a shift; the bloom filter,
 * the buckets, and the chains, whose last hash has its lowest bit set. */
static uint32_t find_gnu(const struct tables *t, const char *name)
{
    uint32_t nbuckets = t->gnu[0], first = t->gnu[1], h = gnu_hash(name);
    const uint32_t *buckets =
        t->gnu + 4 + t->gnu[2] * (sizeof(ElfW(Addr)) / sizeof *buckets);
    const uint32_t *chains = buckets + nbuckets;
    uint32_t i = nbuckets ? buckets[h % nbuckets] : 0;

    for (; i >= first && i != 0; i++) {
        if ((chains[i - first] | 1) == (h | 1) && is_it(t, i, name))
            return i;
        if (chains[i - first] & 1)
            break;
    }
    return 0;
}

/* Rare, so all symbols are looked at: the second word is their number. */
static uint32_t find_sysv(const struct tables *t, const char *name)
{
    for (uint32_t i = 1; i < t->sysv[1]; i++)
        if (is_it(t, i, name))
            return i;
    return 0;
}

static void *symbol_in(const struct link_map *file, const char *name)
{
    struct tables t = tables_of(file);
    uint32_t i = 0;

    if (!t.symbols || !t.names)
        return NULL;
    if (t.gnu)
        i = find_gnu(&t, name);
    else if (t.sysv)
        i = find_sysv(&t, name);
    return i ? (void *)(file->l_addr + t.symbols[i].st_value) : NULL;
}

static const struct link_map *loaded_at(const void *address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)address, &found) == 0 ? found.dlfo_link_map
                                                         : NULL;
}

static const struct link_map *ours(void)
{
    return loaded_at((const void *)(uintptr_t)lh_late_symbol);
}

/* The loaded file at an address, unless it is this library. A file that is
 * merely mapped, to be read, is none. */
static const struct link_map *file_at(const void *address)
{
    const struct link_map *file = loaded_at(address);

    return file != ours() ? file : NULL;
}

/* Reads the kernel's list, a mapping a line: "7f00-7f10 r--p ... /path". */
struct reader {
    const char *library, *symbol;
    uintptr_t address;
    bool in_address;
    const char *rest; /* of library, to be matched; NULL: another name */
    const struct link_map *last;
    void *found;
};

static void begin_line(struct reader *r)
{
    r->address = 0;
    r->in_address = true;
    r->rest = NULL;
}

static void end_line(struct reader *r)
{
    const struct link_map *file = NULL;

    if (r->rest && !*r->rest)
        file = file_at((const void *)r->address);
    if (file && file != r->last) {
        r->last = file; /* one file has several lines */
        r->found = symbol_in(file, r->symbol);
    }
    begin_line(r);
}

static void read_byte(struct reader *r, char c)
{
    if (c == '\n')
        end_line(r);
    else if (r->in_address && c == '-')
        r->in_address = false;
    else if (r->in_address)
        r->address =
            r->address << 4 | (uintptr_t)((c & 15) + (c > '9' ? 9 : 0));
    else if (c == '/')
        r->rest = r->library;
    else if (r->rest && *r->rest)
        r->rest = *r->rest == c ? r->rest + 1 : NULL;
}

/* False if the list cannot be read. */
static bool read_maps(struct reader *r)
{
    char buffer[256];
    long n = 0;
    long fd = lh_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return false;
    begin_line(r);
    while (
        !r->found &&
        ((n = lh_sys_read((int)fd, buffer, sizeof buffer)) > 0 || n == -EINTR))
        for (long i = 0; i < n && !r->found; i++)
            read_byte(r, buffer[i]);
    lh_sys_close((int)fd);
    return n >= 0;
}

static bool is_called(const struct link_map *file, const char *library)
{
    const char *name = strrchr(file->l_name, '/');

    name = name ? name + 1 : file->l_name;
    return strncmp(name, library, strlen(library)) == 0;
}

/* The loader's own list: another thread may be changing it. */
static void walk_list(struct reader *r)
{
    const struct link_map *file = ours(), *next;

    while (file && file->l_prev)
        file = file->l_prev;
    for (; file && !r->found; file = next) {
        next = file->l_next;
        if (is_called(file, r->library) && file_at(file->l_ld))
            r->found = symbol_in(file, r->symbol);
    }
}

/* Whoever asks for one symbol asks for more: where the last one was found.
 * Relaxed: it is looked at before it is believed. */
static _Atomic uintptr_t last_found;

static void *again(const char *library, const char *symbol)
{
    uintptr_t address = atomic_load_explicit(&last_found, memory_order_relaxed);
    const struct link_map *file = address ? file_at((void *)address) : NULL;

    return file && is_called(file, library) ? symbol_in(file, symbol) : NULL;
}

static void *search(const char *library, const char *symbol)
{
    struct reader r = { .library = library, .symbol = symbol };

    if (!read_maps(&r))
        walk_list(&r);
    return r.found;
}

void *lh_late_symbol(const char *library, const char *symbol)
{
    int saved_errno = errno;
    void *found = again(library, symbol);

    if (!found)
        found = search(library, symbol);
    if (!found)
        found = search("", symbol);
    if (found)
        atomic_store_explicit(&last_found, (uintptr_t)found,
                              memory_order_relaxed);
    errno = saved_errno;
    return found;
}
