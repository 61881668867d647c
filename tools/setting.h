/* SPDX-License-Identifier: MIT
 *
 * setting.h - the LOCKHOUND variable: key=value,key=value, where %XX in a
 * value stands for the byte XX.
 */
#ifndef LH_TOOLS_SETTING_H
#define LH_TOOLS_SETTING_H

struct lh_pool;

/* The value of the last such key, decoded; NULL if there is none. list may be
 * NULL. */
char *lh_setting_get(struct lh_pool *pool, const char *list, const char *key);

/* The list with this key set to value alone, or without it if value is NULL. */
char *lh_setting_put(struct lh_pool *pool, const char *list, const char *key,
                     const char *value);

#endif
