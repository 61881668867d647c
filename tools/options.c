/* SPDX-License-Identifier: MIT
 * options.c - the command line. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "formats.h"
#include "pool.h"

enum { MIN_MEMORY_BYTES = 1 << 20 }; /* less would find nothing */

struct option_row {
    const char *name;
    const char *value; /* its name in the help; NULL: takes none */
    const char *help;
    const char *expected; /* what a good value is */
    bool (*set)(struct lh_options *o, const char *value);
};

static bool set_dir(struct lh_options *o, const char *value)
{
    o->dir = value;
    return *value != '\0';
}

static bool set_all(struct lh_options *o, const char *value)
{
    (void)value;
    o->all = true;
    return true;
}

static bool set_check(struct lh_options *o, const char *value)
{
    (void)value;
    o->check = true;
    return true;
}

bool lh_options_exit_code(const char *text, int *code)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < 0 || n > 255)
        return false;
    *code = (int)n;
    return true;
}

static bool set_exit_code(struct lh_options *o, const char *value)
{
    return lh_options_exit_code(value, &o->exit_code);
}

static bool set_hang_after(struct lh_options *o, const char *value)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    o->hang_after = (unsigned)n;
    return end != value && !*end && !errno && n >= 1 && n <= 1000000;
}

static bool set_on_hang(struct lh_options *o, const char *value)
{
    o->on_hang = value;
    return strcmp(value, "report") == 0 || strcmp(value, "abort") == 0 ||
           strcmp(value, "kill") == 0;
}

static bool set_stacks(struct lh_options *o, const char *value)
{
    o->stacks = value;
    return strcmp(value, "auto") == 0 || strcmp(value, "exact") == 0 ||
           strcmp(value, "pc") == 0;
}

static bool set_memory(struct lh_options *o, const char *value)
{
    static const char units[] = "kKmMgG";
    char *unit;
    o->memory = value;
    if (!strchr("0123456789", *value) || strspn(value, "0123456789") > 9)
        return false;
    unsigned long long bytes = strtoull(value, &unit, 10);
    const char *found = *unit ? strchr(units, *unit) : NULL;
    if (*unit && (!found || unit[1]))
        return false;
    if (found)
        bytes <<= 10 * (1 + (found - units) / 2);
    return bytes == 0 || bytes >= MIN_MEMORY_BYTES;
}

bool lh_options_on_deadlock(const char *text)
{
    return strcmp(text, "report") == 0 || strcmp(text, "exit") == 0 ||
           strcmp(text, "abort") == 0;
}

static bool set_on_deadlock(struct lh_options *o, const char *value)
{
    o->on_deadlock = value;
    return lh_options_on_deadlock(value);
}

static bool set_color(struct lh_options *o, const char *value)
{
    static const char *const words[] = { "auto", "always", "never" };
    for (int i = 0; i < 3; i++) {
        if (strcmp(words[i], value) == 0) {
            o->colour = (enum lh_colour)i;
            return true;
        }
    }
    return false;
}

static bool set_format(struct lh_options *o, const char *value)
{
    o->json = strcmp(value, "json") == 0;
    return o->json || strcmp(value, "text") == 0;
}

static bool set_keep(struct lh_options *o, const char *value)
{
    char *end;
    errno = 0;
    o->keep = strtol(value, &end, 10);
    return end != value && !*end && !errno && o->keep >= 0;
}

static bool set_no_stop(struct lh_options *o, const char *value)
{
    (void)value;
    o->no_stop = true;
    return true;
}

static bool set_output(struct lh_options *o, const char *value)
{
    o->output = value;
    return *value != '\0';
}

/* The newest output, or one more. */
static struct lh_options_output *newest(struct lh_options *o, bool more)
{
    if (more && o->noutputs == LH_OPTIONS_OUTPUTS)
        lh_diag_fail("--format: too many (expected at most %d)",
                     LH_OPTIONS_OUTPUTS);
    o->noutputs += more || o->noutputs == 0;
    return &o->outputs[o->noutputs - 1];
}

/* Each but the first begins an output; the first may come after its file. */
static bool add_format(struct lh_options *o, const char *value)
{
    bool more = o->noutputs > 0 && o->outputs[o->noutputs - 1].format;
    newest(o, more)->format = value;
    return lh_formats_is_name(value);
}

