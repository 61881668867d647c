/* SPDX-License-Identifier: MIT
 *
 * loader.c - dlopen and its kin, as two locks: runtime/loader.h.
 *
 * The real dlopen, dlmopen, dlsym and dlvsym look at their return address for
 * the caller's RUNPATH and for RTLD_NEXT. Their hooks must end in a jump, with
 * that address in its place, and never see the call return: hence LH_INSIDE,
 * and assembler. dlinfo and dlerror take no lock.
 */
#include <dlfcn.h>
#include <link.h>

#include "hooks/hook.h"
#include "runtime/loader.h"
#include "runtime/modules.h"
#include "runtime/sys.h"
#include "runtime/unload.h"

enum {
    load = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_LOADER),
    list = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_LOADER_WRITE),
};

/* What a stub has pushed; above it lies the caller's frame. */
struct call {
    uintptr_t third, second, first; /* arguments */
    void *pc;
};

static uintptr_t cfa_of(const struct call *call)
{
    return (uintptr_t)(call + 1);
}

/* The call takes a lock that the thread has not yet. False if it has. A call
 * that has ended may have left its slot below others. */
static bool enter(pthread_mutex_t *lock, uint16_t how, void *pc, uintptr_t cfa)
{
    if (!lock || lh_loader_owns(lock))
        return false;
    if (lh_self)
        lh_held_forget(lh_self, lock);
    lh_held_settle(lh_held_push(lock, how, pc, cfa), lock, LH_INSIDE);
    return true;
}

/* It is back: unless an event inside found that it had given the lock back,
 * the slot is still there. */
static void leave(pthread_mutex_t *lock)
{
    lh_held_release(lock);
}

/* Under the first lock the call takes the second one, for a moment. That the
 * first is held its owner word does not tell: not yet, or no more. */
static void ask_for_list(void *pc, uintptr_t cfa)
{
    struct lh_slot *outer;

    if (!lh_self || !lh_loader.list || lh_loader_owns(lh_loader.list))
        return;
    outer = lh_held_find(lh_self, lh_loader.load, false);
    if (outer)
        atomic_store_explicit(&outer->state, LH_HOLDS, memory_order_relaxed);
    lh_held_settle(lh_held_push(lh_loader.list, list, pc, cfa), lh_loader.list,
                   LH_GONE);
    outer = lh_held_find(lh_self, lh_loader.load, false);
    if (outer)
        atomic_store_explicit(&outer->state, LH_INSIDE, memory_order_relaxed);
}

/*
 * What each stub calls first. Returns where to jump to.
 */
void *lh_loader_dlopen(const struct call *call) __attribute__((used));
void *lh_loader_dlmopen(const struct call *call) __attribute__((used));
void *lh_loader_dlsym(const struct call *call) __attribute__((used));
void *lh_loader_dlvsym(const struct call *call) __attribute__((used));

static void before_open(const struct call *call, bool may_load)
{
    lh_real_ensure();
    enter(lh_loader.load, load, call->pc, cfa_of(call));
    if (may_load)
        ask_for_list(call->pc, cfa_of(call));
}

void *lh_loader_dlopen(const struct call *call)
{
    before_open(call, call->first && !(call->second & RTLD_NOLOAD));
    return (void *)lh_real()->dlopen;
}

void *lh_loader_dlmopen(const struct call *call)
{
    before_open(call, call->second && !(call->third & RTLD_NOLOAD));
    return (void *)lh_real()->dlmopen;
}

void *lh_loader_dlsym(const struct call *call)
{
    before_open(call, false);
    return (void *)lh_real()->dlsym;
}

void *lh_loader_dlvsym(const struct call *call)
{
    before_open(call, false);
    return (void *)lh_real()->dlvsym;
}

#ifdef __x86_64__
#define LH_JUMP(function)                                                      \
    __asm__(".pushsection .text\n"                                             \
            ".globl " #function "\n"                                           \
            ".type " #function ", @function\n"                                 \
            ".balign 16\n" #function ":\n"                                     \
            ".cfi_startproc\n"                                                 \
            "endbr64\n"                                                        \
            "pushq %rdi\n"                                                     \
            ".cfi_adjust_cfa_offset 8\n"                                       \
            "pushq %rsi\n"                                                     \
            ".cfi_adjust_cfa_offset 8\n"                                       \
            "pushq %rdx\n"                                                     \
            ".cfi_adjust_cfa_offset 8\n"                                       \
            "movq %rsp, %rdi\n"                                                \
            "call lh_loader_" #function "\n"                                   \
            "popq %rdx\n"                                                      \
            ".cfi_adjust_cfa_offset -8\n"                                      \
            "popq %rsi\n"                                                      \
            ".cfi_adjust_cfa_offset -8\n"                                      \
            "popq %rdi\n"                                                      \
            ".cfi_adjust_cfa_offset -8\n"                                      \
            "jmp *%rax\n"                                                      \
            ".cfi_endproc\n"                                                   \
            ".size " #function ", . - " #function "\n"                         \
            ".popsection")

LH_JUMP(dlopen);
LH_JUMP(dlmopen);
LH_JUMP(dlsym);
LH_JUMP(dlvsym);
#endif

/* Those that do not ask who calls. */

/* Some place in the library of a handle; 0 if it is none that we know. */
static uintptr_t place_in(const void *handle)
{
    const struct link_map *map = handle;
    int saved_errno = errno;
    bool is_known = lh_sys_can_read(&map->l_ld);

    errno = saved_errno;
    return is_known ? (uintptr_t)map->l_ld : 0;
}

LH_HOOK int dlclose(void *handle)
{
    uintptr_t place;
    bool entered;
    int rc;

    lh_real_ensure();
    place = place_in(handle);
    entered = enter(lh_loader.load, load, LH_CALLER(), LH_CFA());
    lh_ends_note_unload();
    rc = lh_real()->dlclose(handle);
    if (place && !lh_module_holds(place)) /* it was the last use */
        ask_for_list(LH_CALLER(), LH_CFA());
    if (entered)
        leave(lh_loader.load);
    return rc;
}

LH_HOOK int dladdr(const void *address, Dl_info *info)
{
    bool entered;
    int rc;

    lh_real_ensure();
    entered = enter(lh_loader.load, load, LH_CALLER(), LH_CFA());
    rc = lh_real()->dladdr(address, info);
    if (entered)
        leave(lh_loader.load);
    return rc;
}

LH_HOOK int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    bool entered;
    int rc;

    lh_real_ensure();
    entered = enter(lh_loader.load, load, LH_CALLER(), LH_CFA());
    rc = lh_real()->dladdr1(address, info, extra, flags);
    if (entered)
        leave(lh_loader.load);
    return rc;
}

LH_HOOK int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t,
                                            void *),
                            void *data)
{
    bool entered;
    int rc;

    lh_real_ensure();
    entered = enter(lh_loader.list, list, LH_CALLER(), LH_CFA());
    rc = lh_real()->dl_iterate_phdr(callback, data);
    if (entered)
        leave(lh_loader.list);
    return rc;
}

LH_VERSIONS(dlclose, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(dladdr, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(dladdr1, "GLIBC_2.34", "GLIBC_2.3.3");
#ifdef __x86_64__
LH_VERSIONS(dlopen, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(dlmopen, "GLIBC_2.34", "GLIBC_2.3.4");
LH_VERSIONS(dlsym, "GLIBC_2.34", "GLIBC_2.2.5");
/* Its older version stays the C library's: runtime/real.c finds all by it. */
__asm__(".symver dlvsym, dlvsym@@GLIBC_2.34");
#endif
