/* SPDX-License-Identifier: MIT
 *
 * demangle.h - C++ names as people write them.
 *
 * The demangler is libstdc++'s, loaded when it is first needed; where it is
 * not installed the names stay mangled.
 */
#ifndef LH_TOOLS_DEMANGLE_H
#define LH_TOOLS_DEMANGLE_H

struct lh_pool;

/* The whole name, "bank::move(account&, int)"; any other name is copied. */
char *lh_demangle_full(struct lh_pool *pool, const char *name);

/* The same without parameters and return type, "bank::move", and with long
 * template arguments cut to "<...>". */
char *lh_demangle_brief(struct lh_pool *pool, const char *name);

/* A name that is not mangled with long template arguments cut likewise. */
char *lh_demangle_shorten(struct lh_pool *pool, const char *name);

/* What a lambda is called that was written in a function: "lambda in main". */
char *lh_demangle_lambda(struct lh_pool *pool, const char *function);

#endif
