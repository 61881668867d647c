/* SPDX-License-Identifier: MIT
 * lasting.c - names that are the same in another run and another build. */
#include "lasting.h"

#include <string.h>

#include "explain.h"
#include "naming.h"
#include "place.h"
#include "pool.h"
#include "style.h"
#include "trace.h"

static bool only_digits(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

const char *lh_lasting_name(const struct lh_explain *e, uint64_t lock)
{
    char *name = lh_style_strip(lh_pool_copy(e->pool, lh_naming_lock(e, lock)));
    char *number = strrchr(name, '#');
    if (number && number > name && number[-1] == ' ' && only_digits(number + 1))
        number[-1] = '\0';
    return name;
}

/* "accounts[3]" becomes "accounts[*]". */
static void star_indices(char *name)
{
    char *to = name;
    for (const char *from = name; *from;) {
        size_t digits = 0;
        if ((*to++ = *from++) == '[')
            digits = strspn(from, "0123456789");
        if (!digits || from[digits] != ']')
            continue;
        *to++ = '*';
        from += digits;
    }
    *to = '\0';
}

/* "mutex@src/bank.c:31" becomes "mutex@*bank.c:*": which folders are shown
 * depends on the working folder. */
static const char *star_place(const struct lh_explain *e, char *name,
                              char *place, char *line)
{
    *place = *line = '\0';
    return lh_pool_format(e->pool, "%s@*%s:*", name, lh_place_base(place + 1));
}

const char *lh_lasting_lock(const struct lh_explain *e, uint64_t lock)
{
    char *name = lh_pool_copy(e->pool, lh_lasting_name(e, lock));
    char *line = strrchr(name, ':'), *address = strstr(name, " at 0x");
    char *place = strchr(name, '@');
    if (place && line > place && only_digits(line + 1))
        return star_place(e, name, place, line);
    if (address)
        strcpy(address + strlen(" at 0x"), "*");
    star_indices(name);
    return name;
}

const char *lh_lasting_function(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? lh_explain_clean(e, t.lines[0].function) : "";
}

const char *lh_lasting_object(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? lh_explain_clean(e, lh_place_base(t.lines[0].module)) : "";
}
