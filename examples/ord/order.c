/* SPDX-License-Identifier: MIT
 * order.c - takes several mutexes in one order, or all or none. */
#include "ord/order.h"

#include <errno.h>
#include <stdbool.h>

/* What is sorted: mutexes and, unless NULL, their ranks along with them. */
struct row {
    struct ord_mutex **mutexes;
    int64_t *ranks;
    bool by_rank; /* or by address alone */
};

static bool comes_before(const struct row *row, size_t a, size_t b)
{
    if (row->by_rank && row->ranks[a] != row->ranks[b])
        return row->ranks[a] < row->ranks[b];
    return (uintptr_t)row->mutexes[a] < (uintptr_t)row->mutexes[b];
}

static void exchange(const struct row *row, size_t a, size_t b)
{
    struct ord_mutex *mutex = row->mutexes[a];

    row->mutexes[a] = row->mutexes[b];
    row->mutexes[b] = mutex;
    if (row->ranks) {
        int64_t rank = row->ranks[a];

        row->ranks[a] = row->ranks[b];
        row->ranks[b] = rank;
    }
}

/* Moves the element at root down in a heap of n whose top comes last. */
static void sift_down(const struct row *row, size_t root, size_t n)
{
    size_t child;

    while ((child = 2 * root + 1) < n) {
        if (child + 1 < n && comes_before(row, child, child + 1))
            child++;
        if (!comes_before(row, root, child))
            return;
        exchange(row, root, child);
        root = child;
    }
}

/* A heap sort: qsort() may allocate, and knows nothing of two arrays. */
static void sort(const struct row *row, size_t n)
{
    for (size_t root = n / 2; root-- > 0;)
        sift_down(row, root, n);
    for (size_t end = n; end > 1; end--) {
        exchange(row, 0, end - 1);
        sift_down(row, 0, end - 1);
    }
}

/* Sorts, by address first: that makes NULL the first and twins neighbours,
 * which by rank they need not be. */
static int sort_distinct(struct ord_mutex **mutexes, int64_t *ranks, size_t n)
{
    struct row row = { mutexes, ranks, false };

    sort(&row, n);
    if (n > 0 && !mutexes[0])
        return EINVAL;
    for (size_t i = 1; i < n; i++)
        if (mutexes[i - 1] == mutexes[i])
            return EINVAL;
    if (ranks) {
        row.by_rank = true;
        sort(&row, n);
    }
    return 0;
}

int ord_lock_all(struct ord_mutex **mutexes, int64_t *ranks, size_t n)
{
    int rc = sort_distinct(mutexes, ranks, n);

    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = ord_mutex_lock(mutexes[i]);
        if (rc != 0)
            ord_unlock_all(mutexes, i);
    }
    return rc;
}

int ord_unlock_all(struct ord_mutex *const *mutexes, size_t n)
{
    int first_error = 0;

    while (n-- > 0) {
        int rc = ord_mutex_unlock(mutexes[n]);
        if (first_error == 0)
            first_error = rc;
    }
    return first_error;
}

int ord_lock_pair(struct ord_mutex *a, struct ord_mutex *b)
{
    struct ord_mutex *both[] = { a, b };

    return ord_lock_all(both, NULL, 2);
}

int ord_unlock_pair(struct ord_mutex *a, struct ord_mutex *b)
{
    struct ord_mutex *both[] = { a, b };

    return ord_unlock_all(both, 2);
}

/* A round goes through all n, from start and around the end. This releases
 * those that it has taken. */
static void unlock_round(struct ord_mutex **mutexes, size_t n, size_t start,
                         size_t nlocked)
{
    while (nlocked-- > 0)
        ord_mutex_unlock(mutexes[(start + nlocked) % n]);
}

/* Takes the rest of a round of which nlocked are taken. On failure none is
 * left, and *start is the one that was busy. */
static int try_round(struct ord_mutex **mutexes, size_t n, size_t *start,
                     size_t nlocked)
{
    for (; nlocked < n; nlocked++) {
        size_t i = (*start + nlocked) % n;
        int rc = ord_mutex_trylock(mutexes[i]);

        if (rc != 0) {
            unlock_round(mutexes, n, *start, nlocked);
            *start = i;
            return rc;
        }
    }
    return 0;
}

int ord_trylock_all(struct ord_mutex **mutexes, size_t n, size_t *start)
{
    size_t first = 0;

    if (!start)
        start = &first;
    if (*start != 0 && *start >= n)
        return EINVAL;
    int rc = sort_distinct(mutexes, NULL, n);
    return rc ? rc : try_round(mutexes, n, start, 0);
}

int ord_timedlock_all(struct ord_mutex **mutexes, size_t n, ord_ns deadline)
{
    size_t start = 0;
    int rc = sort_distinct(mutexes, NULL, n);

    if (rc != 0 || n == 0)
        return rc;
    do {
        rc = ord_mutex_timedlock(mutexes[start], deadline);
        if (rc != 0)
            return rc;
        rc = try_round(mutexes, n, &start, 1);
    } while (rc == EBUSY && ord_now() < deadline);
    return rc == EBUSY ? ETIMEDOUT : rc;
}

int ord_lock_next(struct ord_mutex *prev, struct ord_mutex *next)
{
    int rc;

    if (prev == next)
        return EINVAL;
    if (!next)
        return ord_mutex_unlock(prev);
    rc = ord_mutex_lock(next);
    if (rc != 0 || !prev)
        return rc;
    rc = ord_mutex_unlock(prev);
    if (rc != 0)
        ord_mutex_unlock(next);
    return rc;
}
