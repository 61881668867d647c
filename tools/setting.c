/* SPDX-License-Identifier: MIT
 * setting.c - the LOCKHOUND variable. */
#include "setting.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pool.h"

static bool has_key(const char *item, size_t n, const char *key)
{
    size_t length = strlen(key);
    return n >= length && memcmp(item, key, length) == 0 &&
           (n == length || item[length] == '=');
}

static void decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned byte;
        if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1 && byte &&
            strspn(from + 1, "0123456789abcdefABCDEF") >= 2) {
            *to++ = (char)byte;
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static char *encode(struct lh_pool *pool, const char *text)
{
    char *coded = lh_pool_alloc(pool, strlen(text) * 3 + 1);
    char *to = coded;
    for (; *text; text++)
        to += sprintf(to, *text == ',' || *text == '%' ? "%%%02X" : "%c",
                      (unsigned char)*text);
    return coded;
}

char *lh_setting_get(struct lh_pool *pool, const char *list, const char *key)
{
    char *found = NULL;
    while (list && *list) {
        size_t n = strcspn(list, ",");
        if (has_key(list, n, key)) {
            size_t skip = strlen(key) + (n > strlen(key));
            found = lh_pool_format(pool, "%.*s", (int)(n - skip), list + skip);
            decode(found);
        }
        list += n;
        list += *list == ',';
    }
    return found;
}

char *lh_setting_put(struct lh_pool *pool, const char *list, const char *key,
                     const char *value)
{
    char *result = lh_pool_copy(pool, "");
    while (list && *list) {
        size_t n = strcspn(list, ",");
        if (n && !has_key(list, n, key))
            result = lh_pool_format(pool, "%s%s%.*s", result,
                                    *result ? "," : "", (int)n, list);
        list += n;
        list += *list == ',';
    }
    if (!value)
        return result;
    return lh_pool_format(pool, "%s%s%s=%s", result, *result ? "," : "", key,
                          encode(pool, value));
}
