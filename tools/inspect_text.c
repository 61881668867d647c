/* SPDX-License-Identifier: MIT
 * inspect_text.c - what a process waits for, as text for a person. */
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "heapname.h"
#include "inspect.h"
#include "lockwords.h"
#include "model.h"
#include "naming.h"
#include "place.h"
#include "style.h"
#include "text.h"

#define FORMAT(...) lh_pool_format(in->o.pool, __VA_ARGS__)

/* "T3 (worker)"; named by its tid where a label tells nothing. */
static const char *thread_name(const struct lh_inspection *in, size_t thread)
{
    const struct lh_outside_thread *t = &in->o.threads[thread];
    const struct lh_model_thread *known =
        lh_model_thread(in->explain.process, thread + 1);
    const char *label = t->tid == in->o.pid ? "main" : known ? known->name : "";
    return FORMAT("T%zu (%s%stid %llu)", thread + 1,
                  lh_explain_clean(&in->explain, label), *label ? ", " : "",
                  (unsigned long long)t->tid);
}

static const char *owner(const struct lh_inspection *in,
                         const struct lh_wait *w)
{
    for (size_t i = 0; i < in->o.nthreads; i++)
        if (in->o.threads[i].tid == w->owner)
            return thread_name(in, i);
    return FORMAT("thread %llu, which is not there any more",
                  (unsigned long long)w->owner);
}

static const char *owners(const struct lh_inspection *in,
                          const struct lh_wait *w)
{
    const char *text = "";
    for (size_t i = 0; i < w->nowners; i++)
        for (size_t j = 0; j < in->o.nthreads; j++)
            if (in->o.threads[j].tid == w->owners[i])
                text =
                    FORMAT("%s%s%s", text, i ? ", " : "", thread_name(in, j));
    return text;
}

static const char *held_by(const struct lh_inspection *in, size_t thread)
{
    const struct lh_wait *w = &in->waits[thread];
    if (w->nowners)
        return FORMAT(", held by %s", owners(in, w));
    if (w->owner && in->o.threads[thread].tid == w->owner)
        return ", which it holds itself";
    if (w->owner)
        return FORMAT(", held by %s", owner(in, w));
    if (w->nreaders)
        return FORMAT(", held by %u reader%s, not recorded", w->nreaders,
                      w->nreaders == 1 ? "" : "s");
    return "";
}

/* A call of one descriptor says which. */
static const char *call_sentence(const struct lh_inspection *in,
                                 const struct lh_outside_thread *t)
{
    static const int64_t of_descriptor[] = {
        SYS_read,    SYS_write,  SYS_pread64,    SYS_pwrite64, SYS_readv,
        SYS_writev,  SYS_accept, SYS_accept4,    SYS_connect,  SYS_recvfrom,
        SYS_recvmsg, SYS_sendto, SYS_sendmsg,    SYS_flock,    SYS_fcntl,
        SYS_fsync,   SYS_ioctl,  SYS_epoll_wait, SYS_fdatasync
    };
    const char *name = lh_calls_name(t->call);
    if (t->call == SYS_restart_syscall)
        return "is in a system call that was interrupted before";
    if (!name)
        return FORMAT("is in system call %lld", (long long)t->call);
    for (size_t i = 0; i < sizeof of_descriptor / sizeof *of_descriptor; i++)
        if (of_descriptor[i] == t->call)
            return FORMAT("is in %s(2) on descriptor %d", name,
                          (int)t->args[0]);
    return FORMAT("is in %s(2)", name);
}

/* Its name begins with what it is: "mutex at 0x55d0c0de4040". */
static bool is_anonymous(const struct lh_inspection *in, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(in->explain.process, lock);
    return l && !l->is_static && !*l->name &&
           !*lh_heapname_of(&in->explain, l).name;
}

