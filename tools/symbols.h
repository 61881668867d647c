/* SPDX-License-Identifier: MIT
 *
 * symbols.h - from module and offset to function, file and line (libdw).
 *
 * Modules are opened when something in them is first asked for. A file whose
 * build id is not the recorded one is not used; its debug file, found by build
 * id (with debuginfod where that is set up), is.
 *
 * Memory:   results belong to the struct lh_symbols and live as long.
 */
#ifndef LH_TOOLS_SYMBOLS_H
#define LH_TOOLS_SYMBOLS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_symbols;
struct lh_symbols_module;
struct lh_model_module;
struct Dwfl_Module;

struct lh_symbols_place {
    const char *function; /* as people write it; "" if not known */
    const char *file;     /* "" if not known */
    const char *built_in; /* folder of the compilation; "" if not known */
    int line;             /* 0 if not known */
    bool inlined;         /* into the next place */
};

struct lh_symbols *lh_symbols_new(void);
void lh_symbols_free(struct lh_symbols *s);

/* The module with this path and build id. When its file cannot be used that is
 * said on stderr, once. Never NULL. */
struct lh_symbols_module *lh_symbols_open(struct lh_symbols *s,
                                          const struct lh_model_module *m);

/* Whether a file that was asked about could not be used so far. */
bool lh_symbols_miss_a_file(const struct lh_symbols *s);

/*
 * The places at an offset: the function that the instruction is inlined from
 * first, the one that the others are inlined into last.
 *
 * is_call  the offset is a return address: the call is before it
 * n        receives their number; 0 if nothing is known
 */
const struct lh_symbols_place *lh_symbols_code(struct lh_symbols_module *m,
                                               uint64_t offset, bool is_call,
                                               size_t *n);

struct lh_symbols_data {
    const char *name;     /* "conn[1].meta", "fork_+40"; "" if not known */
    const char *function; /* that the variable is local to, or "" */
    const char *file, *built_in;
    int line; /* of the declaration; 0 if not known */
};

/* The scopes of DWARF around a call, innermost first. */
struct lh_symbols_scopes {
    Dwarf_Die *list; /* of the struct lh_symbols */
    int n;
    int first, last; /* those of one function, which is the last */
    Dwarf_Addr back; /* the return address, in the DWARF's own addresses */
};

/* offset is a return address; level says which of the functions that
 * lh_symbols_code() has for it is meant. False if it is not known. */
bool lh_symbols_scopes(struct lh_symbols_module *m, uint64_t offset,
                       size_t level, struct lh_symbols_scopes *scopes);

/* The variable at an offset. */
struct lh_symbols_data lh_symbols_data(struct lh_symbols_module *m,
                                       uint64_t offset);

#endif
