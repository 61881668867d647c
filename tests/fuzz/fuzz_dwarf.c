/* SPDX-License-Identifier: MIT
 * fuzz_dwarf.c - programs and libraries whose code and variables a report
 * names. What libdw and libelf make of the file is theirs. */
#include "harness.h"
#include "model.h"
#include "symbols.h"

/* libdw leaves a little where it meets damage. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdw.so";
}

enum { OFFSETS = 64, STEP = 16 };

/* What is in the file is somewhere near its start, code and data. */
static void name_all(struct lh_symbols_module *m, uint64_t from)
{
    size_t n;
    for (uint64_t i = 0; i < OFFSETS; i++) {
        lh_symbols_code(m, from + i * STEP, i % 2, &n);
        lh_symbols_data(m, from + i * STEP);
    }
}

void fuzz_one(const uint8_t *data, size_t n)
{
    static const uint64_t pages[] = { 0, 0x1000, 0x4000 };
    struct lh_symbols *symbols = lh_symbols_new();
    struct lh_model_module module = { .path = fuzz_file(0, data, n),
                                      .build_id = "" };
    struct lh_symbols_module *m = lh_symbols_open(symbols, &module);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        name_all(m, pages[i]);
    lh_symbols_free(symbols);
}
