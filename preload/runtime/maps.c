/* SPDX-License-Identifier: MIT
 * maps.c - what /proc/self/maps says about an address. */
#include "runtime/maps.h"

#include <fcntl.h>
#include <stddef.h>

#include "runtime/sys.h"

/* A line is "LOW-HIGH rwxp ...": its fields are read a byte at a time, as lines
 * have no limit. */
struct reader {
    enum { LOW, HIGH, MODE, REST } field;
    uintptr_t low, high;
    unsigned nmode; /* letters of the mode so far */
    bool shared;
};

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* True at the end of a line's mode: the line is known. */
static bool take(struct reader *r, char c)
{
    if (c == '\n') {
        *r = (struct reader){ .field = LOW };
        return false;
    }
    switch (r->field) {
    case LOW:
        if (c == '-')
            r->field = HIGH;
        else
            r->low = r->low << 4 | digit(c);
        return false;
    case HIGH:
        if (c == ' ')
            r->field = MODE;
        else
            r->high = r->high << 4 | digit(c);
        return false;
    case MODE:
        if (++r->nmode < 4)
            return false;
        r->shared = c == 's';
        r->field = REST;
        return true;
    case REST:
        return false;
    }
    return false;
}

bool lh_maps_may_be_shared(uintptr_t address)
{
    struct reader r = { .field = LOW };
    bool shared = true;
    char block[512];
    long n, fd = lh_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return true;
    while ((n = lh_sys_read((int)fd, block, sizeof block)) > 0)
        for (long i = 0; i < n; i++)
            if (take(&r, block[i]) && r.low <= address && address < r.high)
                shared = r.shared;
    lh_sys_close((int)fd);
    return shared;
}
