/* SPDX-License-Identifier: MIT
 *
 * unwind.c - call stacks of a living process.
 *
 * libunwind finds the tables by the process's mapped files, as its ptrace
 * accessors do; registers and stacks come from our copies, so that the process
 * runs on meanwhile.
 */
#include "unwind.h"

#include <libunwind-ptrace.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* What the accessors read. Not by their argument: where libunwind calls them to
 * read its tables, it passes what belongs to its own accessors. */
static struct {
    const struct lh_outside *o;
    const struct lh_outside_thread *thread;
    void *upt; /* libunwind's own, for its tables */
} source;

static int find_proc_info(unw_addr_space_t as, unw_word_t ip,
                          unw_proc_info_t *info, int need, void *arg)
{
    (void)arg;
    return _UPT_find_proc_info(as, ip, info, need, source.upt);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info,
                            void *arg)
{
    (void)arg;
    _UPT_put_unwind_info(as, info, source.upt);
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *list,
                                  void *arg)
{
    (void)as;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t address,
                      unw_word_t *value, int write, void *arg)
{
    (void)as;
    (void)arg;
    if (write || !lh_outside_u64(source.o, address, value))
        return -UNW_EINVAL;
    return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number,
                      unw_word_t *value, int write, void *arg)
{
    const struct user_regs_struct *r = &source.thread->registers;
    const unw_word_t by_number[] = {
        [UNW_X86_64_RAX] = r->rax, [UNW_X86_64_RDX] = r->rdx,
        [UNW_X86_64_RCX] = r->rcx, [UNW_X86_64_RBX] = r->rbx,
        [UNW_X86_64_RSI] = r->rsi, [UNW_X86_64_RDI] = r->rdi,
        [UNW_X86_64_RBP] = r->rbp, [UNW_X86_64_RSP] = r->rsp,
        [UNW_X86_64_R8] = r->r8,   [UNW_X86_64_R9] = r->r9,
        [UNW_X86_64_R10] = r->r10, [UNW_X86_64_R11] = r->r11,
        [UNW_X86_64_R12] = r->r12, [UNW_X86_64_R13] = r->r13,
        [UNW_X86_64_R14] = r->r14, [UNW_X86_64_R15] = r->r15,
        [UNW_X86_64_RIP] = r->rip,
    };
    (void)as;
    (void)arg;
    if (write || number < 0 ||
        (size_t)number >= sizeof by_number / sizeof *by_number)
        return -UNW_EBADREG;
    *value = by_number[number];
    return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t number,
                        unw_fpreg_t *value, int write, void *arg)
{
    (void)as;
    (void)number;
    (void)value;
    (void)write;
    (void)arg;
    return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
    (void)as;
    (void)cursor;
    (void)arg;
    return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t address, char *name,
                         size_t n, unw_word_t *offset, void *arg)
{
    (void)as;
    (void)address;
    (void)name;
    (void)n;
    (void)offset;
    (void)arg;
    return -UNW_ENOINFO;
}

void lh_unwind_live(struct lh_outside *o)
{
    static unw_accessors_t accessors = {
        .find_proc_info = find_proc_info,
        .put_unwind_info = put_unwind_info,
        .get_dyn_info_list_addr = get_dyn_info_list_addr,
        .access_mem = access_mem,
        .access_reg = access_reg,
        .access_fpreg = access_fpreg,
        .resume = resume,
        .get_proc_name = get_proc_name,
    };
    unw_addr_space_t as = unw_create_addr_space(&accessors, 0);
    source.o = o;
    source.upt = _UPT_create((pid_t)o->via);
    if (as && source.upt) {
        unw_set_caching_policy(as, UNW_CACHE_GLOBAL);
        for (size_t i = 0; i < o->nthreads; i++) {
            source.thread = &o->threads[i];
            if (source.thread->has_registers)
                lh_walk(&o->threads[i], as, &source, o->pool);
        }
    }
    if (source.upt)
        _UPT_destroy(source.upt);
    if (as)
        unw_destroy_addr_space(as);
}
