/* SPDX-License-Identifier: MIT
 * phrase.c - what a statement of C or C++ names. */
#include "phrase.h"

#include <ctype.h>
#include <string.h>

#include "pool.h"

enum {
    MAX_PATHS = 32,
    MAX_STEPS = 16,
    MAX_DEPTH = 16,
    STATEMENT_LINES = 6, /* the rest of a longer one is not looked at */
    BLOCK_LINES = 1000,
};

/* An open parenthesis or brace. */
struct opened {
    const char *call; /* the name before it, or "" */
    int argument;
    const char *since; /* where the argument begins */
};

struct reader {
    struct lh_pool *pool;
    const char *text, *at;
    struct opened opened[MAX_DEPTH];
    size_t depth;
    struct lh_phrase_path *paths;
    size_t n;
    bool lost; /* no more can be told */
};

static bool starts_word(char c)
{
    return c == '_' || isalpha((unsigned char)c);
}

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (starts_word(text[n]) || isdigit((unsigned char)text[n]))
        n++;
    return n;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static char *word_at(struct lh_pool *pool, const char *at)
{
    return lh_pool_format(pool, "%.*s", (int)word_length(at), at);
}

/* What is behind the pair of brackets that begins here; NULL if it has no
 * end. */
static const char *behind_brackets(const char *at)
{
    size_t depth = 0;
    for (; *at; at++) {
        depth += *at == '[';
        depth -= *at == ']';
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

static char *first_lines(struct lh_pool *pool, const char *text, int max)
{
    const char *end = text;
    for (int i = 0; i < max && *end; i++) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    return lh_pool_format(pool, "%.*s", (int)(end - text), text);
}

/* Comments, strings and characters become spaces. */
static void blank(char *text)
{
    for (char *c = text; *c; c++) {
        char *end = NULL;
        if (c[0] == '/' && c[1] == '/') {
            end = c + strcspn(c, "\n");
        } else if (c[0] == '/' && c[1] == '*') {
            end = strstr(c + 2, "*/");
            end = end ? end + 2 : c + strlen(c);
        } else if (*c == '"' || *c == '\'') {
            for (end = c + 1; *end && *end != *c && *end != '\n'; end++)
                end += *end == '\\' && end[1];
            end += *end == *c;
        }
        if (end) {
            memset(c, ' ', (size_t)(end - c));
            c = end - 1;
        }
    }
}

static bool is_word(const char *at, const char *const *words)
{
    size_t n = word_length(at);
    for (; *words; words++)
        if (strlen(*words) == n && strncmp(*words, at, n) == 0)
            return true;
    return false;
}

/* Whether the statement has ended with the closing bracket here. */
static bool ends_with(const char *text, const char *bracket)
{
    static const char *const control[] = { "if", "while", "for", "switch",
                                           NULL };
    const char *rest = bracket + 1 + strspn(bracket + 1, " \t\r");
    text += strspn(text, " \t\r\n}");
    if (strncmp(text, "else ", 5) == 0)
        text += 5;
    if (*bracket == '}')
        return *rest != ',' && *rest != ')';
    return *bracket == ')' && *rest == '\n' && is_word(text, control);
}

/* Whether the brace begins a block, and not what a variable is set to. */
static bool is_block(const char *text, const char *brace)
{
    static const char *const words[] = { "else",  "do",       "try",
                                         "const", "noexcept", NULL };
    const char *before = brace, *rest = brace + 1;
    while (before > text && strchr(" \t\r\n", before[-1]))
        before--;
    const char *word = before;
    while (word > text && word_length(word - 1) > 0)
        word--;
    return rest[strspn(rest, " \t\r")] == '\n' &&
           (word == before || is_word(word, words));
}

/* Without comments and strings, and without what is behind the statement. */
static char *bare(struct lh_pool *pool, const char *text)
{
    char *copy = first_lines(pool, text, STATEMENT_LINES);
    int depth = 0;
    blank(copy);
    for (char *c = copy; *c; c++) {
        bool block = *c == '{' && is_block(copy, c);
        depth += strchr("([{", *c) != NULL;
        depth -= strchr(")]}", *c) != NULL;
        if (depth < 0 || (depth == 0 && *c == ';') || (depth == 1 && block) ||
            (depth == 0 && ends_with(copy, c))) {
            c[depth == 0 && strchr(")}", *c) != NULL] = '\0';
            break;
        }
    }
    return copy;
}

bool lh_phrase_is_lock_function(const char *name)
{
    static const char *const prefixes[] = { "pthread_", "sem_", "mtx_", "g_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Whether one of the calls around the innermost is a lock function. */
static bool is_hidden(const struct reader *r)
{
    bool around = false;
    for (size_t i = 0; i + 1 < r->depth; i++)
        around |= lh_phrase_is_lock_function(r->opened[i].call);
    return around && *r->opened[r->depth - 1].call;
}

static void open_bracket(struct reader *r, const char *call)
{
    if (r->depth == MAX_DEPTH) {
        r->lost = true;
        return;
    }
    r->opened[r->depth++] = (struct opened){ call, 0, r->at + 1 };
}

/* Whether nothing but '&' and this lies between the argument's begin and the
 * comma or parenthesis behind it. */
static bool is_whole(const struct reader *r, const char *start, const char *end)
{
    if (!r->depth)
        return false;
    const char *before = r->opened[r->depth - 1].since;
    before += strspn(before, " \t\r\n&");
    end = skip_space(end);
    return before == start && (*end == ',' || *end == ')' || *end == '}');
}

static void add_path(struct reader *r, const char *start, const char *end,
                     const struct lh_phrase_step *steps, size_t nsteps,
                     const char *method)
{
    if (r->n == MAX_PATHS) {
        r->lost = true;
        return;
    }
    struct lh_phrase_step *kept = lh_pool_array(r->pool, nsteps, sizeof *kept);
    if (nsteps)
        memcpy(kept, steps, nsteps * sizeof *kept);
    struct lh_phrase_path *p = &r->paths[r->n++];
    *p = (struct lh_phrase_path){
        .text = lh_pool_format(r->pool, "%.*s", (int)(end - start), start),
        .variable = word_at(r->pool, start),
        .steps = kept,
        .nsteps = nsteps,
        .call = "",
        .hidden = r->depth && is_hidden(r),
    };
    if (method) {
        p->call = method;
        p->argument = LH_PHRASE_OBJECT;
        p->whole = true;
    } else if (r->depth) {
        p->call = r->opened[r->depth - 1].call;
        p->argument = r->opened[r->depth - 1].argument;
        p->whole = is_whole(r, start, end);
    }
}

/* A variable with its steps, or the name of something that is called. */
static void read_path(struct reader *r)
{
    struct lh_phrase_step steps[MAX_STEPS];
    size_t n = 0;
    const char *start = r->at, *end = start + word_length(start);
    const char *last = start; /* where the step before began */
    for (;;) {
        const char *at = skip_space(end);
        const char *name = NULL;
        char how = *at;
        if (at[0] == '-' && at[1] == '>') {
            name = skip_space(at + 2);
            how = '>';
        } else if (at[0] == '.') {
            name = skip_space(at + 1);
        } else if (at[0] != '[') {
            break;
        }
        const char *behind =
            name ? name + word_length(name) : behind_brackets(at);
        if (n == MAX_STEPS || !behind || (name && behind == name)) {
            r->lost = true;
            return;
        }
        steps[n++] =
            (struct lh_phrase_step){ how, name ? word_at(r->pool, name) : "" };
        last = end;
        end = behind;
    }
    const char *next = skip_space(end);
    bool called =
        (*next == '(' || *next == '{') && (!n || steps[n - 1].how != '[');
    const char *call = "";
    if (called && n) {
        call = steps[n - 1].name;
        /* Of "p->lock()" the object is what p points to. */
        struct lh_phrase_step deref = { '*', "" };
        bool arrow = steps[n - 1].how == '>';
        if (arrow)
            steps[n - 1] = deref;
        add_path(r, start, last, steps, arrow ? n : n - 1, call);
    } else if (called) {
        call = word_at(r->pool, start);
    } else {
        add_path(r, start, end, steps, n, NULL);
    }
    r->at = called ? next : end;
    if (called) {
        open_bracket(r, call);
        r->at++;
    }
}

/* A name with "::", of which only the last part counts: of a function, or of a
 * variable that something of is named. Any other may be a type. */
static void read_qualified(struct reader *r)
{
    const char *next = skip_space(r->at + word_length(r->at));
    if (strchr("([.{", *next) || strncmp(next, "->", 2) == 0)
        read_path(r);
    else
        r->at += word_length(r->at);
}

/* Words that are no variable. */
static bool is_keyword(const char *at)
{
    static const char *const words[] = { "if",     "while",  "for",    "switch",
                                         "return", "const",  "static", "auto",
                                         "sizeof", "struct", "else",   "new",
                                         NULL };
    return is_word(at, words);
}

static void read_one(struct reader *r, bool after_member)
{
    char c = *r->at;
    if (starts_word(c)) {
        const char *behind = r->at + word_length(r->at);
        if (after_member || is_keyword(r->at))
            r->at = behind;
        else if (strncmp(behind, "::", 2) == 0)
            r->at = behind + 2;
        else if (r->at > r->text && r->at[-1] == ':')
            read_qualified(r);
        else
            read_path(r);
        return;
    }
    if (isdigit((unsigned char)c)) {
        r->at += word_length(r->at);
        return;
    }
    if (c == '(' || c == '{') {
        open_bracket(r, "");
    } else if ((c == ')' || c == '}') && r->depth) {
        r->depth--;
    } else if (c == ',' && r->depth) {
        r->opened[r->depth - 1].argument++;
        r->opened[r->depth - 1].since = r->at + 1;
    }
    r->at++;
}

const struct lh_phrase_path *lh_phrase_read(struct lh_pool *pool,
                                            const char *text, size_t *n)
{
    char *start = bare(pool, text);
    struct reader r = { .pool = pool, .text = start, .at = start };
    r.paths = lh_pool_array(pool, MAX_PATHS, sizeof *r.paths);
    while (*r.at && !r.lost) {
        const char *before = r.at;
        while (before > start && strchr(" \t\r\n", before[-1]))
            before--;
        bool member =
            before > start &&
            (before[-1] == '.' ||
             (before[-1] == '>' && before > start + 1 && before[-2] == '-'));
        read_one(&r, member);
    }
    *n = r.lost ? 0 : r.n;
    return r.paths;
}

static size_t count_calls(struct lh_pool *pool, const char *at,
                          const char *name)
{
    size_t count = 0;
    while (*at) {
        size_t n = word_length(at);
        if (n && *skip_space(at + n) == '(') {
            const char *word = word_at(pool, at);
            count += *name ? strcmp(word, name) == 0
                           : lh_phrase_is_lock_function(word);
        }
        at += n ? n : 1;
    }
    return count;
}

size_t lh_phrase_count(struct lh_pool *pool, const char *text, const char *name)
{
    return count_calls(pool, bare(pool, text), name);
}

size_t lh_phrase_count_in_block(struct lh_pool *pool, const char *text,
                                const char *name)
{
    char *copy = first_lines(pool, text, BLOCK_LINES);
    size_t depth = 0;
    blank(copy);
    for (char *c = copy; *c; c++) {
        depth += *c == '{';
        if (*c == '}' && depth && --depth == 0) {
            c[1] = '\0';
            break;
        }
    }
    return count_calls(pool, copy, name);
}
