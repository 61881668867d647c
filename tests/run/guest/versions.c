/* SPDX-License-Identifier: MIT
 *
 * versions.c - callers who ask for a version: by dlvsym, and an old program
 * whose condition variable has eight bytes.
 */
#include <dlfcn.h>

#include "guest.h"
#include "lockhound.h"

static mutex_t a = MUTEX;

/* The names that old programs ask for; glibc's newer ones are the same. */
static const struct {
    const char *name, *version;
} old[] = {
    { "pthread_mutex_trylock", "GLIBC_2.2.5" },
    { "pthread_mutex_trylock", "GLIBC_2.34" },
    { "pthread_mutex_lock", "GLIBC_2.2.5" },
};

static void found_by(void *how)
{
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        int (*take)(mutex_t *) =
            (int (*)(mutex_t *))dlvsym(how, old[i].name, old[i].version);

        CHECK(take);
        lockhound_assert_not_held(&a);
        CHECK(take(&a) == 0);
        lockhound_assert_held(&a);
        unlock(&a);
    }
}

#ifdef __x86_64__
__asm__(".symver old_cond_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_cond_signal, pthread_cond_signal@GLIBC_2.2.5");
extern int old_cond_init(void *, void *);
extern int old_cond_wait(void *, mutex_t *);
extern int old_cond_signal(void *);

static struct {
    long cond;
    long behind[16];
} object;
static int told;

static void *tells(void *unused)
{
    lock(&a);
    told = 1;
    old_cond_signal(&object.cond);
    unlock(&a);
    return unused;
}

static void old_condition(void)
{
    pthread_t t;

    memset(object.behind, 0x5a, sizeof object.behind);
    CHECK(old_cond_init(&object.cond, NULL) == 0);
    lock(&a);
    t = go(tells, NULL);
    while (!told)
        CHECK(old_cond_wait(&object.cond, &a) == 0);
    unlock(&a);
    join(t);
    for (int i = 0; i < 16; i++)
        CHECK(object.behind[i] == 0x5a5a5a5a5a5a5a5a);
}
#endif

int main(int argc, char **argv)
{
    if (is_mode(argv, "dlvsym")) {
        found_by(RTLD_DEFAULT);
        found_by(RTLD_NEXT);
    }
#ifdef __x86_64__
    if (is_mode(argv, "old-condition"))
        old_condition();
#endif
    (void)argc;
    return 0;
}