const char *lh_inspect_sentence(const struct lh_inspection *in, size_t thread)
{
    const struct lh_wait *w = &in->waits[thread];
    uint64_t id = in->picture.lock_ids[thread];
    const char *lock = id ? lh_naming_lock(&in->explain, id) : "";
    const char *the = is_anonymous(in, id) ? "the " : NULL;
    const char *by = held_by(in, thread);
    const char *limit = w->limited ? " for a limited time" : "";
    switch (w->kind) {
    case LH_WAITS_NOT:
        if (in->o.threads[thread].state == 'Z')
            return "has ended";
        return in->o.threads[thread].state == 'R' ? "runs"
                                                  : "is in no system call";
    case LH_WAITS_CALL:
        return call_sentence(in, &in->o.threads[thread]);
    case LH_WAITS_MUTEX:
        return FORMAT("waits for %s%s%s%s", the ? the : "the mutex ", lock,
                      limit, by);
    case LH_WAITS_REFUSED:
        return "waits for good for a mutex that would close a ring";
    case LH_WAITS_READ:
        return FORMAT("waits to read under %s%s%s%s", the ? the : "", lock,
                      limit, by);
    case LH_WAITS_WRITE:
        return FORMAT("waits to write under %s%s%s%s", the ? the : "", lock,
                      limit, by);
    case LH_WAITS_CONDITION:
        return FORMAT("waits%s for a signal of %s%s", limit,
                      the ? the : "the condition ", lock);
    case LH_WAITS_SEMAPHORE:
        return FORMAT("waits%s for a post of %s%s", limit,
                      the ? the : "the semaphore ", lock);
    case LH_WAITS_BARRIER:
        return FORMAT("waits for the others at %s%s",
                      the ? the : "the barrier ", lock);
    case LH_WAITS_JOIN:
        return FORMAT("waits%s for the end of %s", limit, owner(in, w));
    case LH_WAITS_ONCE:
        return FORMAT("waits for the routine of %s%s to be done",
                      the ? the : "the once ", lock);
    case LH_WAITS_STREAM:
        if (w->descriptor >= 0)
            return FORMAT("waits for the stream of descriptor %d%s",
                          w->descriptor, by);
        return FORMAT("waits for the stream whose lock is %s%s", lock, by);
    case LH_WAITS_LIBC:
        return FORMAT("waits for a lock inside of a library, %s", lock);
    case LH_WAITS_FUTEX:
        return FORMAT("sleeps%s on %s%s, which is no lock of pthreads", limit,
                      the ? "a " : "", lock);
    }
    return "";
}

struct page {
    FILE *out;
    bool colour;
    const struct lh_inspection *in;
    bool *shown; /* by thread */
};

static void paragraph(struct page *p, size_t first, size_t rest,
                      const char *text)
{
    lh_style_wrap(p->out, p->colour, first, rest, text);
}

/* Threads that wait alike at one place, as those of an idle pool, are shown
 * once. */
static bool alike(const struct lh_inspection *in, size_t a, size_t b)
{
    const struct lh_outside_thread *x = &in->o.threads[a],
                                   *y = &in->o.threads[b];
    const struct lh_wait *v = &in->waits[a], *w = &in->waits[b];
    if (x->nframes != y->nframes || v->kind != w->kind || v->lock != w->lock ||
        v->owner != w->owner || x->call != y->call)
        return false;
    for (size_t i = 0; i < x->nframes; i++)
        if (x->frames[i].pc != y->frames[i].pc)
            return false;
    return true;
}

static void holds(struct page *p, size_t i)
{
    const struct lh_inspection *in = p->in;
    const struct lh_outside_thread *t = &in->o.threads[i];
    for (size_t j = 0; j < t->nholds; j++) {
        const struct lh_picture_hold *h = &in->picture.holds[i][j];
        const char *where = lh_explain_top(&in->explain, h->stack);
        const struct lh_model_lock *lock =
            lh_model_lock(in->explain.process, h->lock);
        paragraph(p, 4, 6,
                  FORMAT("holds %s%s, taken at %s",
                         lh_naming_lock(&in->explain, h->lock),
                         lh_lockwords_mode(lock ? lock->kind : "",
                                           t->holds[j].shared),
                         where));
    }
}

