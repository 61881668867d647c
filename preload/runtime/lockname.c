/* SPDX-License-Identifier: MIT
 * lockname.c - what a lock is called by its nature, whatever its symbol. */
#include "runtime/lockname.h"

#include <stdio.h>
#include <string.h>

#include "runtime/lockkind.h"
#include "runtime/sys.h"

static bool copy(char name[LH_LOCKNAME_BYTES], const char *text)
{
    memcpy(name, text, strlen(text) + 1);
    return true;
}

/* As the C library has it: a stream that was closed since may be unmapped, and
 * one in memory has no descriptor. */
static int descriptor_of(const FILE *stream)
{
    return lh_sys_can_read(&stream->_fileno) ? stream->_fileno : -1;
}

/* At the end of the text. */
static void add_number(char *text, unsigned n)
{
    char digits[12], *first = digits + sizeof digits - 1;

    for (*first = '\0'; n > 0; n /= 10)
        *--first = (char)('0' + n % 10);
    memcpy(text + strlen(text), first, strlen(first) + 1);
}

static bool name_stream(const FILE *stream, char name[LH_LOCKNAME_BYTES])
{
    static const char *const standard[] = { "stdin", "stdout", "stderr" };
    int fd = descriptor_of(stream);

    if (fd < 0)
        return false;
    if (fd < 3)
        return copy(name, standard[fd]);
    copy(name, "stream of descriptor ");
    add_number(name, (unsigned)fd);
    return true;
}

bool lh_lockname(const struct lh_lock_info *lock, char name[LH_LOCKNAME_BYTES])
{
    switch (lock->kind) {
    case LH_KIND_LOADER:
        return copy(name, "_dl_load_lock");
    case LH_KIND_LOADER_WRITE:
        return copy(name, "_dl_load_write_lock");
    case LH_KIND_FILE:
        return name_stream((const FILE *)lock->address, name);
    default:
        return false;
    }
}
