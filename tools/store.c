/* SPDX-License-Identifier: MIT
 * store.c - the records of many runs in one file, with SQLite. */
#include "store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "diag.h"
#include "idmap.h"
#include "pool.h"

enum {
    VERSION = 1,
    APPLICATION = 0x6c6b6864, /* "lkhd", in the file's header */
    PATIENCE_MS = 120 * 1000, /* with others that write */
};

struct lh_store {
    sqlite3 *db;
    const char *path;
};

/* Only a file is looked into: what a pipe has given is gone. */
bool lh_store_is(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* and its NUL */
    char start[sizeof magic];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    FILE *f = fopen(path, "re");
    bool is = f && fread(start, sizeof start, 1, f) == 1 &&
              memcmp(start, magic, sizeof start) == 0;
    if (f)
        fclose(f);
    return is;
}

static const char a_store[] = "a store made by lockhound db add";

/* What SQLite says is for programmers. */
static const struct {
    int code;         /* of SQLite; of its extended ones the first that fits */
    const char *what; /* NULL: what the system says */
    const char *expected;
} errors[] = {
    { SQLITE_NOTADB, "is no SQLite file", a_store },
    { SQLITE_CANTOPEN, NULL, a_store },
    { SQLITE_IOERR, NULL, "a disk that can be read and written" },
    { SQLITE_FULL, "the disk is full", "room for it and its journal" },
    { SQLITE_READONLY_ROLLBACK,
      "a crash has left a journal beside it, and it cannot be written",
      "a file and a folder that can" },
    { SQLITE_READONLY, "cannot be written", "a file and a folder that can" },
    { SQLITE_BUSY, "others have it in use all the time", "a turn" },
    { SQLITE_NOMEM, "out of memory", "room for the largest of its records" },
};

static _Noreturn void fail(const struct lh_store *s)
{
    int code = sqlite3_extended_errcode(s->db);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (code == errors[i].code || (code & 0xff) == errors[i].code)
            lh_diag_fail("%s: %s (expected %s)", s->path,
                         errors[i].what ? errors[i].what
                                        : strerror(sqlite3_system_errno(s->db)),
                         errors[i].expected);
    lh_diag_fail("%s: is damaged: %s (expected %s)", s->path,
                 sqlite3_errmsg(s->db), a_store);
}

static void run(const struct lh_store *s, const char *sql)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(s);
}

static sqlite3_stmt *prepare(const struct lh_store *s, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(s);
    return statement;
}

/* A name and its records. */
struct text {
    char *bytes;
    size_t capacity;
};

/* Whether there is one more row. */
static bool step(const struct lh_store *s, sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        fail(s);
    return result == SQLITE_ROW;
}

