/* SPDX-License-Identifier: MIT
 * store.c - the records of many runs in one file, with SQLite. */
#include "store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool lh_store_is(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* and its NUL */
    char start[sizeof magic];
    FILE *f = fopen(path, "re");
    bool is = f && fread(start, sizeof start, 1, f) == 1 &&
              memcmp(start, magic, sizeof start) == 0;
    if (f)
        fclose(f);
    return is;
}

static _Noreturn void fail(const struct lh_store *s)
{
    int code = sqlite3_errcode(s->db) & 0xff;
    if (code == SQLITE_NOTADB)
        lh_diag_fail("%s: is no SQLite file (expected a store made by "
                     "lockhound db add)",
                     s->path);
    if (code == SQLITE_CORRUPT)
        lh_diag_fail("%s: is damaged: %s (expected a store made by lockhound "
                     "db add)",
                     s->path, sqlite3_errmsg(s->db));
    lh_diag_fail("%s: %s (expected a store made by lockhound db add)", s->path,
                 sqlite3_errmsg(s->db));
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
        lh_diag_fail("%s: is empty (expected a store made by lockhound db add)",
                     s->path);
    else if (application != APPLICATION)
        lh_diag_fail("%s: is another program's SQLite file (expected a store "
                     "made by lockhound db add)",
                     s->path);
    else if (version != VERSION)
        lh_diag_fail("%s: is a store of another lockhound (version %lld; "
                     "expected version %d)",
                     s->path, (long long)version, VERSION);
}

struct lh_store *lh_store_open(const char *path, bool make)
{
    struct lh_store *s = lh_pool_heap(sizeof *s);
    int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0);
    s->path = path;
    if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK)
        fail(s);
    sqlite3_busy_timeout(s->db, PATIENCE_MS);
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

size_t lh_store_each(struct lh_store *s, lh_store_fn fn, void *ctx)
{
    struct lh_store_process p = { .path = s->path };
    size_t n = 0;
    run(s, "BEGIN"); /* what others add meanwhile is for the next time */
    p.all_bytes = (uint64_t)number(s, "SELECT sum(length(records)) FROM runs");
    sqlite3_stmt *q = prepare(s, "SELECT name, records FROM runs ORDER BY id");
    for (; step(s, q); n++) {
        const char *name = (const char *)sqlite3_column_text(q, 0);
        const char *bytes = sqlite3_column_blob(q, 1);
        p.name = name ? name : "";
        p.bytes = bytes ? bytes : "";
        p.n = (size_t)sqlite3_column_bytes(q, 1);
        p.done_bytes += p.n;
        fn(ctx, &p);
    }
    sqlite3_finalize(q);
    run(s, "COMMIT");
    return n;
}

size_t lh_store_prune(struct lh_store *s, size_t keep)
{
    sqlite3_stmt *q =
        prepare(s, "DELETE FROM runs WHERE id NOT IN"
                   " (SELECT id FROM runs ORDER BY id DESC LIMIT ?)");
    sqlite3_bind_int64(q, 1, (sqlite3_int64)keep);
    step(s, q);
    sqlite3_finalize(q);
    size_t dropped = (size_t)sqlite3_changes(s->db);
    if (dropped)
        run(s, "VACUUM");
    return dropped;
}
