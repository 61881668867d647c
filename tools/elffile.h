/* SPDX-License-Identifier: MIT
 *
 * elffile.h - what an ELF file says about itself and the locks it takes.
 */
#ifndef LH_TOOLS_ELFFILE_H
#define LH_TOOLS_ELFFILE_H

#include <stdbool.h>
#include <stdint.h>

struct lh_pool;

/* Runtimes whose locks are their own: bits. */
enum lh_elffile_runtime {
    LH_ELFFILE_GO = 1,
    LH_ELFFILE_RUST = 2,
    LH_ELFFILE_QT = 4,
    LH_ELFFILE_JAVA = 8,
    LH_ELFFILE_DOTNET = 16,
};

struct lh_elffile {
    bool is_elf, same_machine, has_interpreter, is_loader, is_libc, is_musl;
    bool is_executable;          /* as opposed to a library */
    bool wants_asan, wants_tsan; /* by a shared runtime */
    bool has_asan, has_tsan;     /* linked in */
    bool is_symbolic;            /* calls what it defines: -Bsymbolic */
    bool has_malloc, has_free;   /* defined and seen by others */
    int bits;
    unsigned runtimes;       /* enum lh_elffile_runtime */
    const char *interpreter; /* the loader; "" if it has none */
    const char *soname;      /* "" if it has none */
    uint64_t calls;   /* bits of lockcalls.h: what others define for it */
    uint64_t exports; /* what it defines for all */
    uint64_t own;     /* what it defines, for itself at least */
};

/* A file that is none has is_elf false. */
struct lh_elffile lh_elffile_read(struct lh_pool *pool, const char *path);

#endif
