/* SPDX-License-Identifier: MIT
 * misuse.c - a finding about one lock in words. */
#include "misuse.h"

#include <stddef.h>
#include <string.h>

#include "advise.h"
#include "explain.h"
#include "model.h"
#include "naming.h"
#include "pool.h"

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

/*
 * {thread} did it to {lock}, at {site}; {holder} had done something before;
 * {other} is the other lock. {holds} is "T3 holds", or how that is
 * said where the holder is the thread itself or is not known; {did} likewise
 * of who ended the lock; {keeper} is the holder, named if it is known.
 */
struct row {
    const char *kind, *detail, *lock; /* "": any */
    const char *sentence, *past, *act, *fix;
};

#define ENDED_HELD(detail, what, verb)                                         \
    {                                                                          \
        "LH012", detail, "",                                                   \
            "lock " detail " while held LH012: {thread} " what                 \
            "{lock}, which {holds}.",                                          \
            "took {lock}", verb,                                               \
            "release {lock} before its end in {site}, and let no thread "      \
            "reach it then: join those that use it first."                     \
    }
#define USED_ENDED(detail, past)                                               \
    {                                                                          \
        "LH013", detail, "",                                                   \
            "lock used after its end LH013: {thread} uses {lock}, which "      \
            "{did}.",                                                          \
            past, "uses it",                                                   \
            "let {lock} outlive its users: end it after they were joined, or " \
            "initialize it again before its use in {site}."                    \
    }
#define READ_THEN_WRITE(lock)                                                  \
    {                                                                          \
        "LH003", "", lock,                                                     \
            "self-deadlock LH003: {thread} waits for {lock}, which it holds "  \
            "itself: it waits forever.",                                       \
            "took {lock}", "asks for it again",                                \
            "release {lock} before asking for it again in {site}; to write "   \
            "after reading, ask for writing from the start."                   \
    }

static const struct row rows[] = {
    { "LH003", "", "once",
      "self-deadlock LH003: {thread} waits for the initialization of {lock}, "
      "which it is running itself: it waits forever.",
      "began the initialization of {lock}", "waits for its end",
      "do not use {lock} in its own initialization routine, as {site} does." },
    { "LH003", "", "static-init",
      "self-deadlock LH003: {thread} waits for the initialization of {lock}, "
      "which it is running itself: it waits forever.",
      "began the initialization of {lock}", "waits for its end",
      "do not use {lock} in its own initializer, as {site} does." },
    READ_THEN_WRITE("rwlock"),
    READ_THEN_WRITE("grwlock"),
    { "LH003", "", "mutex",
      "self-deadlock LH003: {thread} waits for {lock}, which it holds itself: "
      "it waits forever.",
      "took {lock}", "asks for it again",
      "release {lock} before asking for it again in {site}, or split the "
      "function there into one that takes the lock and one that expects it to "
      "be held; a recursive mutex would not hang either." },
    { "LH003", "", "",
      "self-deadlock LH003: {thread} waits for {lock}, which it holds itself: "
      "it waits forever.",
      "took {lock}", "asks for it again",
      "release {lock} before asking for it again in {site}, or split the "
      "function there into one that takes the lock and one that expects it to "
      "be held." },
    { "LH004", "", "",
      "endless wait LH004: {thread} waits for {lock}, whose {keeper} has ended "
      "without giving it back.",
      "had ended", "waits for it",
      "release {lock} on every way out of the thread that takes it; a robust "
      "mutex would be handed on." },
    { "LH010", "", "",
      "release of a free lock LH010: {thread} releases {lock}, which nobody "
      "holds.",
      "had released {lock}", "releases it",
      "take {lock} on every way to {site}, or take this release out: it may be "
      "the second one." },
    { "LH011", "", "",
      "release by another thread LH011: {thread} releases {lock}, which "
      "{holds}.",
      "took {lock}", "releases it",
      "release {lock} in the thread that took it; to hand something over to "
      "another thread, use a semaphore or a condition variable." },
    ENDED_HELD("freed", "frees the memory of ", "frees its memory"),
    ENDED_HELD("unmapped", "unmaps the memory of ", "unmaps its memory"),
    ENDED_HELD("unloaded", "unloads the library of ", "unloads its library"),
    ENDED_HELD("destroyed", "destroys ", "destroys it"),
    USED_ENDED("freed", "freed the memory of {lock}"),
    USED_ENDED("unmapped", "unmapped the memory of {lock}"),
    USED_ENDED("unloaded", "unloaded the library of {lock}"),
    USED_ENDED("destroyed", "destroyed {lock}"),
    { "LH014", "", "",
      "lock initialized while in use LH014: {thread} initializes {lock}, which "
      "{holds}.",
      "took {lock}", "initializes it",
      "initialize {lock} once, before any thread can use it." },
    { "LH015", "", "",
      "lock held for good LH015: {thread} ended while it held {lock}: whoever "
      "asks for that next waits forever.",
      "took {lock}", "ended with it",
      "release {lock} on every way out of the thread; against cancellation, "
      "with pthread_cleanup_push." },
    { "LH016", "held", "",
      "LH016 failed assertion: {thread} should hold {lock} here but does not.",
      "took {lock}", "asserts it",
      "take {lock} on every way to {site}, or correct the assertion." },
    { "LH016", "not-held", "",
      "LH016 failed assertion: {thread} should not hold {lock} here but does.",
      "took {lock}", "asserts it",
      "release {lock} on every way to {site}, or correct the assertion." },
    { "LH017", "two-mutexes", "",
      "condition with two mutexes LH017: {thread} waits with {lock} on a "
      "condition on which {holder} waits with {other}.",
      "waits with {other}", "waits with {lock}",
      "use one mutex for all waits on this condition." },
    { "LH017", "", "",
      "condition wait without its lock LH017: {thread} waits on a condition "
      "with {lock}, which it does not hold.",
      "took {lock}", "waits with it",
      "take {lock} before the wait in {site}: it guards what is waited for, "
      "and a signal may be lost without it." },
    { "LH020", "", "",
      "deadlock after fork LH020: {thread} of a forked child waits for {lock}, "
      "which {holder} of the parent held at the fork: it waits forever.",
      "took {lock}", "waits for it",
      "after fork, do nothing in the child but execute a program; or hold "
      "{lock} around the fork by pthread_atfork(3)." },
};

