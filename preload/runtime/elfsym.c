/* SPDX-License-Identifier: MIT
 * elfsym.c - the symbol at an address, from the file's own tables. */
#include "runtime/elfsym.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/sys.h"

struct image {
    const char *bytes;
    size_t size_bytes;
};

struct best {
    uint64_t value;
    const char *name; /* NULL: none yet */
};

static bool map_file(const char *path, struct image *image)
{
    struct stat st;
    void *p = NULL;
    long fd = lh_sys_open(path, O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return false;
    if (lh_sys_fstat((int)fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (size_t)st.st_size >= sizeof(ElfW(Ehdr)))
        p = lh_sys_map((size_t)st.st_size, (int)fd);
    lh_sys_close((int)fd);
    if (!p)
        return false;
    image->bytes = p;
    image->size_bytes = (size_t)st.st_size;
    return true;
}

/* n bytes at offset, or NULL if the file is too short for them. */
static const void *at(const struct image *image, uint64_t offset, uint64_t n)
{
    return offset <= image->size_bytes && n <= image->size_bytes - offset
               ? image->bytes + offset
               : NULL;
}

static const ElfW(Shdr) * section(const struct image *image, size_t i)
{
    const ElfW(Ehdr) *ehdr = (const void *)image->bytes;

    return i < ehdr->e_shnum ? at(image, ehdr->e_shoff + i * sizeof(ElfW(Shdr)),
                                  sizeof(ElfW(Shdr)))
                             : NULL;
}

static bool covers(const ElfW(Sym) * sym, uint64_t address)
{
    unsigned type = sym->st_info & 15;

    return (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) &&
           sym->st_shndx != SHN_UNDEF && address >= sym->st_value &&
           address < sym->st_value + (sym->st_size ? sym->st_size : 1);
}

static void search(const struct image *image, const ElfW(Shdr) * symbols,
                   uint64_t address, struct best *best)
{
    const ElfW(Shdr) *strings = section(image, symbols->sh_link);
    const ElfW(Sym) *sym = at(image, symbols->sh_offset, symbols->sh_size);
    const char *names;

    if (!strings || !sym)
        return;
    names = at(image, strings->sh_offset, strings->sh_size);
    if (!names || !strings->sh_size || names[strings->sh_size - 1])
        return;
    for (size_t n = symbols->sh_size / sizeof *sym; n > 0; n--, sym++) {
        if (!covers(sym, address) || sym->st_name >= strings->sh_size)
            continue;
        if (!best->name || sym->st_value > best->value) {
            best->value = sym->st_value;
            best->name = names + sym->st_name;
        }
    }
}

static bool is_elf(const struct image *image)
{
    const ElfW(Ehdr) *ehdr = (const void *)image->bytes;

    return memcmp(ehdr->e_ident, ELFMAG, SELFMAG) == 0 &&
           ehdr->e_ident[EI_CLASS] == ELFCLASS64 &&
           ehdr->e_shentsize == sizeof(ElfW(Shdr));
}

bool lh_elfsym_find(const char *path, uint64_t address, char *name,
                    size_t size_bytes, uint64_t *offset)
{
    struct best best = { 0, NULL };
    struct image image;
    const ElfW(Shdr) * s;

    if (!map_file(path, &image))
        return false;
    for (size_t i = 0; is_elf(&image) && (s = section(&image, i)); i++)
        if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM)
            search(&image, s, address, &best);
    if (best.name) {
        size_t n = strnlen(best.name, size_bytes - 1);
        memcpy(name, best.name, n);
        name[n] = '\0';
        *offset = address - best.value;
    }
    lh_sys_unmap((void *)image.bytes, image.size_bytes);
    return best.name != NULL;
}
