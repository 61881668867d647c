/* SPDX-License-Identifier: MIT
 *
 * fields.h - the keys of one JSON object, read strictly.
 *
 * The first key that is missing or has the wrong type is kept in `bad`; what
 * was read then does not matter, so callers look once, at the end.
 */
#ifndef LH_TOOLS_FIELDS_H
#define LH_TOOLS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "jsonline.h"
#include "model.h"

struct lh_fields {
    struct lh_model_process *process; /* strings are copied to its pool */
    const struct lh_jsonline_value *object;
    const char *bad; /* the key, or NULL */
};

/* For an object inside of r's; the caller takes its `bad` back. */
struct lh_fields lh_fields_inner(struct lh_fields *r,
                                 const struct lh_jsonline_value *object);

/* NULL when absent, which is bad if it is needed. */
const struct lh_jsonline_value *lh_fields_get(struct lh_fields *r,
                                              const char *key, bool needed);
const struct lh_jsonline_value *lh_fields_array(struct lh_fields *r,
                                                const char *key, bool needed);

/* Not negative; an id is 1 and up. Absent optional ones are 0. */
uint64_t lh_fields_number(struct lh_fields *r, const char *key);
uint64_t lh_fields_optional_number(struct lh_fields *r, const char *key);
uint64_t lh_fields_id(struct lh_fields *r, const char *key);

/* Absent ones are "". A borrowed string lives as long as the object. */
const char *lh_fields_text(struct lh_fields *r, const char *key);
const char *lh_fields_optional_text(struct lh_fields *r, const char *key);
const char *lh_fields_borrow(struct lh_fields *r, const char *key, bool needed);

bool lh_fields_optional_true(struct lh_fields *r, const char *key);

/* Index of the word in a list that NULL ends; -1 if it is none of them. */
int lh_fields_word(struct lh_fields *r, const char *key,
                   const char *const *words);

/* The values of lockhound-records(5). */
uint64_t lh_fields_address(struct lh_fields *r, const char *key);
bool lh_fields_shared(struct lh_fields *r, const char *key);
enum lh_model_wait lh_fields_wait(struct lh_fields *r);
struct lh_model_frame lh_fields_frame(struct lh_fields *r, const char *key,
                                      const struct lh_jsonline_value *value);
bool lh_fields_optional_frame(struct lh_fields *r, const char *key,
                              struct lh_model_frame *frame);

#endif