static void thread(struct page *p, size_t i)
{
    const struct lh_inspection *in = p->in;
    const char *who = thread_name(in, i);
    size_t n = 1;
    p->shown[i] = true;
    for (size_t j = i + 1; j < in->o.nthreads && !in->ring_of[i]; j++) {
        if (p->shown[j] || in->ring_of[j] || !alike(in, i, j))
            continue;
        p->shown[j] = true;
        if (n++ < 4)
            who = FORMAT("%s, %s", who, thread_name(in, j));
    }
    if (n > 4)
        who = FORMAT("%s and %zu more", who, n - 4);
    fputc('\n', p->out);
    paragraph(p, 2, 4,
              FORMAT("%s %s%s", who, n > 1 ? "each " : "",
                     lh_inspect_sentence(in, i)));
    if (in->o.threads[i].nframes)
        lh_text_waiting_stack(p->out, &in->explain, i + 1);
    holds(p, i);
}

static const char *ring_sentence(const struct lh_inspection *in, size_t ring)
{
    const size_t *members = in->rings[ring];
    size_t n = in->ring_sizes[ring];
    if (n == 1)
        return FORMAT("self-deadlock LH003: %s waits for what it holds itself.",
                      thread_name(in, members[0]));
    const char *text = thread_name(in, members[0]);
    for (size_t i = 1; i < n; i++)
        text = FORMAT("%s%s%s", text, i + 1 == n ? " and " : ", ",
                      thread_name(in, members[i]));
    return FORMAT("deadlock LH002: %s wait for each other.", text);
}

static void endless(struct page *p, size_t i)
{
    fputc('\n', p->out);
    paragraph(p, 0, 2,
              p->in->waits[i].kind == LH_WAITS_REFUSED
                  ? LH_STYLE_BOLD "deadlock LH002: the kernel has found a ring "
                                  "of priority-inheriting mutexes." LH_STYLE_END
                  : LH_STYLE_BOLD "endless wait LH004: the holder of a lock "
                                  "has ended." LH_STYLE_END);
    thread(p, i);
}

static const char *summary(const struct lh_inspection *in)
{
    size_t deadlocked = 0;
    for (size_t i = 0; i < in->o.nthreads; i++)
        deadlocked += in->ring_of[i] > 0;
    const char *what =
        FORMAT("%s, process %llu: %zu thread%s",
               lh_explain_clean(&in->explain, lh_place_base(in->o.exe)),
               (unsigned long long)in->o.pid, in->o.nthreads,
               in->o.nthreads == 1 ? "" : "s");
    if (deadlocked)
        return FORMAT("%s, %zu of them deadlocked", what, deadlocked);
    return FORMAT("%s, no ring of waits found", what);
}

void lh_inspect_text(FILE *out, bool colour, const struct lh_inspection *in)
{
    struct page p = { out, colour, in, NULL };
    p.shown = lh_pool_array(in->o.pool, in->o.nthreads, sizeof *p.shown);
    paragraph(&p, 0, 2, summary(in));
    for (size_t r = 0; r < in->nrings; r++) {
        fputc('\n', out);
        paragraph(
            &p, 0, 2,
            FORMAT(LH_STYLE_BOLD "%s" LH_STYLE_END, ring_sentence(in, r)));
        for (size_t i = 0; i < in->ring_sizes[r]; i++)
            thread(&p, in->rings[r][i]);
    }
    for (size_t i = 0; i < in->o.nthreads; i++)
        if (lh_inspect_is_endless(&in->waits[i]) && !p.shown[i])
            endless(&p, i);
    bool others = false;
    for (size_t i = 0; i < in->o.nthreads; i++) {
        if (p.shown[i])
            continue;
        if (!others && in->nrings)
            fputs("\nThe other threads:\n", out);
        others = true;
        thread(&p, i);
    }
}
