/* SPDX-License-Identifier: MIT
 * modules.c - which loaded file an address belongs to. */
#include "runtime/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "runtime/arena.h"
#include "runtime/sys.h"

static struct lh_module **modules; /* [0] is module 1 */
static size_t nmodules, capacity;
static uint32_t last; /* the one found last */
static char executable[4096];

void lh_modules_init(void)
{
    long n =
        lh_sys_readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[n > 0 ? n : 0] = '\0';
}

const char *lh_modules_executable(void)
{
    return executable;
}

bool lh_module_holds(uintptr_t address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)address, &found) == 0;
}

/* The GNU build id, from the notes that are mapped with the module. */
static void read_build_id(struct lh_module *m)
{
    const ElfW(Ehdr) *ehdr = (const void *)m->low;
    const ElfW(Phdr) * phdr;

    if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0 ||
        ehdr->e_phoff + ehdr->e_phnum * sizeof *phdr > 4096)
        return;
    phdr = (const void *)(m->low + ehdr->e_phoff);
    for (size_t i = 0; i < ehdr->e_phnum; i++) {
        uintptr_t at = m->base + phdr[i].p_vaddr;
        uintptr_t end = at + phdr[i].p_memsz;

        if (phdr[i].p_type != PT_NOTE || at < m->low || end > m->high)
            continue;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = (const char *)(note + 1);
            const char *desc = name + ((note->n_namesz + 3) & ~3u);

            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0 &&
                note->n_descsz <= sizeof m->build_id) {
                memcpy(m->build_id, desc, note->n_descsz);
                m->build_id_size = (uint8_t)note->n_descsz;
                return;
            }
            at = (uintptr_t)desc + ((note->n_descsz + 3) & ~3u);
        }
    }
}

static uint32_t add(const struct dl_find_object *found)
{
    const struct link_map *map = found->dlfo_link_map;
    const char *path = *map->l_name ? map->l_name : executable;
    void *array = modules;
    struct lh_module *m =
        lh_arena_resize(NULL, NULL, 0, sizeof *m + strlen(path) + 1);

    if (!m || lh_arena_reserve(&array, &capacity, sizeof(struct lh_module *),
                               nmodules + 1))
        return 0;
    modules = array;
    m->low = (uintptr_t)found->dlfo_map_start;
    m->high = (uintptr_t)found->dlfo_map_end;
    m->base = map->l_addr;
    m->path = memcpy((char *)(m + 1), path, strlen(path) + 1);
    read_build_id(m);
    modules[nmodules++] = m;
    return (uint32_t)nmodules;
}

static bool is_same(const struct lh_module *m,
                    const struct dl_find_object *found)
{
    const char *name = found->dlfo_link_map->l_name;

    return !m->gone && m->low == (uintptr_t)found->dlfo_map_start &&
           m->high == (uintptr_t)found->dlfo_map_end &&
           strcmp(m->path, *name ? name : executable) == 0;
}

uint32_t lh_module_find(uintptr_t address)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)address, &found) != 0)
        return 0;
    if (last && is_same(modules[last - 1], &found))
        return last;
    for (size_t i = nmodules; i > 0; i--)
        if (is_same(modules[i - 1], &found))
            return last = (uint32_t)i;
    return last = add(&found);
}

static bool is_loaded(const struct lh_module *m)
{
    struct dl_find_object found;

    return _dl_find_object((void *)m->low, &found) == 0 && is_same(m, &found);
}

bool lh_modules_drop_unloaded(void)
{
    bool any = false;

    for (size_t i = 0; i < nmodules; i++) {
        if (modules[i]->gone || is_loaded(modules[i]))
            continue;
        modules[i]->gone = any = true;
    }
    if (any)
        last = 0;
    return any;
}

const struct lh_module *lh_module_take_gone(void)
{
    for (size_t i = 0; i < nmodules; i++) {
        if (!modules[i]->gone || modules[i]->ended)
            continue;
        modules[i]->ended = true;
        return modules[i];
    }
    return NULL;
}

uintptr_t lh_module_base(uint32_t module)
{
    return module ? modules[module - 1]->base : 0;
}

struct lh_module *lh_module_get(uint32_t module)
{
    return modules[module - 1];
}

void lh_modules_after_fork(void)
{
    for (size_t i = 0; i < nmodules; i++)
        modules[i]->recorded = false;
}
