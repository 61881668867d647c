/* SPDX-License-Identifier: MIT
 * config.c - what the LOCKHOUND variable asks for. */
#include "runtime/config.h"

#include <string.h>

#include "runtime/fmt.h"

struct lh_config lh_config;

struct text {
    const char *at;
    size_t n;
};

static bool is(struct text t, const char *word)
{
    return strlen(word) == t.n && memcmp(t.at, word, t.n) == 0;
}

static void append(char *buffer, size_t size_bytes, const char *s, size_t n)
{
    size_t used = strlen(buffer);

    if (n > size_bytes - 1 - used)
        n = size_bytes - 1 - used;
    memcpy(buffer + used, s, n);
    buffer[used + n] = '\0';
}

/* Keeps the first complaint: "<what> <value>: expected <expected>". */
static void complain(struct lh_config *config, const char *what,
                     struct text value, const char *expected)
{
    char *c = config->complaint;
    size_t size = sizeof config->complaint;

    if (*c)
        return;
    append(c, size, what, strlen(what));
    append(c, size, " '", 2);
    append(c, size, value.at, value.n > 40 ? 40 : value.n);
    append(c, size, "' in LOCKHOUND ignored; expected ", 33);
    append(c, size, expected, strlen(expected));
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Copies a value with its %XX resolved; false if it does not fit. */
static bool unescape(struct text v, char *out, size_t size_bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < v.n; i++) {
        char c = v.at[i];
        if (c == '%' && i + 2 < v.n && hex_digit(v.at[i + 1]) >= 0 &&
            hex_digit(v.at[i + 2]) >= 0) {
            c = (char)(hex_digit(v.at[i + 1]) << 4 | hex_digit(v.at[i + 2]));
            i += 2;
        }
        if (n + 1 >= size_bytes)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

static bool size_value(struct text v, size_t *bytes)
{
    uint64_t n;
    unsigned shift = 0;

    if (v.n && v.at[v.n - 1] > '9') {
        switch (v.at[v.n - 1] | 0x20) {
        case 'k':
            shift = 10;
            break;
        case 'm':
            shift = 20;
            break;
        case 'g':
            shift = 30;
            break;
        default:
            return false;
        }
        v.n--;
    }
    if (!lh_fmt_parse_unsigned(v.at, v.n, &n) || n << shift >> shift != n)
        return false;
    *bytes = n << shift;
    return true;
}

static void set(struct lh_config *config, struct text key, struct text v)
{
    uint64_t n;

    if (is(key, "dir")) {
        if (!unescape(v, config->dir, sizeof config->dir) ||
            config->dir[0] != '/') {
            config->dir[0] = '\0';
            complain(config, "dir", v, "an absolute path");
        }
    } else if (is(key, "stacks")) {
        if (is(v, "auto"))
            config->stacks = LH_STACKS_AUTO;
        else if (is(v, "exact"))
            config->stacks = LH_STACKS_EXACT;
        else if (is(v, "pc"))
            config->stacks = LH_STACKS_PC;
        else
            complain(config, "stacks", v, "auto, exact or pc");
    } else if (is(key, "memory")) {
        if (!size_value(v, &config->memory_bytes))
            complain(config, "memory", v, "a size such as 512M");
    } else if (is(key, "on-deadlock")) {
        if (is(v, "report"))
            config->on_deadlock = LH_ON_DEADLOCK_REPORT;
        else if (is(v, "exit"))
            config->on_deadlock = LH_ON_DEADLOCK_EXIT;
        else if (is(v, "abort"))
            config->on_deadlock = LH_ON_DEADLOCK_ABORT;
        else
            complain(config, "on-deadlock", v, "report, exit or abort");
    } else if (is(key, "print")) {
        if (is(v, "none") || is(v, "stderr"))
            config->print = is(v, "stderr");
        else
            complain(config, "print", v, "stderr or none");
    } else if (is(key, "all")) {
        config->all = true;
    } else if (is(key, "exit-code")) {
        if (lh_fmt_parse_unsigned(v.at, v.n, &n) && n <= 255)
            config->exit_code = (int)n;
        else
            complain(config, "exit-code", v, "0 to 255");
    } else if (key.n) {
        complain(config, "key", key,
                 "dir, stacks, memory, on-deadlock, print, all or exit-code");
    }
}

void lh_config_parse(struct lh_config *config, const char *value)
{
    *config = (struct lh_config){ .print = true };
    while (value && *value) {
        size_t n = strcspn(value, ",");
        const char *equals = memchr(value, '=', n);
        struct text key = { value, equals ? (size_t)(equals - value) : n };
        struct text v = { equals ? equals + 1 : value + n,
                          equals ? n - key.n - 1 : 0 };

        set(config, key, v);
        value += n;
        if (*value == ',')
            value++;
    }
}
