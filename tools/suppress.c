/* SPDX-License-Identifier: MIT
 * suppress.c - rules for findings that are not to be told. */
#include "suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "explain.h"
#include "glob.h"
#include "lasting.h"
#include "naming.h"
#include "pool.h"
#include "trace.h"

/* What a condition is about. */
enum subject { ANY, FUNCTION, SOURCE, OBJECT, LOCK };

struct condition {
    enum subject subject;
    const char *glob;
    const struct condition *next;
};

struct rule {
    const char *file, *text;
    size_t line;
    const char *kind; /* as written */
    const struct condition *conditions;
    bool used;
};

struct lh_suppress {
    struct lh_pool pool;
    struct rule *rules;
    size_t n, capacity;
};

/* Words for kinds, as people say them. */
static const struct {
    const char *kind, *word;
} kinds[] = {
    { "LH001", "deadlock" },       { "LH002", "deadlock" },
    { "LH003", "self-deadlock" },  { "LH004", "endless-wait" },
    { "LH005", "nested-read" },    { "LH010", "release-free" },
    { "LH011", "release-other" },  { "LH012", "end-held" },
    { "LH013", "use-after-end" },  { "LH014", "init-in-use" },
    { "LH015", "thread-end" },     { "LH016", "assertion" },
    { "LH017", "condition-wait" }, { "LH020", "fork" },
};

enum { NKINDS = sizeof kinds / sizeof *kinds };

#define EXPECTED_KIND                                                          \
    "expected a kind such as LH001 or deadlock, ':' and conditions"

/* --- reading --- */

/* Where a rule is read from. */
struct reading {
    struct lh_suppress *s;
    const char *file;
    size_t line;
};

static bool is_kind(const char *kind)
{
    for (size_t i = 0; i < NKINDS; i++)
        if (lh_glob_match(kind, kinds[i].kind) ||
            strcmp(kind, kinds[i].word) == 0)
            return true;
    return strncmp(kind, "LH", 2) == 0 && strlen(kind) == 5 &&
           strspn(kind + 2, "0123456789") == 3;
}

static enum subject subject_of(const struct reading *r, const char *key)
{
    static const char *const keys[] = { [FUNCTION] = "function",
                                        [SOURCE] = "source",
                                        [OBJECT] = "object",
                                        [LOCK] = "lock" };
    for (enum subject i = FUNCTION; i <= LOCK; i++)
        if (strcmp(keys[i], key) == 0)
            return i;
    lh_diag_fail("%s: line %zu: unknown condition '%s=' (expected function=, "
                 "source=, object= or lock=)",
                 r->file, r->line, key);
}

/* The value at *at, which moves behind it: up to a space, or in quotes. */
static const char *take_value(const struct reading *r, char **at)
{
    bool quoted = **at == '"';
    char *start = *at + quoted;
    char *end = start + strcspn(start, quoted ? "\"" : " \t");
    if (quoted && !*end)
        lh_diag_fail("%s: line %zu: '\"' without an end (expected another one)",
                     r->file, r->line);
    char after = *end;
    *end = '\0';
    *at = end + (after != '\0');
    if (quoted && **at && !strchr(" \t", **at))
        lh_diag_fail("%s: line %zu: '%s' follows a '\"' (expected a space)",
                     r->file, r->line, *at);
    if (!*start)
        lh_diag_fail("%s: line %zu: a pattern is empty (expected one, such as "
                     "lock=cache_*)",
                     r->file, r->line);
    return lh_pool_copy(&r->s->pool, start);
}

static struct condition *take_condition(const struct reading *r, char **at)
{
    struct condition *c = lh_pool_alloc(&r->s->pool, sizeof *c);
    size_t key = strcspn(*at, "= \t\"");
    c->subject = ANY;
    if ((*at)[key] == '=') {
        (*at)[key] = '\0';
        c->subject = subject_of(r, *at);
        *at += key + 1;
    }
    c->glob = take_value(r, at);
    return c;
}

static void read_rule(const struct reading *r, char *line)
{
    const char *text = lh_pool_copy(&r->s->pool, line);
    size_t length = strcspn(line, ": \t");
    char *at = line + length + strspn(line + length, " \t");
    if (!length || *at != ':')
        lh_diag_fail("%s: line %zu: no ':' after '%.40s' (" EXPECTED_KIND ")",
                     r->file, r->line, line);
    at++;
    line[length] = '\0';
    if (!is_kind(line))
        lh_diag_fail("%s: line %zu: unknown kind '%.40s' (" EXPECTED_KIND ")",
                     r->file, r->line, line);
    struct rule rule = { r->file, text,
                         r->line, lh_pool_copy(&r->s->pool, line),
                         NULL,    false };
    while (*(at += strspn(at, " \t")) && *at != '#') {
        struct condition *c = take_condition(r, &at);
        c->next = rule.conditions;
        rule.conditions = c;
    }
    if (!rule.conditions)
        lh_diag_fail("%s: line %zu: '%s:' has no condition (expected one, "
                     "such as lock=cache_*, or * for all)",
                     r->file, r->line, rule.kind);
    struct lh_suppress *s = r->s;
    s->rules = lh_pool_grow(s->rules, s->n, &s->capacity, sizeof *s->rules);
    s->rules[s->n++] = rule;
}

