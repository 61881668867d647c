/* SPDX-License-Identifier: MIT
 * libearly.c - locks taken before main and after it, by a library. */
#include "guest.h"

mutex_t ctor_a = MUTEX, ctor_b = MUTEX, dtor_a = MUTEX, dtor_b = MUTEX;

__attribute__((constructor)) static void before_main(void)
{
    nest(&ctor_a, &ctor_b);
}

__attribute__((destructor)) static void after_main(void)
{
    nest(&dtor_a, &dtor_b);
}
