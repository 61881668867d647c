/* SPDX-License-Identifier: MIT
 * items.c - a ring or a heap of items. */
#include "ord/items.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int ord_items_init(struct ord_items *items, enum ord_order order,
                   size_t capacity)
{
    struct ord_item *slots;

    if (capacity == 0 ||
        (order != ORD_FIFO && order != ORD_LIFO && order != ORD_PRIORITY))
        return EINVAL;
    slots = calloc(capacity, sizeof(*slots));
    if (!slots)
        return ENOMEM;
    *items = (struct ord_items){ .slots = slots,
                                 .order = order,
                                 .capacity = capacity };
    return 0;
}

void ord_items_destroy(struct ord_items *items)
{
    free(items->slots);
    items->slots = NULL;
}

/* The slot `i` places after the head. */
static struct ord_item *item_at(const struct ord_items *items, size_t i)
{
    size_t room = items->capacity - items->head;

    return &items->slots[i < room ? items->head + i : i - room];
}

static bool leaves_before(const struct ord_item *a, const struct ord_item *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->turn < b->turn;
}

static void swap(struct ord_item *a, struct ord_item *b)
{
    struct ord_item t = *a;

    *a = *b;
    *b = t;
}

static void sift_up(struct ord_item *heap, size_t i)
{
    while (i > 0 && leaves_before(&heap[i], &heap[(i - 1) / 2])) {
        swap(&heap[i], &heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static void sift_down(struct ord_item *heap, size_t n, size_t i)
{
    for (;;) {
        size_t first = i;
        size_t left = 2 * i + 1;

        if (left < n && leaves_before(&heap[left], &heap[first]))
            first = left;
        if (left + 1 < n && leaves_before(&heap[left + 1], &heap[first]))
            first = left + 1;
        if (first == i)
            return;
        swap(&heap[i], &heap[first]);
        i = first;
    }
}

void ord_items_add(struct ord_items *items, void *value, int priority)
{
    *item_at(items, items->n++) =
        (struct ord_item){ value, priority, items->nturns++ };
    if (items->order == ORD_PRIORITY)
        sift_up(items->slots, items->n - 1);
}

static void remove_from_heap(struct ord_items *items, size_t i)
{
    size_t last = --items->n;

    if (i == last)
        return;
    items->slots[i] = items->slots[last];
    sift_down(items->slots, last, i);
    sift_up(items->slots, i);
}

static void remove_from_ring(struct ord_items *items, size_t i)
{
    items->n--;
    if (i == 0) {
        items->head = items->head + 1 < items->capacity ? items->head + 1 : 0;
        return;
    }
    for (; i < items->n; i++)
        *item_at(items, i) = *item_at(items, i + 1);
}

static void *take_at(struct ord_items *items, size_t i)
{
    void *value = item_at(items, i)->value;

    if (items->order == ORD_PRIORITY)
        remove_from_heap(items, i);
    else
        remove_from_ring(items, i);
    return value;
}

void *ord_items_take(struct ord_items *items)
{
    return take_at(items, items->order == ORD_LIFO ? items->n - 1 : 0);
}

void *ord_items_displace(struct ord_items *items)
{
    size_t last = 0;

    if (items->order == ORD_PRIORITY)
        for (size_t i = 1; i < items->n; i++)
            if (leaves_before(&items->slots[last], &items->slots[i]))
                last = i;
    return take_at(items, last);
}

int ord_items_remove(struct ord_items *items, const void *value)
{
    for (size_t i = 0; i < items->n; i++) {
        if (item_at(items, i)->value == value) {
            take_at(items, i);
            return 0;
        }
    }
    return ENOENT;
}
