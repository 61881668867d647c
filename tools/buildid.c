/* SPDX-License-Identifier: MIT
 * buildid.c - which build of a file a process has mapped, out of its memory. */
#include "buildid.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "outside.h"
#include "pool.h"

enum { MAX_NOTES_BYTES = 4096, MAX_ID_BYTES = 64, MAX_SEGMENTS = 64 };

static uint64_t aligned(uint64_t n)
{
    return (n + 3) & ~(uint64_t)3;
}

/* The id in notes that lie one after the other, or "". */
static const char *id_in(const struct lh_outside *o, const unsigned char *notes,
                         uint64_t size)
{
    Elf64_Nhdr note;
    for (uint64_t at = 0; at + sizeof note <= size;) {
        memcpy(&note, notes + at, sizeof note);
        uint64_t name = at + sizeof note, id = name + aligned(note.n_namesz);
        if (id + note.n_descsz > size)
            return "";
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 &&
            note.n_descsz <= MAX_ID_BYTES) {
            const char *text = "";
            for (uint64_t i = 0; i < note.n_descsz; i++)
                text = lh_pool_format(o->pool, "%s%02x", text, notes[id + i]);
            return text;
        }
        at = id + aligned(note.n_descsz);
    }
    return "";
}

const char *lh_buildid_mapped(const struct lh_outside *o, uint64_t base)
{
    Elf64_Ehdr header;
    unsigned char notes[MAX_NOTES_BYTES];
    if (!lh_outside_read(o, base, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return "";
    for (unsigned i = 0; i < header.e_phnum && i < MAX_SEGMENTS; i++) {
        Elf64_Phdr p;
        if (!lh_outside_read(o, base + header.e_phoff + i * sizeof p, &p,
                             sizeof p))
            return "";
        if (p.p_type != PT_NOTE || p.p_filesz > sizeof notes ||
            !lh_outside_read(o, base + p.p_offset, notes, p.p_filesz))
            continue;
        const char *id = id_in(o, notes, p.p_filesz);
        if (*id)
            return id;
    }
    return "";
}
