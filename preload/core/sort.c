/* SPDX-License-Identifier: MIT
 *
 * sort.c - sorts numbers in place, without recursion or memory.
 */
#include "sort.h"

static void insertion_sort(uint64_t *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void sift_down(uint64_t *items, size_t root, size_t n)
{
    uint64_t item = items[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && items[child] < items[child + 1])
            child++;
        if (items[child] <= item)
            break;
        items[root] = items[child];
    }
    items[root] = item;
}

void lh_sort_u64(uint64_t *items, size_t n)
{
    if (n <= 24) {
        insertion_sort(items, n);
        return;
    }
    for (size_t i = n / 2; i-- > 0;)
        sift_down(items, i, n);
    for (size_t end = n - 1; end > 0; end--) {
        uint64_t largest = items[0];
        items[0] = items[end];
        items[end] = largest;
        sift_down(items, 0, end);
    }
}

size_t lh_sort_unique(uint64_t *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || items[kept - 1] != items[i])
            items[kept++] = items[i];
    }
    return kept;
}
