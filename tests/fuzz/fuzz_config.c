/* SPDX-License-Identifier: MIT
 * fuzz_config.c - the LOCKHOUND variable, as the preload and the command read
 * it; and what the command writes for the preload. The input is the variable
 * and, after the end of a line, a folder. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "pool.h"
#include "runtime/config.h"
#include "setting.h"

static void expect_folder(const char *list, const char *dir)
{
    struct lh_pool pool = { 0 };
    struct lh_config config;
    const char *put = lh_setting_put(&pool, list, "dir", dir);
    const char *got = lh_setting_get(&pool, put, "dir");
    fuzz_expect(got && strcmp(got, dir) == 0,
                "the command reads what it has written");
    lh_config_parse(&config, put);
    if (*dir == '/' && strlen(dir) < sizeof config.dir)
        fuzz_expect(strcmp(config.dir, dir) == 0,
                    "the preload reads what the command has written");
    lh_pool_free(&pool);
}

void fuzz_one(const uint8_t *data, size_t n)
{
    struct lh_config config;
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = '\0';
    lh_config_parse(&config, text);
    fuzz_expect(strnlen(config.complaint, sizeof config.complaint) <
                    sizeof config.complaint,
                "a complaint has an end");
    char *dir = strchr(text, '\n');
    if (dir) {
        *dir++ = '\0';
        expect_folder(text, dir);
    }
    free(text);
}
