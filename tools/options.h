/* SPDX-License-Identifier: MIT
 *
 * options.h - the command line: one table of long options a subcommand, for
 * parsing and for --help.
 */
#ifndef LH_TOOLS_OPTIONS_H
#define LH_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "style.h"

enum lh_options_command {
    LH_OPTIONS_RUN,
    LH_OPTIONS_REPORT,
    LH_OPTIONS_INSPECT,
    LH_OPTIONS_DIFF,
    LH_OPTIONS_BASELINE,
    LH_OPTIONS_DB, /* the others are its parts */
    LH_OPTIONS_DB_ADD,
    LH_OPTIONS_DB_FINDINGS,
    LH_OPTIONS_DB_ORDERS,
    LH_OPTIONS_DB_PRUNE
};

/* A report that is to be written. */
struct lh_options_output {
    const char *format; /* one of formats.h */
    const char *file;   /* NULL: standard output */
    FILE *stream;       /* once it is open */
};

enum { LH_OPTIONS_OUTPUTS = 16 };

struct lh_options {
    const char *dir;         /* NULL where not given, like the other strings */
    const char *stacks;      /* "auto", "exact" or "pc" */
    const char *memory;      /* "512M" */
    const char *on_deadlock; /* "report", "exit" or "abort" */
    const char *on_hang;     /* "report", "abort" or "kill" */
    unsigned hang_after;     /* seconds; 0: not given */
    struct lh_options_output outputs[LH_OPTIONS_OUTPUTS]; /* run and report */
    size_t noutputs;
    const char *output; /* of the others; inspect and diff have json too */
    const char *baseline;
    const char **suppressions; /* files of rules */
    size_t nsuppressions, suppressions_capacity;
    bool all, verbose, json, check, no_stop, gen_suppressions;
    int exit_code; /* -1: not given */
    long keep;     /* of db prune; -1: not given */
    enum lh_colour colour;
    char **rest; /* what follows the options, ended by NULL */
    int nrest;
};

/* argv[0] is the subcommand. Prints the help and exits with 0 when that is
 * asked for; says what is wrong and exits with 2. */
void lh_options_parse(enum lh_options_command command, int argc, char **argv,
                      struct lh_options *options);

void lh_options_free(struct lh_options *options);

/* The help of lockhound itself. */
void lh_options_help(FILE *out);
/* And of "lockhound db". */
void lh_options_help_db(FILE *out);

/* Whether text is a value that --exit-code takes, which goes to code. */
bool lh_options_exit_code(const char *text, int *code);

/* Whether text is a value that --on-deadlock takes. */
bool lh_options_on_deadlock(const char *text);

#endif
