/* SPDX-License-Identifier: MIT
 *
 * fmt.h - building text in a growing buffer, without stdio or locale.
 *
 * A buffer that could not grow is marked failed and takes nothing more; what
 * uses it drops the whole record and says so.
 *
 * Memory:   by arena.h; lh_fmt_free() returns it.
 * Threads:  a buffer belongs to one thread.
 */
#ifndef LH_RUNTIME_FMT_H
#define LH_RUNTIME_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_fmt {
    char *text;
    size_t length;
    size_t capacity;
    bool failed;
};

void lh_fmt_reset(struct lh_fmt *f);
void lh_fmt_free(struct lh_fmt *f);
void lh_fmt_bytes(struct lh_fmt *f, const char *bytes, size_t n);
void lh_fmt_text(struct lh_fmt *f, const char *text);
void lh_fmt_unsigned(struct lh_fmt *f, uint64_t value);
void lh_fmt_signed(struct lh_fmt *f, int64_t value);
void lh_fmt_hex(struct lh_fmt *f, uint64_t value); /* 0x... */

/* JSON: a string in quotes. Bytes that are not UTF-8 are taken as Latin-1. */
void lh_fmt_string(struct lh_fmt *f, const char *text);

/* JSON members, each with the comma before it. */
void lh_fmt_key_unsigned(struct lh_fmt *f, const char *key, uint64_t value);
void lh_fmt_key_hex(struct lh_fmt *f, const char *key, uint64_t value);
void lh_fmt_key_string(struct lh_fmt *f, const char *key, const char *value);

/* A number from decimal text; false unless it is digits only and fits. */
bool lh_fmt_parse_unsigned(const char *text, size_t n, uint64_t *value);

#endif
