/* SPDX-License-Identifier: MIT
 *
 * loader.c - the loader's two locks, beside a mutex.
 *
 * The second argument is the folder of libplugin, which calls back when it is
 * loaded and unloaded.
 */
#include <dlfcn.h>
#include <link.h>

#include "guest.h"
#include "lockhound.h"

static mutex_t m = MUTEX;
static char plugin[4096];

static void set_call(const char *when, void (*call)(void))
{
    char address[32];

    snprintf(address, sizeof address, "%lx", (unsigned long)call);
    CHECK(setenv(when, address, 1) == 0);
}

static void take_m(void)
{
    lock(&m);
    unlock(&m);
}

static void *load(void)
{
    void *handle = dlopen(plugin, RTLD_NOW);

    CHECK(handle);
    return handle;
}

static void *load_thread(void *unused)
{
    CHECK(dlclose(load()) == 0);
    return unused;
}

static void look_up(void)
{
    CHECK(dlsym(RTLD_DEFAULT, "printf"));
}

static void look_up_version(void)
{
    CHECK(dlvsym(RTLD_DEFAULT, "printf", "GLIBC_2.2.5"));
}

static void name(void)
{
    Dl_info info;

    CHECK(dladdr((void *)(uintptr_t)take_m, &info));
}

static void name_more(void)
{
    struct link_map *map = NULL;
    Dl_info info;

    CHECK(dladdr1((void *)(uintptr_t)take_m, &info, (void **)&map,
                  RTLD_DL_LINKMAP) &&
          map);
}

static void load_again(void)
{
    CHECK(dlclose(load()) == 0);
}

static void load_nothing(void)
{
    CHECK(dlopen(NULL, RTLD_LAZY));
    CHECK(!dlopen("/nowhere/none.so", RTLD_LAZY | RTLD_NOLOAD));
}

static int count_object(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info;
    (void)size;
    ++*(int *)n;
    return 0;
}

static void walk(void)
{
    int n = 0;

    CHECK(dl_iterate_phdr(count_object, &n) == 0 && n > 2);
}

/* m, then what the call takes; when the flag is set. */
struct under_m {
    void (*call)(void);
    int *after;
};

static void *call_under_m(void *argument)
{
    struct under_m *u = argument;

    if (u->after)
        wait_flag(u->after);
    lock(&m);
    u->call();
    unlock(&m);
    return NULL;
}

static const struct {
    const char *mode;
    void (*call)(void);
} calls[] = {
    { "dlopen", load_again }, { "dlopen-nothing", load_nothing },
    { "dlsym", look_up },     { "dlvsym", look_up_version },
    { "dladdr", name },       { "dladdr1", name_more },
    { "walk", walk },
};

static void (*call_named(const char *mode))(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].mode, mode) == 0)
            return calls[i].call;
    CHECK(!"a call of that name");
    return NULL;
}

/* first in one thread; m, then the call in another, parallel and later. */
static void beside(void *(*first)(void *), void (*call)(void))
{
    static int is_done;
    struct under_m u = { call, &is_done };
    pthread_t under = go(call_under_m, &u), t = go(first, NULL);

    join(t);
    unsetenv("PLUGIN_LOADED");
    unsetenv("PLUGIN_UNLOADED");
    set_flag(&is_done);
    join(under);
}

/* A constructor takes m while the loader runs it. */
static void constructor(void (*call)(void))
{
    set_call("PLUGIN_LOADED", take_m);
    beside(load_thread, call);
}

static void destructor(void (*call)(void))
{
    set_call("PLUGIN_UNLOADED", take_m);
    beside(load_thread, call);
}

/* All in one thread: a fact of this run stands against it. */
static void alone(void (*call)(void))
{
    struct under_m u = { call, NULL };

    set_call("PLUGIN_LOADED", take_m);
    load_thread(NULL);
    unsetenv("PLUGIN_LOADED");
    call_under_m(&u);
}

/* Calls into the loader that end in a constructor leave it inside. */
static void take_m_after_calls(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].mode, "dlopen") != 0)
            calls[i].call();
    take_m();
}

static void nested(void (*call)(void))
{
    set_call("PLUGIN_LOADED", take_m_after_calls);
    beside(load_thread, call);
}

static mutex_t n = MUTEX;
static int kept_is_done;

static void lock_m(void)
{
    lock(&m);
}