static int64_t number(const struct lh_store *s, const char *sql)
{
    sqlite3_stmt *statement = prepare(s, sql);
    int64_t n = step(s, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return n;
}

static void make_tables(const struct lh_store *s)
{
    run(s, "CREATE TABLE runs("
           " id INTEGER PRIMARY KEY AUTOINCREMENT,"
           " key INTEGER NOT NULL," /* of the first record */
           " name TEXT NOT NULL,"
           " added INTEGER NOT NULL DEFAULT (strftime('%s', 'now')),"
           " records BLOB NOT NULL)");
    run(s, "CREATE INDEX runs_by_key ON runs(key)");
    char *sql = sqlite3_mprintf("PRAGMA application_id = %d;"
                                "PRAGMA user_version = %d",
                                APPLICATION, VERSION);
    run(s, sql);
    sqlite3_free(sql);
}

/* In a transaction, as others may be about to make the same. */
static void check(const struct lh_store *s, bool make)
{
    int64_t application = number(s, "PRAGMA application_id");
    int64_t version = number(s, "PRAGMA user_version");
    bool empty = number(s, "SELECT count(*) FROM sqlite_master") == 0 &&
                 application == 0 && version == 0;
    if (empty && make)
        make_tables(s);
    else if (empty)
        lh_diag_fail("%s: is empty (expected %s)", s->path, a_store);
    else if (application != APPLICATION)
        lh_diag_fail("%s: is another program's SQLite file (expected %s)",
                     s->path, a_store);
    else if (version != VERSION)
        lh_diag_fail("%s: is a store of another lockhound (version %lld; "
                     "expected version %d)",
                     s->path, (long long)version, VERSION);
}

/* SQLite has names of its own, like ":memory:", but none with a slash. */
static void open_file(struct lh_store *s, int flags)
{
    struct stat st;
    if (stat(s->path, &st) == 0 && !S_ISREG(st.st_mode))
        lh_diag_fail("%s: is no regular file (expected %s)", s->path, a_store);
    char *path = sqlite3_mprintf("%s%s", *s->path == '/' ? "" : "./", s->path);
    int result = sqlite3_open_v2(path, &s->db, flags, NULL);
    sqlite3_free(path);
    if (result != SQLITE_OK)
        fail(s);
}

struct lh_store *lh_store_open(const char *path, bool make)
{
    struct lh_store *s = lh_pool_heap(sizeof *s);
    int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0);
    s->path = path;
    open_file(s, flags);
    sqlite3_busy_timeout(s->db, PATIENCE_MS);
    run(s, "PRAGMA auto_vacuum = INCREMENTAL"); /* of one to be made */
    run(s, make ? "BEGIN IMMEDIATE" : "BEGIN");
    check(s, make);
    run(s, "COMMIT");
    return s;
}

void lh_store_close(struct lh_store *s)
{
    sqlite3_close(s->db);
    free(s);
}

/* That of the first line, which names the process, its start and arguments. */
static int64_t key_of(const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n);
    size_t length = end ? (size_t)(end - bytes) : n;
    uint64_t h = 0;
    for (size_t i = 0; i < length; i++)
        h = lh_idmap_mix(h, (unsigned char)bytes[i]);
    return (int64_t)h;
}

/* What is there of the process already, whose row goes to id. */
static enum lh_store_added look(const struct lh_store *s, int64_t key,
                                const char *bytes, size_t n, int64_t *id)
{
    sqlite3_stmt *q = prepare(s, "SELECT id, records FROM runs WHERE key = ?");
    enum lh_store_added added = LH_STORE_NEW;
    sqlite3_bind_int64(q, 1, key);
    while (added == LH_STORE_NEW && step(s, q)) {
        const void *known = sqlite3_column_blob(q, 1);
        size_t nknown = (size_t)sqlite3_column_bytes(q, 1);
        if (known && memcmp(known, bytes, nknown < n ? nknown : n) == 0)
            added = nknown < n ? LH_STORE_GROWN : LH_STORE_KNOWN;
        *id = sqlite3_column_int64(q, 0);
    }
    sqlite3_finalize(q);
    return added;
}

