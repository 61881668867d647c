/* SPDX-License-Identifier: MIT
 *
 * config.h - what the LOCKHOUND variable asks for.
 *
 * LOCKHOUND=key=value,key=value with the keys of lockhound run's long options;
 * in a value, %XX stands for the byte XX (a comma is %2C). An unknown key or a
 * bad value is kept as a complaint, to be printed once there is a place for it.
 */
#ifndef LH_RUNTIME_CONFIG_H
#define LH_RUNTIME_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum lh_stack_policy {
    LH_STACKS_AUTO,  /* cold and nesting sites whole, leaf sites by PC */
    LH_STACKS_EXACT, /* always whole */
    LH_STACKS_PC,    /* never more than the caller */
};

/* After a finding that has happened was written. */
enum lh_on_deadlock {
    LH_ON_DEADLOCK_REPORT, /* the program goes on, and hangs */
    LH_ON_DEADLOCK_EXIT,   /* exit_code, or 67 */
    LH_ON_DEADLOCK_ABORT,  /* SIGABRT */
};

struct lh_config {
    char dir[4096];      /* absolute; empty: no record files */
    size_t memory_bytes; /* 0: no limit */
    enum lh_stack_policy stacks;
    enum lh_on_deadlock on_deadlock;
    bool print;    /* findings on stderr */
    bool all;      /* conditional findings too */
    int exit_code; /* status at exit if there are findings; 0: unchanged */
    char complaint[160];
};

extern struct lh_config lh_config; /* written by the constructor only */

/* Reads the value of the variable; NULL means that it is not set. */
void lh_config_parse(struct lh_config *config, const char *value);

#endif