static void *look_up_under_n(void *unused)
{
    wait_flag(&kept_is_done);
    lock(&n);
    look_up();
    unlock(&n);
    return unused;
}

/* What a constructor took it may keep: the loader's lock, below it, goes. */
static void *keep_m(void *unused)
{
    void *handle = load();

    lock(&n);
    unlock(&n);
    look_up();
    lock(&n);
    unlock(&n);
    unlock(&m);
    unsetenv("PLUGIN_LOADED");
    set_flag(&kept_is_done);
    CHECK(dlclose(handle) == 0);
    return unused;
}

static void kept(void)
{
    pthread_t t = go(look_up_under_n, NULL);

    set_call("PLUGIN_LOADED", lock_m);
    join(go(keep_m, NULL));
    join(t);
}

static int take_m_in_walk(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info;
    (void)size;
    (void)unused;
    walk();
    take_m();
    return 7;
}

static void *walk_thread(void *unused)
{
    CHECK(dl_iterate_phdr(take_m_in_walk, NULL) == 7);
    return unused;
}

static void callback(void (*call)(void))
{
    beside(walk_thread, call);
}

/* Nothing of the loader is held after these have returned. */
static void *call_all_then_m(void *unused)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        calls[i].call();
        take_m();
        /* The other way round, with the call's remains above m. */
        lock(&m);
        calls[i].call();
        unlock(&m);
        take_m();
    }
    lockhound_assert_not_held(&m);
    return unused;
}

static void ended(void (*call)(void))
{
    beside(call_all_then_m, call);
}

static int look_up_in_walk(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info;
    (void)size;
    (void)unused;
    look_up();
    return 1;
}

static int has_walked;

static void *walk_and_look_up(void *unused)
{
    CHECK(dl_iterate_phdr(look_up_in_walk, NULL) == 1);
    set_flag(&has_walked);
    return unused;
}

static void *load_later(void *unused)
{
    wait_flag(&has_walked);
    return load_thread(unused);
}

/* Both of the loader's locks, in both orders, one after the other: at once
 * they would deadlock. */
static void both(void)
{
    pthread_t t = go(load_later, NULL), u = go(walk_and_look_up, NULL);

    join(t);
    join(u);
}

/* Only what unloads takes the lock over the list. */
static void *handle_to_close;

static void close_it(void)
{
    CHECK(dlclose(handle_to_close) == 0);
}

static void unload(void)
{
    handle_to_close = load();
    beside(walk_thread, close_it);
}

static void no_unload(void)
{
    handle_to_close = load();
    load();
    unload();
}

static void *load_many(void *unused)
{
    for (int i = 0; i < 300; i++) {
        void *handle = load();
        look_up();
        name();
        walk();
        take_m();
        CHECK(dlclose(handle) == 0);
    }
    return unused;
}

static void many(void)
{
    pthread_t t[6];

    set_call("PLUGIN_LOADED", walk);
    for (int i = 0; i < 6; i++)
        t[i] = go(load_many, NULL);
    for (int i = 0; i < 6; i++)
        join(t[i]);
}

static mutex_t handlers = MUTEX;

static void on_tick(int signo)
{
    (void)signo;
    lock(&handlers);
    unlock(&handlers);
}

/* Signals arrive between any two instructions of a call. */
static void ticking(void)
{
    struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
                              .sigev_signo = SIGALRM };
    struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
    timer_t timer;

    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
    set_call("PLUGIN_LOADED", look_up);
    for (int i = 0; i < 100; i++) {
        CHECK(dlclose(load()) == 0);
        call_all_then_m(NULL);
    }
    CHECK(timer_delete(timer) == 0);
}

static void small_stack(void)
{
    pthread_attr_t attr;
    pthread_t t;

    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, 16384) == 0);
    CHECK(pthread_create(&t, &attr, load_thread, NULL) == 0);
    join(t);
}

static void say_error(const char *what)
{
    const char *error = dlerror();

    printf("%s: %s\n", what, error ? error : "(none)");
    printf("%s, errno %d\n", dlerror() ? "again" : "only once", errno);
    errno = 1234;
}

