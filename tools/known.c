/* SPDX-License-Identifier: MIT
 * known.c - the findings of a baseline. */
#include "known.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "explain.h"
#include "findings.h"
#include "idmap.h"
#include "json.h"
#include "model.h"
#include "pool.h"

enum { VERSION = 1 };

#define EXPECTED "expected a file that lockhound baseline has written"

struct entry {
    const char *id, *fingerprint, *summary;
    enum lh_model_grade grade;
};

struct lh_known {
    struct lh_pool pool;
    struct entry **entries;
    size_t n, capacity;
    struct lh_idmap by_name; /* id or fingerprint; the highest grade */
};

static const char *const grades[] = { "conditional", "possible", "happened" };

struct lh_known *lh_known_new(void)
{
    return lh_pool_heap(sizeof(struct lh_known));
}

void lh_known_free(struct lh_known *k)
{
    free(k->entries);
    lh_idmap_free(&k->by_name);
    lh_pool_free(&k->pool);
    free(k);
}

size_t lh_known_count(const struct lh_known *k)
{
    return k->n;
}

static void index_entry(struct lh_known *k, const char *name,
                        struct entry *entry)
{
    const struct entry *other = lh_idmap_get(&k->by_name, lh_idmap_text(name));
    if (!other || other->grade < entry->grade)
        lh_idmap_put(&k->by_name, lh_idmap_text(name), entry);
}

static void add(struct lh_known *k, struct entry given)
{
    struct entry *entry = lh_pool_alloc(&k->pool, sizeof *entry);
    *entry =
        (struct entry){ lh_pool_copy(&k->pool, given.id),
                        lh_pool_copy(&k->pool, given.fingerprint),
                        lh_pool_copy(&k->pool, given.summary), given.grade };
    k->entries =
        lh_pool_grow(k->entries, k->n, &k->capacity, sizeof *k->entries);
    k->entries[k->n++] = entry;
    index_entry(k, entry->id, entry);
    index_entry(k, entry->fingerprint, entry);
}

void lh_known_add(struct lh_known *k, const struct lh_explain *e,
                  const struct lh_findings_item *item, const char *fingerprint)
{
    add(k, (struct entry){ item->id, fingerprint, lh_explain_sentence(e),
                           item->finding->grade });
}

static bool knows(const struct lh_known *k, const char *name,
                  enum lh_model_grade grade)
{
    const struct entry *entry = lh_idmap_get(&k->by_name, lh_idmap_text(name));
    return entry &&
           (entry->grade >= LH_MODEL_POSSIBLE || grade == LH_MODEL_CONDITIONAL);
}

bool lh_known_has(const struct lh_known *k, const struct lh_findings_item *item,
                  const char *fingerprint)
{
    enum lh_model_grade grade = item->finding->grade;
    return knows(k, item->id, grade) || knows(k, fingerprint, grade);
}

/* --- the file --- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void read_entry(struct lh_known *k, const char *file, size_t number,
                       const json_t *o)
{
    struct entry entry = { text_of(o, "id"), text_of(o, "fingerprint"),
                           text_of(o, "summary"), LH_MODEL_CONDITIONAL };
    const char *grade = text_of(o, "grade");
    while (entry.grade < LH_MODEL_HAPPENED &&
           strcmp(grade, grades[entry.grade]) != 0)
        entry.grade++;
    if (!*entry.id || !*entry.fingerprint ||
        strcmp(grade, grades[entry.grade]) != 0)
        lh_diag_fail("%s: finding %zu has no id, fingerprint or grade "
                     "(" EXPECTED ")",
                     file, number);
    add(k, entry);
}

static void check_version(const char *file, const json_t *root)
{
    const json_t *version = json_object_get(root, "lockhound-baseline");
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        lh_diag_fail("%s: is no baseline (" EXPECTED ")", file);
    if (json_integer_value(version) > VERSION)
        lh_diag_fail("%s: version %lld of a baseline (expected %d; a newer "
                     "lockhound has written it)",
                     file, (long long)json_integer_value(version), VERSION);
}

void lh_known_read(struct lh_known *k, const char *file)
{
    json_error_t error;
    FILE *in = fopen(file, "re");
    if (!in)
        lh_diag_fail("%s: %s (" EXPECTED ")", file, strerror(errno));
    json_t *root = json_loadf(in, 0, &error);
    fclose(in);
    if (!root)
        lh_diag_fail("%s: line %d: %.60s (" EXPECTED ")", file, error.line,
                     error.text);
    check_version(file, root);
    const json_t *list = json_object_get(root, "findings");
    if (!json_is_array(list))
        lh_diag_fail("%s: has no list of findings (" EXPECTED ")", file);
    for (size_t i = 0; i < json_array_size(list); i++)
        read_entry(k, file, i + 1, json_array_get(list, i));
    json_decref(root);
}

static int by_id(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

int lh_known_write(struct lh_known *k, FILE *out)
{
    json_t *root = json_object(), *list = json_array();
    json_object_set_new(root, "lockhound-baseline", json_integer(VERSION));
    json_object_set_new(root, "findings", list);
    if (k->n)
        qsort(k->entries, k->n, sizeof *k->entries, by_id);
    for (size_t i = 0; i < k->n; i++) {
        const struct entry *entry = k->entries[i];
        json_array_append_new(
            list,
            json_pack("{s:o, s:s, s:s, s:o}", "id",
                      lh_json_string(&k->pool, entry->id), "fingerprint",
                      entry->fingerprint, "grade", grades[entry->grade],
                      "summary", lh_json_string(&k->pool, entry->summary)));
    }
    int rc = json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
    return rc == 0 ? 0 : EIO;
}