static void read_line(const struct reading *r, char *line, size_t length)
{
    while (length && strchr("\r\n\t ", line[length - 1]) && line[length - 1])
        line[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)line[i] < ' ' && line[i] != '\t')
            lh_diag_fail("%s: line %zu: is no text (expected a file of rules)",
                         r->file, r->line);
    line += strspn(line, " \t");
    if (*line && *line != '#')
        read_rule(r, line);
}

void lh_suppress_read(struct lh_suppress *s, const char *file)
{
    struct reading r = { s, lh_pool_copy(&s->pool, file), 0 };
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    FILE *in = fopen(file, "re");
    if (!in)
        lh_diag_fail("%s: %s (expected a file of rules)", file,
                     strerror(errno));
    while ((length = getline(&line, &size, in)) >= 0) {
        r.line++;
        read_line(&r, line, (size_t)length);
    }
    if (ferror(in))
        lh_diag_fail("%s: %s (expected a file of rules)", file,
                     strerror(errno));
    free(line);
    fclose(in);
}

struct lh_suppress *lh_suppress_new(void)
{
    return lh_pool_heap(sizeof(struct lh_suppress));
}

void lh_suppress_free(struct lh_suppress *s)
{
    free(s->rules);
    lh_pool_free(&s->pool);
    free(s);
}

/* --- matching --- */

/* What conditions look at: read once a finding. */
struct witness {
    const struct lh_explain *e;
    struct lh_trace *traces;
    const char ***sources; /* of each line of each trace */
    size_t ntraces;
    const char **locks, **born; /* see lh_naming_born() */
    size_t nlocks;
};

static const char *source_of(const struct lh_explain *e,
                             const struct lh_trace_line *line)
{
    if (!*line->file || *line->file == '/' || !*line->built_in)
        return line->file;
    return lh_pool_format(e->pool, "%s/%s", line->built_in, line->file);
}

static void add_stack(struct witness *w, uint64_t stack)
{
    const struct lh_explain *e = w->e;
    if (!stack)
        return;
    struct lh_trace t = lh_trace_read(e->pool, e->symbols, e->process, stack);
    const char **sources = lh_pool_array(e->pool, t.n, sizeof *sources);
    for (size_t i = 0; i < t.n; i++)
        sources[i] = source_of(e, &t.lines[i]);
    w->sources[w->ntraces] = sources;
    w->traces[w->ntraces++] = t;
}

static struct witness look(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    struct witness w = { .e = e };
    w.traces = lh_pool_array(e->pool, f->nsides * 2 + 2, sizeof *w.traces);
    w.sources = lh_pool_array(e->pool, f->nsides * 2 + 2, sizeof *w.sources);
    for (size_t i = 0; i < f->nsides; i++) {
        add_stack(&w, f->sides[i].holds_stack);
        add_stack(&w, f->sides[i].wants_stack);
    }
    add_stack(&w, f->stack);
    add_stack(&w, f->holder_stack);
    const uint64_t *locks = lh_explain_locks(e, &w.nlocks);
    w.locks = lh_pool_array(e->pool, w.nlocks, sizeof *w.locks);
    w.born = lh_pool_array(e->pool, w.nlocks, sizeof *w.born);
    for (size_t i = 0; i < w.nlocks; i++) {
        w.locks[i] = lh_lasting_name(e, locks[i]);
        w.born[i] = lh_naming_born(e, locks[i]);
    }
    return w;
}

static bool line_matches(const struct condition *c,
                         const struct lh_trace_line *line, const char *source)
{
    bool any = c->subject == ANY;
    return ((any || c->subject == FUNCTION) &&
            lh_glob_match(c->glob, line->function)) ||
           ((any || c->subject == SOURCE) &&
            lh_glob_match_path(c->glob, source)) ||
           ((any || c->subject == OBJECT) &&
            lh_glob_match_path(c->glob, line->module));
}

static bool holds(const struct witness *w, const struct condition *c)
{
    if (c->subject == ANY || c->subject == LOCK)
        for (size_t i = 0; i < w->nlocks; i++)
            if (lh_glob_match(c->glob, w->locks[i]) ||
                (*w->born[i] && lh_glob_match(c->glob, w->born[i])))
                return true;
    for (size_t i = 0; i < w->ntraces; i++)
        for (size_t j = 0; j < w->traces[i].n; j++)
            if (line_matches(c, &w->traces[i].lines[j], w->sources[i][j]))
                return true;
    return false;
}

static bool is_of_kind(const struct rule *rule, const char *kind)
{
    if (lh_glob_match(rule->kind, kind))
        return true;
    for (size_t i = 0; i < NKINDS; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return strcmp(kinds[i].word, rule->kind) == 0;
    return false;
}

static bool matches(const struct rule *rule, const struct witness *w)
{
    if (!is_of_kind(rule, w->e->finding->kind))
        return false;
    for (const struct condition *c = rule->conditions; c; c = c->next)
        if (!holds(w, c))
            return false;
    return true;
}

bool lh_suppress_match(struct lh_suppress *s, const struct lh_explain *e)
{
    bool found = false;
    if (!s->n)
        return false;
    struct witness w = look(e);
    for (size_t i = 0; i < s->n; i++) {
        if (!matches(&s->rules[i], &w))
            continue;
        s->rules[i].used = true;
        found = true;
    }
    return found;
}

void lh_suppress_say_unused(const struct lh_suppress *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->rules[i].used)
            lh_diag_say("%s: line %zu: matched nothing: %s", s->rules[i].file,
                        s->rules[i].line, s->rules[i].text);
}
