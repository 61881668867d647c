/* SPDX-License-Identifier: MIT
 * unwind.c - one thread's return addresses, by a private unwinder. */
#include "runtime/unwind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unwind.h>

#include "runtime/arena.h"
#include "runtime/frames.h"
#include "runtime/sys.h"

/* What the unwinder, its callback and the slow path around it may use. */
enum { ROOM_BYTES = 6 * 1024 };

static bool has_room(const struct lh_thread *t)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

    if (t->stack_low && sp > t->stack_low && sp <= t->stack_high)
        return sp - t->stack_low > ROOM_BYTES;
    /* A signal's own stack, or a coroutine's. */
    return lh_sys_altstack_left(sp) > ROOM_BYTES;
}

struct walk {
    struct lh_unwound *u;
    struct lh_stack_cache *to;
    bool inside; /* the hook's caller was reached */
};

/* The whole of this library's code, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* A hook that calls back into the program (dl_iterate_phdr, pthread_once) is no
 * part of the program's stack. */
static bool is_ours(uintptr_t pc)
{
    return pc - (uintptr_t)__ehdr_start <
           (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context,
                                    void *walk_ptr)
{
    struct walk *w = walk_ptr;
    uintptr_t pc = _Unwind_GetIP(context);
    /* The stack pointer in this frame, just above its return address. */
    uintptr_t sp = _Unwind_GetCFA(context);
    uintptr_t at = (sp - w->u->cfa) / sizeof(uintptr_t);

    if (!w->inside) {
        if (sp < w->u->cfa)
            return _URC_NO_REASON;
        if (sp > w->u->cfa || pc != (uintptr_t)w->u->pc)
            return _URC_NORMAL_STOP; /* overshot: cannot be trusted */
        w->inside = true;
    }
    if (pc == 0)
        return _URC_NORMAL_STOP;
    if (is_ours(pc))
        return _URC_NO_REASON;
    if (w->u->n == LH_MAX_FRAMES) {
        w->u->truncated = true;
        return _URC_NORMAL_STOP;
    }
    if (sp < w->u->cfa || at > UINT32_MAX || ((const uintptr_t *)sp)[-1] != pc)
        w->u->provable = false; /* a signal frame, or another stack */
    w->to->unwound[w->u->n++] = (struct lh_return){ pc, (uint32_t)at };
    return _URC_NO_REASON;
}

bool lh_unwind(struct lh_thread *t, void *pc, uintptr_t cfa,
               struct lh_unwound *u)
{
    struct walk w = { .u = u };

    if (!has_room(t))
        return false;
    if (!t->stacks)
        t->stacks = lh_arena_resize(NULL, NULL, 0, sizeof *t->stacks);
    if (!t->stacks)
        return false;
    *u = (struct lh_unwound){ .provable = true, .pc = pc, .cfa = cfa };
    w.to = t->stacks;
    _Unwind_Backtrace(on_frame, &w);
    u->frames = t->stacks->unwound;
    return u->n > 0;
}

/* So that a constructor of the executable's is not taken for main. */
static bool is_one_module(uintptr_t a, uintptr_t b)
{
    struct dl_find_object of_a, of_b;

    return _dl_find_object((void *)a, &of_a) == 0 &&
           _dl_find_object((void *)b, &of_b) == 0 &&
           of_a.dlfo_link_map == of_b.dlfo_link_map;
}

/*
 * Where the return address of the thread's start routine lies, or main's; 0
 * while unknown. main is the third from outermost: _start calls
 * __libc_start_main calls __libc_start_call_main calls main.
 */
static uintptr_t base_of(struct lh_thread *t, const struct lh_unwound *u)
{
    uintptr_t entry = getauxval(AT_ENTRY);

    if (!t->stack_base && u->n > 3 && u->frames[u->n - 1].pc - entry < 64 &&
        t->number == 1 &&
        is_one_module(u->frames[u->n - 2].pc, u->frames[u->n - 3].pc))
        t->stack_base = u->cfa - sizeof(uintptr_t) +
                        u->frames[u->n - 3].at * sizeof(uintptr_t);
    return t->stack_base;
}

/* How many of the frames may return while the thread lives. */
static size_t count_mutable(struct lh_thread *t, const struct lh_unwound *u)
{
    uintptr_t base = base_of(t, u);
    size_t n = u->n;

    if (u->cfa <= t->stack_low || u->cfa > base)
        return n; /* on another stack */
    while (n > 1 && u->cfa - sizeof(uintptr_t) +
                            u->frames[n - 1].at * sizeof(uintptr_t) >=
                        base)
        n--;
    if (n < u->n)
        lh_frames_saw_outermost(t, u->cfa +
                                       u->frames[n - 1].at * sizeof(uintptr_t));
    return n;
}

static uint64_t mix(uint64_t h, uintptr_t word)
{
    return (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The entry of a return address, else one to be filled, else NULL. */
static struct lh_extent *extent_of(struct lh_stack_cache *cache, uintptr_t pc)
{
    size_t first = mix(0, pc) >> 32;

    for (size_t i = first; i < first + 4; i++) {
        struct lh_extent *e = &cache->extents[i & (LH_EXTENTS - 1)];
        uintptr_t of = atomic_load_explicit(&e->pc, memory_order_acquire);
        if (of == pc || of == 0)
            return e;
    }
    return NULL;
}

static void keep_extents(struct lh_stack_cache *cache,
                         const struct lh_unwound *u)
{
    for (size_t i = 0; i + 1 < u->n; i++) {
        struct lh_extent *e = extent_of(cache, u->frames[i].pc);
        if (!e || atomic_load_explicit(&e->pc, memory_order_relaxed))
            continue;
        e->words = u->frames[i + 1].at - u->frames[i].at;
        atomic_store_explicit(&e->pc, u->frames[i].pc, memory_order_release);
    }
}

/*
 * Where a stack is looked for: by its place, and by what seem to be its return
 * addresses. A function that locks for many callers has many stacks at one
 * place. A frame whose size changes ends the guess, the same way each time:
 * what is found is proved anyway, and only words of this stack are read.
 */
static size_t set_of(const struct lh_thread *t, const void *place,
                     uintptr_t cfa)
{
    uintptr_t pc = (uintptr_t)place, at = cfa - sizeof pc;
    uint64_t h = mix(cfa, pc);

    if (cfa <= t->stack_low || cfa >= t->stack_high)
        return h >> 58;
    for (unsigned depth = 0; depth < LH_GUESSED_FRAMES; depth++) {
        const struct lh_extent *e = extent_of(t->stacks, pc);
        if (!e || atomic_load_explicit(&e->pc, memory_order_relaxed) != pc)
            break;
        h = mix(h, pc);
        at += e->words * sizeof pc;
        if (at >= t->stack_high)
            break;
        pc = *(const uintptr_t *)at;
    }
    return h >> 58;
}

void lh_unwind_remember(struct lh_thread *t, const struct lh_unwound *u,
                        uint32_t stack)
{
    size_t set, n = count_mutable(t, u) - 1;
    struct lh_remembered *r;

    if (!u->provable || stack == 0 || n > sizeof r->proof / sizeof *r->proof)
        return;
    keep_extents(t->stacks, u);
    set = set_of(t, u->pc, u->cfa);
    r = &t->stacks->known[set * LH_STACK_WAYS +
                          t->stacks->next[set]++ % LH_STACK_WAYS];
    atomic_store_explicit(&r->stack, 0, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    r->pc = u->pc;
    r->cfa = u->cfa;
    r->n = (uint32_t)n;
    memcpy(r->proof, u->frames + 1, n * sizeof *r->proof);
    atomic_store_explicit(&r->stack, stack, memory_order_release);
}

void lh_unwind_forget_stale(struct lh_thread *t)
{
    for (size_t i = 0; t->stacks && i < LH_STACK_SETS * LH_STACK_WAYS; i++) {
        struct lh_remembered *r = &t->stacks->known[i];
        uint32_t stack = atomic_load_explicit(&r->stack, memory_order_relaxed);

        /* Unless its thread has put another one there meanwhile. */
        if (stack && lh_stack_is_stale(stack))
            atomic_compare_exchange_strong_explicit(&r->stack, &stack, 0,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed);
    }
}

uint32_t lh_stack_recall(const struct lh_thread *t, const void *pc,
                         uintptr_t cfa, uint8_t *hint)
{
    size_t first;
    uint32_t stack;

    if (!t->stacks)
        return 0;
    first = set_of(t, pc, cfa) * LH_STACK_WAYS;
    for (size_t i = first; i < first + LH_STACK_WAYS; i++) {
        if (lh_stack_is_proved(&t->stacks->known[i], pc, cfa, &stack)) {
            *hint = (uint8_t)i;
            return stack;
        }
    }
    return 0;
}

/*
 * The static libgcc sizes its registers once, by pthread_once. This is what it
 * finds (the linker's --wrap renames its reference), neither our hook nor an
 * interceptor of that name (TSan's), which would not be ready: the first time
 * is in the constructor, with one thread.
 */
int __wrap_pthread_once(pthread_once_t *once, void (*routine)(void));
int __wrap_pthread_once(pthread_once_t *once, void (*routine)(void))
{
    if (*once == PTHREAD_ONCE_INIT) {
        routine();
        *once = PTHREAD_ONCE_INIT + 1;
    }
    return 0;
}

static _Unwind_Reason_Code stop(struct _Unwind_Context *context, void *arg)
{
    (void)context;
    (void)arg;
    return _URC_NORMAL_STOP;
}

void lh_stacks_warm_up(void)
{
    _Unwind_Backtrace(stop, NULL);
}
