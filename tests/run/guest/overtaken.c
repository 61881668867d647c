/* SPDX-License-Identifier: MIT
 *
 * overtaken.c - the process ends while one of its threads has yet to write
 * what it has recorded. A debugger holds that thread there, and sets `done`.
 */
#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;
static int created, done;

static void *second(void *arg)
{
    wait_flag(&created);
    nest(&a, &b);
    return arg;
}

int main(void)
{
    go(second, NULL);
    set_flag(&created); /* from here on, this thread is in no hook */
    wait_flag(&done);
    unlock(&b); /* a misuse: the other thread has it */
    return 0;
}
