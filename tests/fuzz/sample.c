/* SPDX-License-Identifier: MIT
 * sample.c - findings of every kind, to be judged by files that are fuzzed. */
#include "sample.h"

#include <string.h>

#include "harness.h"
#include "symbols.h"

enum { FILE_NUMBER = FUZZ_FILES - 1 };

__asm__(".pushsection .rodata\n"
        ".globl fuzz_sample_text\n"
        "fuzz_sample_text:\n"
        ".incbin \"tests/run/records/kinds.jsonl\"\n"
        ".byte 0\n"
        ".popsection");
extern const char fuzz_sample_text[];

static struct lh_gather sample;
static struct lh_symbols *symbols;

const char *fuzz_sample_path(void)
{
    return fuzz_path(FILE_NUMBER);
}

struct lh_symbols *fuzz_sample_symbols(void)
{
    return symbols;
}

struct lh_gather *fuzz_sample(void)
{
    return &sample;
}

void fuzz_begin(void)
{
    char *inputs[] = { (char *)fuzz_file(FILE_NUMBER, fuzz_sample_text,
                                         strlen(fuzz_sample_text)) };
    symbols = lh_symbols_new();
    lh_gather_read(&sample, inputs, 1, symbols);
    fuzz_expect(sample.findings.n > 10, "the sample has findings");
}
