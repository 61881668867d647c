/* SPDX-License-Identifier: MIT
 * main.c - lockhound: which subcommand it is. */
#include <stdio.h>
#include <string.h>

#include "baseline.h"
#include "db.h"
#include "diag.h"
#include "diff.h"
#include "inspect.h"
#include "options.h"
#include "report.h"
#include "run.h"

#ifndef LH_VERSION
#define LH_VERSION "unknown"
#endif

#define COMMANDS "run, report, inspect, diff, baseline, db or --help"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "run", lh_run_main },           { "report", lh_report_main },
    { "inspect", lh_inspect_main },   { "diff", lh_diff_main },
    { "baseline", lh_baseline_main }, { "db", lh_db_main },
};

static int finish(void)
{
    if (fflush(stdout) != 0)
        lh_diag_fail("stdout: cannot be written");
    return 0;
}

/* lockhound help, lockhound help run */
static int help(const char *command)
{
    char name[16] = "", option[] = "--help";
    char *argv[] = { name, option, NULL };
    for (size_t i = 0; command && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(command, commands[i].name) == 0)
            return commands[i].run(2, argv);
    if (command)
        lh_diag_fail("unknown command '%s' (expected " COMMANDS ")", command);
    lh_options_help(stdout);
    return finish();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        lh_diag_fail("a command is missing (expected " COMMANDS ")");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0) {
        puts("lockhound " LH_VERSION);
        return finish();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help(argv[2]);
    lh_diag_fail("unknown command '%s' (expected " COMMANDS ")", argv[1]);
}
