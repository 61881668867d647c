/* SPDX-License-Identifier: MIT
 * buffer.c - the bounded buffer. */
#include "ord/buffer.h"

#include <errno.h>

int ord_buffer_init(struct ord_buffer *buffer, void **slots, size_t capacity)
{
    if (!slots || capacity == 0)
        return EINVAL;
    ord_mutex_init(&buffer->lock);
    ord_cond_init(&buffer->not_full);
    ord_cond_init(&buffer->not_empty);
    buffer->slots = slots;
    buffer->capacity = capacity;
    buffer->head = 0;
    buffer->nitems = 0;
    return 0;
}

int ord_buffer_destroy(struct ord_buffer *buffer)
{
    int busy;

    ord_mutex_lock(&buffer->lock);
    busy = buffer->nitems > 0 || buffer->not_full.nwaiting > 0 ||
           buffer->not_empty.nwaiting > 0;
    ord_mutex_unlock(&buffer->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&buffer->not_full);
    ord_cond_destroy(&buffer->not_empty);
    return ord_mutex_destroy(&buffer->lock);
}

static int has_room(void *arg)
{
    const struct ord_buffer *buffer = arg;

    return buffer->nitems < buffer->capacity;
}

static int has_item(void *arg)
{
    const struct ord_buffer *buffer = arg;

    return buffer->nitems > 0;
}

int ord_buffer_put(struct ord_buffer *buffer, void *item, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&buffer->lock);
    rc = ord_cond_timedwait(&buffer->not_full, &buffer->lock, has_room, buffer,
                            deadline);
    if (rc == 0) {
        size_t tail = (buffer->head + buffer->nitems++) % buffer->capacity;
        buffer->slots[tail] = item;
        ord_cond_signal(&buffer->not_empty);
    }
    ord_mutex_unlock(&buffer->lock);
    return rc;
}

int ord_buffer_get(struct ord_buffer *buffer, void **item, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&buffer->lock);
    rc = ord_cond_timedwait(&buffer->not_empty, &buffer->lock, has_item, buffer,
                            deadline);
    if (rc == 0) {
        *item = buffer->slots[buffer->head];
        buffer->head = (buffer->head + 1) % buffer->capacity;
        buffer->nitems--;
        ord_cond_signal(&buffer->not_full);
    }
    ord_mutex_unlock(&buffer->lock);
    return rc;
}

size_t ord_buffer_depth(struct ord_buffer *buffer)
{
    size_t n;

    ord_mutex_lock(&buffer->lock);
    n = buffer->nitems;
    ord_mutex_unlock(&buffer->lock);
    return n;
}