static bool add_file(struct lh_options *o, const char *value)
{
    newest(o, false)->file = value;
    return *value != '\0';
}

static bool set_suppressions(struct lh_options *o, const char *value)
{
    o->suppressions =
        lh_pool_grow(o->suppressions, o->nsuppressions,
                     &o->suppressions_capacity, sizeof *o->suppressions);
    o->suppressions[o->nsuppressions++] = value;
    return *value != '\0';
}

static bool set_baseline(struct lh_options *o, const char *value)
{
    o->baseline = value;
    return *value != '\0';
}

static bool set_verbose(struct lh_options *o, const char *value)
{
    (void)value;
    o->verbose = true;
    return true;
}

static bool set_gen_suppressions(struct lh_options *o, const char *value)
{
    (void)value;
    o->gen_suppressions = true;
    return true;
}

#define ALL                                                                    \
    {                                                                          \
        "all", NULL, "show conditional findings too", "", set_all              \
    }
#define VERBOSE                                                                \
    {                                                                          \
        "verbose", NULL, "text with all places, counts and whole stacks", "",  \
            set_verbose                                                        \
    }
#define EXIT_CODE                                                              \
    {                                                                          \
        "exit-code", "N", "exit status when there are findings (66)",          \
            "0 to 255", set_exit_code                                          \
    }
#define COLOR                                                                  \
    {                                                                          \
        "color", "WHEN", "auto, always or never", "auto, always or never",     \
            set_color                                                          \
    }

#define FORMATS                                                                \
    {                                                                          \
        "format", "FORMAT", LH_FORMATS_NAMES, LH_FORMATS_NAMES, add_format     \
    }

#define SUPPRESSIONS                                                           \
    {                                                                          \
        "suppressions", "FILE", "leave out what its rules match; may be many", \
            "a file of rules", set_suppressions                                \
    }
#define GEN_SUPPRESSIONS                                                       \
    {                                                                          \
        "gen-suppressions", NULL, "add the rule that matches each finding",    \
            "", set_gen_suppressions                                           \
    }

#define BASELINE                                                               \
    {                                                                          \
        "baseline", "FILE", "only findings that are not in FILE count",        \
            "a baseline", set_baseline                                         \
    }

static const struct option_row run_options[] = {
    { "dir", "DIR", "folder for the records (./lockhound.PID)", "a folder",
      set_dir },
    ALL,
    VERBOSE,
    EXIT_CODE,
    { "stacks", "HOW", "auto, exact (always whole) or pc (caller only)",
      "auto, exact or pc", set_stacks },
    { "memory", "SIZE", "limit of the detector's memory, such as 512M",
      "at least 1M, such as 512M, or 0 for no limit", set_memory },
    { "on-deadlock", "DO", "when it hangs: exit (with 67), report or abort",
      "report, exit or abort", set_on_deadlock },
    { "hang-after", "SECONDS",
      "explain CMD when nothing in it runs for so long", "seconds, 1 and up",
      set_hang_after },
    { "on-hang", "DO", "after --hang-after: report (and wait on), abort, kill",
      "report, abort or kill", set_on_hang },
    { "check", NULL, "tell which locks of CMD can be seen; runs nothing", "",
      set_check },
    FORMATS,
    { "output", "FILE", "write that report to FILE (also -o FILE)", "a file",
      add_file },
    SUPPRESSIONS,
    GEN_SUPPRESSIONS,
    BASELINE,
    COLOR,
    { NULL, NULL, NULL, NULL, NULL },
};

#define REPORT                                                                 \
    FORMATS, ALL, VERBOSE,                                                     \
        { "output", "FILE", "write that report to FILE (also -o FILE)",        \
          "a file", add_file },                                                \
        EXIT_CODE, SUPPRESSIONS, GEN_SUPPRESSIONS, BASELINE, COLOR
#define KEEP                                                                   \
    {                                                                          \
        "keep", "N", "of prune: how many of the newest processes stay",        \
            "0 and up", set_keep                                               \
    }