static const struct row *row_of(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const struct lh_model_lock *l = lh_model_lock(e->process, f->lock);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if (strcmp(r->kind, f->kind) == 0 &&
            (!*r->detail || strcmp(r->detail, f->detail) == 0) &&
            (!*r->lock || (l && strcmp(r->lock, l->kind) == 0)))
            return r;
    }
    return NULL;
}

static const char *holder_words(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    /* The threads of a parent are not all in the records of its child. */
    return f->holder && lh_model_thread(e->process, f->holder)
               ? lh_explain_thread(e, f->holder)
               : "another thread";
}

static const char *holds_words(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    if (!f->holder)
        return "is in use";
    return f->holder == f->thread ? "it holds itself"
                                  : FORMAT("%s holds", holder_words(e));
}

/* "holder T3 (clerk)" */
static const char *keeper_words(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    return f->holder && lh_model_thread(e->process, f->holder)
               ? FORMAT("holder %s", lh_explain_thread(e, f->holder))
               : "holder";
}

static const char *did_words(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char *what = lh_explain_clean(e, f->detail);
    if (!f->holder)
        return FORMAT("was %s", what);
    return f->holder == f->thread ? FORMAT("it has %s itself", what)
                                  : FORMAT("%s has %s", holder_words(e), what);
}

static const char *value_of(const struct lh_explain *e, const char *name,
                            size_t n)
{
    const struct lh_model_finding *f = e->finding;
    if (strncmp(name, "thread", n) == 0)
        return lh_explain_thread(e, f->thread);
    if (strncmp(name, "lock", n) == 0)
        return lh_naming_lock(e, f->lock);
    if (strncmp(name, "other", n) == 0)
        return lh_naming_lock(e, f->other);
    if (strncmp(name, "holder", n) == 0)
        return holder_words(e);
    if (strncmp(name, "holds", n) == 0)
        return holds_words(e);
    if (strncmp(name, "keeper", n) == 0)
        return keeper_words(e);
    if (strncmp(name, "did", n) == 0)
        return did_words(e);
    return lh_advise_site(e, f->stack);
}

static const char *fill(const struct lh_explain *e, const char *template)
{
    const char *text = "", *open;
    while ((open = strchr(template, '{'))) {
        size_t n = strcspn(open + 1, "}");
        text = FORMAT("%s%.*s%s", text, (int)(open - template), template,
                      value_of(e, open + 1, n));
        template = open + n + 2;
    }
    return FORMAT("%s%s", text, template);
}

const char *lh_misuse_sentence(const struct lh_explain *e)
{
    const struct row *r = row_of(e);
    if (!r)
        return FORMAT("%s: a finding of a kind that this version does not "
                      "know.",
                      lh_explain_clean(e, e->finding->kind));
    return fill(e, r->sentence);
}

const char *lh_misuse_fix(const struct lh_explain *e)
{
    const struct row *r = row_of(e);
    return r ? fill(e, r->fix) : "";
}

const char *lh_misuse_past(const struct lh_explain *e)
{
    const struct row *r = row_of(e);
    return r ? fill(e, r->past) : "was there before";
}

const char *lh_misuse_act(const struct lh_explain *e)
{
    const struct row *r = row_of(e);
    return r ? fill(e, r->act) : "did it";
}
