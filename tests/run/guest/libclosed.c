/* SPDX-License-Identifier: MIT
 * libclosed.c - a library with a lock and a place that locks, to be closed. */
#include <pthread.h>

extern pthread_mutex_t library_lock;
pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

void library_nest(pthread_mutex_t *outer, pthread_mutex_t *inner);
void library_nest(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}
