/* SPDX-License-Identifier: MIT
 * db.c - lockhound db: the records of many runs in one file. */
#include "db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "content.h"
#include "diag.h"
#include "gather.h"
#include "inputs.h"
#include "model.h"
#include "naming.h"
#include "options.h"
#include "orders.h"
#include "output.h"
#include "pool.h"
#include "report.h"
#include "store.h"
#include "symbols.h"

struct text {
    char *bytes;
    size_t n, capacity;
};

/* Whether the whole file could be read. */
static bool read_file(const char *file, struct text *t)
{
    enum { READ_BYTES = 256 * 1024 };
    int fd = lh_inputs_open(file);
    ssize_t got = fd < 0 ? -1 : 1;
    t->n = 0;
    while (got > 0) {
        while (t->capacity < t->n + READ_BYTES)
            t->bytes = lh_pool_grow(t->bytes, t->capacity, &t->capacity, 1);
        got = read(fd, t->bytes + t->n, READ_BYTES);
        if (got > 0)
            t->n += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            lh_diag_say("%s: %s", file, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return got == 0;
}

/* What is no record file is told before it is in the store. */
static bool is_record_file(const char *file, const struct text *t)
{
    struct lh_model_process *p = lh_model_new(file);
    bool good =
        lh_model_feed(p, t->bytes, t->n) == 0 && lh_model_finish(p, false) == 0;
    lh_model_free(p);
    return good;
}

static void need(const char *name, const struct lh_options *o, int least,
                 int most, const char *expected)
{
    if (o->nrest < least || (most && o->nrest > most))
        lh_diag_fail("%s: %d operand%s (expected %s)", name, o->nrest,
                     o->nrest == 1 ? "" : "s", expected);
}

struct adding {
    struct lh_store *store;
    struct text text;
    size_t counts[LH_STORE_TOO_LARGE + 1];
};

static void add_stored(void *adding, const struct lh_store_process *p)
{
    struct adding *a = adding;
    enum lh_store_added added = lh_store_add(a->store, p->name, p->bytes, p->n);
    a->counts[added]++;
    if (added == LH_STORE_TOO_LARGE)
        lh_diag_say("%s: %zu MB are too many for a store (expected at most "
                    "%d)",
                    p->name, p->n / 1000000, LH_STORE_MOST_BYTES / 1000000);
}

static void add_store(struct adding *a, const char *path)
{
    struct lh_store *other = lh_store_open(path, false);
    lh_store_each(other, add_stored, a);
    lh_store_close(other);
}

/* Returns whether it is a record file. */
static bool add_file(struct adding *a, const char *path)
{
    struct text *t = &a->text;
    if (!read_file(path, t) || !is_record_file(path, t))
        return false;
    struct lh_store_process p = { .name = path, .bytes = t->bytes, .n = t->n };
    add_stored(a, &p);
    return true;
}

static bool is_same_file(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool add_input(struct adding *a, const char *store, const char *path)
{
    if (is_same_file(store, path)) {
        lh_diag_say("%s: is the store itself (expected records)", path);
        return false;
    }
    if (!lh_store_is(path))
        return add_file(a, path);
    add_store(a, path);
    return true;
}

static int add(int argc, char **argv)
{
    struct lh_options o;
    struct lh_pool pool = { 0 };
    struct adding a = { 0 };
    lh_options_parse(LH_OPTIONS_DB_ADD, argc, argv, &o);
    need("db add", &o, 2, 0, "FILE.db and records");
    struct lh_inputs in =
        lh_inputs_find(&pool, o.rest + 1, (size_t)o.nrest - 1);
    a.store = in.n ? lh_store_open(o.rest[0], true) : NULL;
    for (size_t i = 0; i < in.n; i++)
        if (!add_input(&a, o.rest[0], in.files[i]))
            in.failed = true;
    if (a.store)
        lh_store_close(a.store);
    printf("lockhound: %zu added, %zu grown, %zu there already\n",
           a.counts[LH_STORE_NEW], a.counts[LH_STORE_GROWN],
           a.counts[LH_STORE_KNOWN]);
    free(a.text.bytes);
    free(in.files);
    lh_pool_free(&pool);
    lh_options_free(&o);
    return in.failed || a.counts[LH_STORE_TOO_LARGE] ? LH_EXIT_USAGE : 0;
}

/* The options of a command on one store, which is there. */
static void parse_one(enum lh_options_command command, const char *name,
                      int argc, char **argv, struct lh_options *o)
{
    lh_options_parse(command, argc, argv, o);
    need(name, o, 1, 1, "one store");
    lh_store_close(lh_store_open(o->rest[0], false));
}

static int findings(int argc, char **argv)
{
    struct lh_options o;
    parse_one(LH_OPTIONS_DB_FINDINGS, "db findings", argc, argv, &o);
    int status = lh_report_make(&o);
    lh_options_free(&o);
    return status;
}

static int orders(int argc, char **argv)
{
    struct lh_options o;
    struct lh_gather read = { 0 };
    struct lh_naming names = { 0 };
    parse_one(LH_OPTIONS_DB_ORDERS, "db orders", argc, argv, &o);
    struct lh_symbols *symbols = lh_symbols_new();
    lh_gather_read(&read, o.rest, 1, symbols);
    struct lh_content content = {
        .all = o.all,
        .symbols = symbols,
        .names = &names,
        .findings = &read.findings,
        .processes = read.processes,
        .nprocesses = read.n,
    };
    FILE *out = lh_output_open(o.output);
    lh_orders_report(out, &content);
    lh_output_close(out, o.output);
    lh_gather_free(&read);
    lh_naming_free(&names);
    lh_symbols_free(symbols);
    lh_options_free(&o);
    return read.failed ? LH_EXIT_USAGE : 0;
}

static int prune(int argc, char **argv)
{
    struct lh_options o;
    parse_one(LH_OPTIONS_DB_PRUNE, "db prune", argc, argv, &o);
    if (o.keep < 0)
        lh_diag_fail("db prune: --keep=N is missing (expected how many of the "
                     "newest processes stay)");
    struct lh_store *store = lh_store_open(o.rest[0], false);
    printf("lockhound: %zu dropped\n", lh_store_prune(store, (size_t)o.keep));
    lh_store_close(store);
    lh_options_free(&o);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "add", add },
    { "findings", findings },
    { "orders", orders },
    { "prune", prune },
};

int lh_db_main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            int status = commands[i].run(argc - 1, argv + 1);
            if (fflush(stdout) != 0)
                lh_diag_fail("stdout: %s", strerror(errno));
            return status;
        }
    if (argc > 1 &&
        (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        lh_options_help_db(stdout);
        return fflush(stdout) == 0 ? 0 : LH_EXIT_USAGE;
    }
    lh_diag_fail("db: %s%s%s (expected add, findings, orders or prune)",
                 argc > 1 ? "unknown command '" : "a command is missing",
                 argc > 1 ? argv[1] : "", argc > 1 ? "'" : "");
}
