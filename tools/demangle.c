/* SPDX-License-Identifier: MIT
 * demangle.c - C++ names as people write them. */
#include "demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

enum { BRIEF_COLUMNS = 40 }; /* above that, template arguments are cut */

typedef char *demangle_fn(const char *, char *, size_t *, int *);

static demangle_fn *demangler(void)
{
    static demangle_fn *found;
    static bool tried;
    if (!tried) {
        tried = true;
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library)
            found = (demangle_fn *)dlsym(library, "__cxa_demangle");
    }
    return found;
}

char *lh_demangle_full(struct lh_pool *pool, const char *name)
{
    if (strncmp(name, "_Z", 2) != 0 || !demangler())
        return lh_pool_copy(pool, name);
    int status = 0;
    char *text = demangler()(name, NULL, NULL, &status);
    char *result = lh_pool_copy(pool, text && status == 0 ? text : name);
    free(text);
    return result;
}

static bool ends_with(const char *text, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n >= m && memcmp(text + n - m, end, m) == 0;
}

/* Length without " const", " [clone .cold]" and the like. */
static size_t without_qualifiers(const char *text, size_t n)
{
    static const char *const words[] = { " const", " volatile", " &", " &&",
                                         NULL };
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; words[i]; i++) {
            if (ends_with(text, n, words[i])) {
                n -= strlen(words[i]);
                again = true;
            }
        }
        const char *clone =
            n && text[n - 1] == ']' ? memmem(text, n, " [clone ", 8) : NULL;
        if (clone) {
            n = (size_t)(clone - text);
            again = true;
        }
    }
    return n;
}

/* Length without the parameters at the end: the last pair of parentheses. */
static size_t without_parameters(const char *text, size_t n)
{
    size_t depth = 0;
    if (!n || text[n - 1] != ')')
        return n;
    for (size_t i = n; i-- > 0;) {
        depth += text[i] == ')';
        depth -= text[i] == '(';
        if (depth == 0)
            return i ? i : n;
    }
    return n;
}

/* Where the name begins, after the return type that templates show. */
static size_t name_start(const char *text, size_t n)
{
    size_t depth = 0, start = 0;
    for (size_t i = 0; i < n; i++) {
        if (i >= 8 && memcmp(text + i - 8, "operator", 8) == 0)
            break; /* "operator bool", "operator<" end the scan */
        if (strchr("(<{[", text[i]))
            depth++;
        else if (strchr(")>}]", text[i]) && depth)
            depth--;
        else if (text[i] == ' ' && depth == 0)
            start = i + 1;
    }
    return start;
}

/* "map<int, std::string>::find" to "map<...>::find": the first n characters.
 * "f<>" gets longer. */
static void cut_templates(char *to, const char *text, size_t n)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        bool arrow = i > 0 && text[i - 1] == '-';
        if (text[i] == '>' && depth && !arrow && --depth == 0)
            to = stpcpy(to, "...");
        if (depth == 0)
            *to++ = text[i];
        if (text[i] == '<')
            depth++;
    }
    *to = '\0';
}

/* "(anonymous namespace)::f" to "f", in place: the file says which it is. */
static void drop_anonymous(char *text)
{
    static const char anonymous[] = "(anonymous namespace)::";
    size_t n = sizeof anonymous - 1;
    for (char *at = text; (at = strstr(at, anonymous));)
        memmove(at, at + n, strlen(at + n) + 1);
}

/* Where "operator<", "operator->" and the like begin, whose characters are no
 * brackets; else the end. */
static size_t before_operator(const char *text)
{
    const char *at = strstr(text, "operator");
    return at && at[8] && strchr("<>-", at[8]) ? (size_t)(at - text)
                                               : strlen(text);
}

/* Cuts template arguments where they are long, or name a lambda. */
static char *shorten(struct lh_pool *pool, char *text)
{
    drop_anonymous(text);
    if (strlen(text) <= BRIEF_COLUMNS && !strstr(text, "lambda"))
        return text;
    size_t n = before_operator(text);
    char *cut = lh_pool_alloc(pool, strlen(text) * 4 + 1);
    cut_templates(cut, text, n);
    strcat(cut, text + n);
    return strlen(cut) < strlen(text) ? cut : text;
}

/* Length without "<int, ...>" at the end. */
static size_t without_arguments(const char *text, size_t n)
{
    size_t depth = 0;
    if (!n || text[n - 1] != '>')
        return n;
    for (size_t i = n; i-- > 0;) {
        depth += text[i] == '>';
        depth -= text[i] == '<';
        if (depth == 0)
            return i;
    }
    return n;
}

/* Of "f(int)::{lambda()#2}::operator()" (g++) and "f(int)::$_1::operator()"
 * (clang++) the length of "f(int)"; 0 for any other name. */
static size_t lambda_owner(const char *text)
{
    static const char call[] = "::operator()";
    size_t n = without_arguments(text, strlen(text));
    if (!ends_with(text, n, call))
        return 0;
    size_t depth = 0, start = n - (sizeof call - 1);
    while (start > 0 && (depth || text[start - 1] != ':')) {
        start--;
        depth += strchr(")}>]", text[start]) != NULL;
        depth -= depth && strchr("({<[", text[start]);
    }
    if (start < 3 || (strncmp(text + start, "{lambda(", 8) != 0 &&
                      strncmp(text + start, "$_", 2) != 0 &&
                      strncmp(text + start, "'lambda", 7) != 0))
        return 0;
    return start - 2;
}

/* Without parameters and return type. */
static char *brief(struct lh_pool *pool, char *text)
{
    size_t n = without_parameters(text, without_qualifiers(text, strlen(text)));
    text[n] = '\0';
    text += name_start(text, n);
    size_t owner = lambda_owner(text);
    if (owner) {
        text[owner] = '\0';
        return lh_demangle_lambda(pool, brief(pool, text));
    }
    return shorten(pool, text);
}

char *lh_demangle_lambda(struct lh_pool *pool, const char *function)
{
    return lh_pool_format(pool, *function ? "lambda in %s" : "lambda%s",
                          function);
}

char *lh_demangle_brief(struct lh_pool *pool, const char *name)
{
    char *text = lh_demangle_full(pool, name);
    if (strncmp(name, "_Z", 2) != 0 || strcmp(text, name) == 0)
        return text;
    return brief(pool, text);
}

char *lh_demangle_shorten(struct lh_pool *pool, const char *name)
{
    return shorten(pool, lh_pool_copy(pool, name));
}