static const struct option_row report_options[] = {
    REPORT,
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row inspect_options[] = {
    { "no-stop", NULL, "look at /proc only; no stacks", "", set_no_stop },
    { "format", "FORMAT", "text or json", "text or json", set_format },
    { "output", "FILE", "write the report to FILE (also -o FILE)", "a file",
      set_output },
    COLOR,
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row diff_options[] = {
    { "format", "FORMAT", "text or json", "text or json", set_format },
    ALL,
    { "output", "FILE", "write the report to FILE (also -o FILE)", "a file",
      set_output },
    { "exit-code", "N", "exit status when there are new findings (66)",
      "0 to 255", set_exit_code },
    SUPPRESSIONS,
    COLOR,
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row baseline_options[] = {
    { "output", "FILE", "write the baseline to FILE (also -o FILE)", "a file",
      set_output },
    SUPPRESSIONS,
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row db_add_options[] = {
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row db_orders_options[] = {
    ALL,
    { "output", "FILE", "write them to FILE (also -o FILE)", "a file",
      set_output },
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row db_prune_options[] = {
    KEEP,
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct option_row db_options[] = {
    REPORT,
    KEEP,
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct command {
    const char *name, *operand, *usage, *about, *letters;
    const struct option_row *options;
} commands[] = {
    [LH_OPTIONS_RUN] = { "run", "the command",
                         "lockhound run [options] -- CMD [ARG...]",
                         "Runs CMD and reports how its locks could deadlock.",
                         "+:ho:", run_options },
    [LH_OPTIONS_REPORT] = { "report", "the record file",
                            "lockhound report [options] FILE|DIR...",
                            "Reports from the records of earlier runs.",
                            ":ho:", report_options },
    [LH_OPTIONS_INSPECT] = { "inspect", "the process",
                             "lockhound inspect [options] PID|CORE [EXE]",
                             "Explains what a process, or a core file, waits "
                             "for.",
                             ":ho:", inspect_options },
    [LH_OPTIONS_DIFF] = { "diff", "the old record file",
                          "lockhound diff [options] OLD NEW",
                          "Tells which findings are new, gone or still there.",
                          ":ho:", diff_options },
    [LH_OPTIONS_BASELINE] = { "baseline", "the record file",
                              "lockhound baseline [options] FILE|DIR...",
                              "Lists the findings that are known, for "
                              "--baseline.",
                              ":ho:", baseline_options },
    [LH_OPTIONS_DB] = { "db", "what to do",
                        "lockhound db add|findings|orders|prune [options] "
                        "FILE.db [FILE|DIR...]",
                        "Keeps the records of many runs in one file.",
                        ":ho:", db_options },
    [LH_OPTIONS_DB_ADD] = { "db add", "the store",
                            "lockhound db add FILE.db FILE|DIR...",
                            "Adds records, of files or of another store.", ":h",
                            db_add_options },
    [LH_OPTIONS_DB_FINDINGS] = { "db findings", "the store",
                                 "lockhound db findings [options] FILE.db",
                                 "Reports from all that a store has.",
                                 ":ho:", report_options },
    [LH_OPTIONS_DB_ORDERS] = { "db orders", "the store",
                               "lockhound db orders [options] FILE.db",
                               "Lists the orders of locks in a store.",
                               ":ho:", db_orders_options },
    [LH_OPTIONS_DB_PRUNE] = { "db prune", "the store",
                              "lockhound db prune --keep=N FILE.db",
                              "Drops the oldest of a store.", ":h",
                              db_prune_options },
};

enum { MAX_OPTIONS = 24, NCOMMANDS = sizeof commands / sizeof *commands };

static void print_option(FILE *out, const char *name, const char *value,
                         const char *help)
{
    char text[64];
    snprintf(text, sizeof text, "--%s%s%s", name, value ? "=" : "",
             value ? value : "");
    fprintf(out, "  %-20s %s\n", text, help);
}

static void print_help(FILE *out, const struct command *c)
{
    fprintf(out, "usage: %s\n%s\n\n", c->usage, c->about);
    for (const struct option_row *o = c->options; o->name; o++)
        print_option(out, o->name, o->value, o->help);
    print_option(out, "help", NULL, "this text");
}

static void list_commands(FILE *out, int first, int end)
{
    for (int i = first; i < end; i++)
        fprintf(out, "  %s\n    %s\n", commands[i].usage, commands[i].about);
}

void lh_options_help_db(FILE *out)
{
    print_help(out, &commands[LH_OPTIONS_DB]);
    fputs("\n", out);
    list_commands(out, LH_OPTIONS_DB + 1, NCOMMANDS);
}

void lh_options_help(FILE *out)
{
    fputs("lockhound finds lock-order deadlocks before they happen.\n\n", out);
    list_commands(out, 0, LH_OPTIONS_DB + 1);
    fputs("\n", out);
    print_option(out, "help", NULL, "this text; lockhound run --help, ...");
    print_option(out, "version", NULL, "the version");
    fputs("\nman lockhound has the rest.\n", out);
}

/* getopt's table: our rows, then help. */
static void fill(const struct command *c, struct option *table)
{
    int n = 0;
    for (; n < MAX_OPTIONS - 1 && c->options[n].name; n++)
        table[n] = (struct option){ c->options[n].name,
                                    c->options[n].value ? required_argument
                                                        : no_argument,
                                    NULL, 'a' + 256 + n };
    table[n] = (struct option){ "help", no_argument, NULL, 'h' };
    table[n + 1] = (struct option){ NULL, 0, NULL, 0 };
}

static void set(const struct command *c, const struct option_row *row,
                struct lh_options *o, const char *value)
{
    if (!row->set(o, value))
        lh_diag_fail("%s: --%s: bad value '%s' (expected %s)", c->name,
                     row->name, value, row->expected);
}

static const struct option_row *row_called(const struct command *c,
                                           const char *name)
{
    const struct option_row *row = c->options;
    while (strcmp(row->name, name) != 0)
        row++;
    return row;
}

/* "-x" or "-xyz", which optind is not past yet; not "--help=1". */
static bool is_unknown_letter(void)
{
    return optopt > 0 && optopt <= UCHAR_MAX && optopt != 'h';
}

static void take(const struct command *c, int letter, char **argv,
                 struct lh_options *o)
{
    if (letter == 'h') {
        print_help(stdout, c);
        exit(fflush(stdout) == 0 ? 0 : LH_EXIT_USAGE);
    }
    if (letter == 'o')
        set(c, row_called(c, "output"), o, optarg);
    else if (letter == ':')
        lh_diag_fail("%s: %s: needs a value (expected as in lockhound %s "
                     "--help)",
                     c->name, argv[optind - 1], c->name);
    else if (letter == '?' && is_unknown_letter())
        lh_diag_fail("%s: unknown option '-%c' (expected as in lockhound %s "
                     "--help)",
                     c->name, optopt, c->name);
    else if (letter == '?')
        lh_diag_fail("%s: unknown or ambiguous option '%s' (expected as in "
                     "lockhound %s --help)",
                     c->name, argv[optind - 1], c->name);
    else
        set(c, &c->options[letter - 'a' - 256], o, optarg);
}

/* Two reports in one file would be none. */
static void check_outputs(const struct command *c, struct lh_options *o)
{
    for (size_t i = 0; i < o->noutputs; i++) {
        const char *file = o->outputs[i].file;
        if (!o->outputs[i].format)
            o->outputs[i].format = "text";
        for (size_t j = 0; j < i; j++) {
            const char *other = o->outputs[j].file;
            if (file == other || (file && other && strcmp(file, other) == 0))
                lh_diag_fail("%s: --format: two reports to %s (expected -o "
                             "FILE after each but one)",
                             c->name, file ? file : "standard output");
        }
    }
}

void lh_options_free(struct lh_options *options)
{
    free(options->suppressions);
}

void lh_options_parse(enum lh_options_command command, int argc, char **argv,
                      struct lh_options *options)
{
    const struct command *c = &commands[command];
    struct option table[MAX_OPTIONS + 1];
    int letter;
    fill(c, table);
    *options = (struct lh_options){ .exit_code = -1, .keep = -1 };
    opterr = 0;
    while ((letter = getopt_long(argc, argv, c->letters, table, NULL)) != -1)
        take(c, letter, argv, options);
    if (command == LH_OPTIONS_REPORT || command == LH_OPTIONS_DB_FINDINGS)
        newest(options, false);
    check_outputs(c, options);
    options->rest = argv + optind;
    options->nrest = argc - optind;
    if (options->nrest == 0)
        lh_diag_fail("%s: %s is missing (expected %s)", c->name, c->operand,
                     c->usage);
}