/* What the program sees, for a comparison with the same without us. */
static void results(void)
{
    char many_bytes[256];
    void *handle, *other;
    Dl_info info;

    errno = 1234;
    CHECK(!dlopen("/nowhere/none.so", RTLD_NOW));
    take_m();
    say_error("dlopen");
    CHECK(!dlopen("none.so", 0));
    say_error("dlopen of a bad mode");
    CHECK(!dlsym(RTLD_DEFAULT, "no_such_name"));
    say_error("dlsym");
    CHECK(!dlvsym(RTLD_DEFAULT, "printf", "NONE_1"));
    say_error("dlvsym");
    CHECK(!dlmopen(77, plugin, RTLD_NOW));
    say_error("dlmopen");
    handle = load();
    say_error("dlopen that works");
    CHECK(dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) == handle);
    CHECK(dlsym(handle, "printf") == dlsym(RTLD_DEFAULT, "printf"));
    CHECK(dlsym(RTLD_NEXT, "printf") == dlsym(RTLD_DEFAULT, "printf"));
    CHECK(!dlsym(RTLD_NEXT, "main"));
    say_error("dlsym of what is not next");
    other = dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW);
    CHECK(other && other != handle);
    CHECK(dlclose(other) == 0 && dlclose(handle) == 0 && dlclose(handle) == 0);
    CHECK(!dlopen(plugin, RTLD_NOW | RTLD_NOLOAD));
    say_error("dlopen of what was closed");
    printf("%d %d\n", dladdr(many_bytes, &info),
           dladdr((void *)(uintptr_t)printf, &info));
    printf("%s\n", info.dli_sname);
    say_error("dladdr");
}

/* Old names reach the hooks, too. */
static void versions(void)
{
    static const struct {
        const char *name, *version;
    } all[] = {
        { "dlopen", "GLIBC_2.2.5" },      { "dlopen", "GLIBC_2.34" },
        { "dlmopen", "GLIBC_2.3.4" },     { "dlmopen", "GLIBC_2.34" },
        { "dlsym", "GLIBC_2.2.5" },       { "dlsym", "GLIBC_2.34" },
        { "dlvsym", "GLIBC_2.34" },       { "dlclose", "GLIBC_2.2.5" },
        { "dlclose", "GLIBC_2.34" },      { "dladdr", "GLIBC_2.2.5" },
        { "dladdr", "GLIBC_2.34" },       { "dladdr1", "GLIBC_2.3.3" },
        { "dladdr1", "GLIBC_2.34" },      { "dl_iterate_phdr", "GLIBC_2.2.5" },
        { "flockfile", "GLIBC_2.2.5" },   { "ftrylockfile", "GLIBC_2.2.5" },
        { "funlockfile", "GLIBC_2.2.5" },
    };
    Dl_info info;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *found = dlvsym(RTLD_DEFAULT, all[i].name, all[i].version);
        CHECK(found && dladdr(found, &info));
        printf("%s %s\n", all[i].name, strrchr(info.dli_fname, '/') + 1);
    }
}

/* By another preload, from its own place in the order. */
static void next(void)
{
    printf("%d %d\n", getppid() - (int)syscall(SYS_getppid),
           getpgrp() - (int)syscall(SYS_getpgid, 0));
}

/* By a library's own RUNPATH; plugin is that library. */
static void runpath(void)
{
    void *caller = load(), *inner;
    void *(*load_inner)(void) =
        (void *(*)(void))(uintptr_t)dlsym(caller, "load_inner");
    int (*answer)(void);

    CHECK(!dlopen("inner.so", RTLD_NOW));
    CHECK(load_inner && (inner = load_inner()));
    answer = (int (*)(void))(uintptr_t)dlsym(inner, "inner");
    CHECK(answer && answer() == 42);
    puts("found");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *mode;
        void (*run)(void (*)(void));
    } rings[] = {
        { "constructor", constructor },
        { "destructor", destructor },
        { "alone", alone },
        { "nested", nested },
        { "callback", callback },
        { "ended", ended },
    };
    static const struct {
        const char *mode;
        void (*run)(void);
    } others[] = {
        { "both", both },
        { "many", many },
        { "kept", kept },
        { "unload", unload },
        { "no-unload", no_unload },
        { "ticking", ticking },
        { "small-stack", small_stack },
        { "results", results },
        { "versions", versions },
        { "next", next },
        { "runpath", runpath },
    };

    CHECK(argc > 2);
    snprintf(plugin, sizeof plugin, "%s", argv[2]);
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        if (is_mode(argv, rings[i].mode))
            rings[i].run(call_named(argv[3]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_mode(argv, others[i].mode))
            others[i].run();
    return 0;
}
