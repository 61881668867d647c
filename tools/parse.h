/* SPDX-License-Identifier: MIT
 *
 * parse.h - one line of a record file into the model.
 */
#ifndef LH_TOOLS_PARSE_H
#define LH_TOOLS_PARSE_H

#include <stddef.h>

struct lh_jsonline;
struct lh_model_process;

/* The version of lockhound-records(5) that we read. */
enum { LH_PARSE_VERSION = 1 };

/*
 * Returns 0, having stored the record or ignored one of an unknown type; or
 *   EINVAL      the line is no JSON object, or a key is missing or has a wrong
 *               type; *why says which, in a few words
 *   EPROTO      it is the first record and does not begin a record file
 *   ENOTSUP     it is the first record, of a version that we do not know
 * Nothing is stored in these cases. json is the caller's memory for lines.
 */
int lh_parse_line(struct lh_model_process *p, struct lh_jsonline *json,
                  const char *line, size_t n, const char **why);

#endif
