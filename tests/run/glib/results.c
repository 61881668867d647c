/* SPDX-License-Identifier: MIT
 * results.c - what GLib's lock functions return, and what they leave behind:
 * printed, to be compared with a run alone. */
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <gio/gio.h>

#include "../guest/guest.h"

#define SHOW(format, ...) printf("%d: " format "\n", __LINE__, __VA_ARGS__)

static GMutex mutex;
static GRecMutex rec;
static GRWLock rw;
static GCond condition;

/* What another thread can get. */
static void *probe(void *unused)
{
    gboolean m = g_mutex_trylock(&mutex), r = g_rec_mutex_trylock(&rec);
    gboolean read = g_rw_lock_reader_trylock(&rw), write;

    if (read)
        g_rw_lock_reader_unlock(&rw);
    write = g_rw_lock_writer_trylock(&rw);
    printf("other gets %d %d %d %d\n", m, r, read, write);
    if (m)
        g_mutex_unlock(&mutex);
    if (r)
        g_rec_mutex_unlock(&rec);
    if (write)
        g_rw_lock_writer_unlock(&rw);
    return unused;
}

static void show_what_is_free(void)
{
    g_thread_join(g_thread_new("probe", probe, NULL));
}

static void locks(void)
{
    errno = EXDEV;
    SHOW("%d", g_mutex_trylock(&mutex));
    SHOW("%d", g_mutex_trylock(&mutex));
    g_rec_mutex_lock(&rec);
    SHOW("%d", g_rec_mutex_trylock(&rec));
    g_rw_lock_reader_lock(&rw);
    SHOW("%d", g_rw_lock_reader_trylock(&rw));
    SHOW("%d", g_rw_lock_writer_trylock(&rw));
    SHOW("errno %d", errno);
    show_what_is_free();
    g_rec_mutex_unlock(&rec);
    g_rw_lock_reader_unlock(&rw);
    show_what_is_free();
    g_mutex_unlock(&mutex);
    g_rec_mutex_unlock(&rec);
    g_rw_lock_reader_unlock(&rw);
    show_what_is_free();
    g_rw_lock_writer_lock(&rw);
    SHOW("%d", g_rw_lock_writer_trylock(&rw));
    show_what_is_free();
    g_rw_lock_writer_unlock(&rw);
    show_what_is_free();
}

static void conditions(void)
{
    GTimeVal past = { 1, 0 };

    g_mutex_lock(&mutex);
    SHOW("%d", g_cond_wait_until(&condition, &mutex, 1));
    SHOW("%d", g_cond_timed_wait(&condition, &mutex, &past));
    show_what_is_free();
    g_mutex_unlock(&mutex);
    show_what_is_free();
}

static void *twice(void *argument)
{
    return (char *)argument + 1;
}

static void onces(void)
{
    static GOnce once = G_ONCE_INIT;
    static gsize location;

    SHOW("%p", g_once(&once, twice, (void *)4));
    SHOW("%p", g_once(&once, twice, (void *)6));
    SHOW("%d", g_once_init_enter(&location));
    g_once_init_leave(&location, 77);
    SHOW("%d", g_once_init_enter(&location));
    SHOW("%d", (int)location);
}

static void olds(void)
{
    GMutex *made = g_mutex_new();
    static GStaticMutex s = G_STATIC_MUTEX_INIT;
    static GStaticRecMutex r = G_STATIC_REC_MUTEX_INIT;
    static GStaticRWLock l = G_STATIC_RW_LOCK_INIT;

    SHOW("%d", g_mutex_trylock(made));
    g_mutex_unlock(made);
    g_mutex_free(made);
    SHOW("%d", g_static_mutex_trylock(&s));
    SHOW("%d", g_static_mutex_trylock(&s));
    g_static_mutex_unlock(&s);
    g_static_mutex_free(&s);
    g_static_rec_mutex_lock_full(&r, 0);
    g_static_rec_mutex_lock_full(&r, 3);
    SHOW("%d", g_static_rec_mutex_trylock(&r));
    SHOW("%u", g_static_rec_mutex_unlock_full(&r));
    SHOW("%u", g_static_rec_mutex_unlock_full(&r));
    g_static_rec_mutex_free(&r);
    SHOW("%d", g_static_rw_lock_reader_trylock(&l));
    SHOW("%d", g_static_rw_lock_reader_trylock(&l));
    SHOW("%d", g_static_rw_lock_writer_trylock(&l));
    g_static_rw_lock_reader_unlock(&l);
    g_static_rw_lock_reader_unlock(&l);
    SHOW("%d", g_static_rw_lock_writer_trylock(&l));
    SHOW("%d", g_static_rw_lock_reader_trylock(&l));
    g_static_rw_lock_writer_unlock(&l);
    g_static_rw_lock_free(&l);
}

/* A child of fork has what its parent held. */
static void forked(void)
{
    pid_t child;
    int status;

    g_mutex_lock(&mutex);
    g_rec_mutex_lock(&rec);
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        SHOW("%d %d", g_mutex_trylock(&mutex), g_rec_mutex_trylock(&rec));
        g_mutex_unlock(&mutex);
        g_rec_mutex_unlock(&rec);
        g_rec_mutex_unlock(&rec);
        show_what_is_free();
        fflush(stdout);
        _exit(5);
    }
    CHECK(waitpid(child, &status, 0) == child);
    SHOW("%d", WEXITSTATUS(status));
    g_mutex_unlock(&mutex);
    g_rec_mutex_unlock(&rec);
}

static void in_pool(void *data, void *sum)
{
    g_mutex_lock(&mutex);
    *(int *)sum += GPOINTER_TO_INT(data);
    g_cond_signal(&condition);
    g_mutex_unlock(&mutex);
}

static void pool(void)
{
    int sum = 0;
    GThreadPool *p = g_thread_pool_new(in_pool, &sum, 4, FALSE, NULL);

    for (int i = 1; i <= 100; i++)
        g_thread_pool_push(p, GINT_TO_POINTER(i), NULL);
    g_mutex_lock(&mutex);
    while (sum != 5050)
        g_cond_wait(&condition, &mutex);
    g_mutex_unlock(&mutex);
    g_thread_pool_free(p, FALSE, TRUE);
    SHOW("%d", sum);
}

/* Through libgobject and libgio, which take GLib's locks by its names. */
static void objects(void)
{
    GFile *file = g_file_new_for_path("/etc");
    GFileInfo *info = g_file_query_info(file, "standard::type", 0, NULL, NULL);

    SHOW("%d", g_file_info_get_file_type(info));
    g_object_unref(info);
    g_object_unref(file);
}

int main(void)
{
    locks();
    conditions();
    onces();
    olds();
    forked();
    pool();
    objects();
    return 0;
}
