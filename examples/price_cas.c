/* SPDX-License-Identifier: MIT
 *
 * price_cas.c - two writers, no lock: compare and set.
 *
 * A and B read the same price; A is faster. B is told so instead of writing
 * over it, reads again, and succeeds.
 */
#include <inttypes.h>
#include <ord/cas.h>
#include <stdio.h>

static void set(struct ord_cas *price, const char *who, int64_t expected,
                int64_t desired)
{
    int64_t seen;

    if (ord_cas_compare_and_set(price, expected, desired, &seen) == 0)
        printf("%s sets %" PRId64 "\n", who, desired);
    else
        printf("%s's %" PRId64 " fails: the price is %" PRId64 "\n", who,
               desired, seen);
}

int main(void)
{
    struct ord_cas price = ORD_CAS_INIT(50);
    int64_t read_by_a = ord_cas_read(&price), read_by_b = ord_cas_read(&price);

    printf("A and B read %" PRId64 "\n", read_by_a);
    set(&price, "A", read_by_a, 55);
    set(&price, "B", read_by_b, 60);
    set(&price, "B", ord_cas_read(&price), 60);
    printf("the price is %" PRId64 "\n", ord_cas_read(&price));
    return 0;
}