static void put(const struct lh_store *s, const char *sql, int64_t which,
                const char *name, const char *bytes, size_t n)
{
    sqlite3_stmt *q = prepare(s, sql);
    sqlite3_bind_int64(q, 1, which);
    if (sqlite3_bind_text(q, 2, name, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_blob64(q, 3, bytes, n, SQLITE_STATIC) != SQLITE_OK)
        fail(s);
    step(s, q);
    sqlite3_finalize(q);
}

enum lh_store_added lh_store_add(struct lh_store *s, const char *name,
                                 const char *bytes, size_t n)
{
    if (n + strlen(name) > LH_STORE_MOST_BYTES)
        return LH_STORE_TOO_LARGE;
    int64_t key = key_of(bytes, n), id = 0;
    run(s, "BEGIN IMMEDIATE");
    enum lh_store_added added = look(s, key, bytes, n, &id);
    if (added == LH_STORE_NEW)
        put(s, "INSERT INTO runs(key, name, records) VALUES(?1, ?2, ?3)", key,
            name, bytes, n);
    if (added == LH_STORE_GROWN)
        put(s, "UPDATE runs SET name = ?2, records = ?3 WHERE id = ?1", id,
            name, bytes, n);
    run(s, "COMMIT");
    return added;
}

static void take_row(struct lh_store_process *p, struct text *copy,
                     sqlite3_stmt *q)
{
    const char *name = (const char *)sqlite3_column_text(q, 1);
    const char *bytes = sqlite3_column_blob(q, 2);
    size_t nname = name ? strlen(name) : 0;
    p->n = (size_t)sqlite3_column_bytes(q, 2);
    while (copy->capacity < nname + 1 + p->n)
        copy->bytes =
            lh_pool_grow(copy->bytes, copy->capacity, &copy->capacity, 1);
    memcpy(copy->bytes, name ? name : "", nname + 1);
    if (bytes)
        memcpy(copy->bytes + nname + 1, bytes, p->n);
    p->name = copy->bytes;
    p->bytes = copy->bytes + nname + 1;
    p->done_bytes += p->n;
}

/* A row at a time, so that nobody waits for what is done with it: others may
 * add and drop meanwhile, and two may each add the store of the other. */
size_t lh_store_each(struct lh_store *s, lh_store_fn fn, void *ctx)
{
    struct lh_store_process p = { .path = s->path };
    struct text copy = { 0 };
    size_t n = 0;
    int64_t id = number(s, "SELECT min(id) - 1 FROM runs");
    int64_t last = number(s, "SELECT max(id) FROM runs");
    p.all_bytes = (uint64_t)number(s, "SELECT sum(length(records)) FROM runs");
    sqlite3_stmt *q =
        prepare(s, "SELECT id, name, records FROM runs"
                   " WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1");
    for (; id < last; n++) {
        sqlite3_bind_int64(q, 1, id);
        sqlite3_bind_int64(q, 2, last);
        if (!step(s, q))
            break;
        if (sqlite3_column_int64(q, 0) <= id)
            lh_diag_fail("%s: is damaged: rows out of order (expected %s)",
                         s->path, a_store);
        id = sqlite3_column_int64(q, 0);
        take_row(&p, &copy, q);
        sqlite3_reset(q);
        fn(ctx, &p);
    }
    sqlite3_finalize(q);
    free(copy.bytes);
    return n;
}

/* Drops the n oldest up to one, if there is room on the disk for that; to drop
 * one is the least. Returns how many, or -1. */
static int64_t drop(const struct lh_store *s, int64_t newest, int64_t n)
{
    char *sql = sqlite3_mprintf(
        "BEGIN IMMEDIATE; DELETE FROM runs WHERE id IN"
        " (SELECT id FROM runs WHERE id <= %lld ORDER BY id LIMIT %lld);"
        "PRAGMA incremental_vacuum; COMMIT",
        (long long)newest, (long long)n);
    int result = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    if (result == SQLITE_OK)
        return sqlite3_changes(s->db);
    if (result != SQLITE_FULL || n == 1)
        fail(s);
    if (!sqlite3_get_autocommit(s->db))
        run(s, "ROLLBACK");
    return -1;
}

/* At once if there is room for the journal of that, as there is not on the full
 * disk that this is to help; else in parts, which need less. */
size_t lh_store_prune(struct lh_store *s, size_t keep)
{
    sqlite3_stmt *q =
        prepare(s, "SELECT id, (SELECT count(*) FROM runs) FROM runs"
                   " ORDER BY id DESC LIMIT 1 OFFSET ?");
    sqlite3_bind_int64(q, 1, (sqlite3_int64)keep);
    int64_t left = 0, newest = 0;
    if (step(s, q)) {
        newest = sqlite3_column_int64(q, 0);
        left = sqlite3_column_int64(q, 1) - (int64_t)keep;
    }
    sqlite3_finalize(q);
    size_t dropped = 0;
    for (int64_t n = left; left > 0;) {
        int64_t got = drop(s, newest, n);
        n = got < 0 ? n / 2 : n;
        left = got < 0 ? left : got < n ? 0 : left - got;
        dropped += got < 0 ? 0 : (size_t)got;
    }
    return dropped;
}
