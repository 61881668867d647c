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

const char *lh_lasting_lock(const struct lh_explain *e, uint64_t lock)
{
    char *name = lh_pool_copy(e->pool, lh_lasting_name(e, lock));
    char *line = strrchr(name, ':'), *address = strstr(name, " at 0x");
    if (strchr(name, '@') && line && only_digits(line + 1))
        strcpy(line + 1, "*");
    else if (address)
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
