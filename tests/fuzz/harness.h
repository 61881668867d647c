/* SPDX-License-Identifier: MIT
 *
 * harness.h - what the harness of each reader shares.
 *
 * A harness is fuzz_READER.c: it hands bytes to one reader of ours, and to what
 * the commands do with what was read. It is linked with libFuzzer (make fuzz),
 * or with main.c, which feeds files to it.
 */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* The harness: called once an input. Where a command would end with status 2
 * and its message, the call ends and what was allocated in it is given back. */
void fuzz_one(const uint8_t *data, size_t n);

/* If the harness has it: called before the first input. */
void fuzz_begin(void) __attribute__((weak));

/* Likewise: the file that is read in place of the one of this path. */
const char *fuzz_instead_of(const char *path) __attribute__((weak));

enum { FUZZ_FILES = 16 };

/* The name of a file in memory, by number. It keeps its name. */
const char *fuzz_path(size_t number);
/* The same, after it got these bytes in place of what it had. */
const char *fuzz_file(size_t number, const void *data, size_t n);

/* For a table of arguments, which their reader does not change. */
char *fuzz_word(const char *word);

/* Says what does not hold and aborts, so that the input is kept. */
void fuzz_expect(int holds, const char *what);

/* What libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
