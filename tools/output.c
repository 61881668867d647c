/* SPDX-License-Identifier: MIT
 * output.c - the file that a report goes to, or standard output. */
#include "output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "diag.h"

FILE *lh_output_open(const char *name)
{
    FILE *out = name ? fopen(name, "we") : stdout;
    if (!out)
        lh_diag_fail("%s: %s (expected a file to write to)", name,
                     strerror(errno));
    return out;
}

void lh_output_close(FILE *out, const char *name)
{
    bool bad = ferror(out) != 0 || fflush(out) != 0;
    if (name && fclose(out) != 0)
        bad = true;
    if (bad)
        lh_diag_fail("%s: %s (the report is incomplete)",
                     name ? name : "stdout", strerror(errno));
}
