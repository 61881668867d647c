/* SPDX-License-Identifier: MIT
 * run.c - lockhound run. */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "across.h"
#include "check.h"
#include "content.h"
#include "diag.h"
#include "explain.h"
#include "findings.h"
#include "follow.h"
#include "formats.h"
#include "genrule.h"
#include "hang.h"
#include "inspect.h"
#include "model.h"
#include "naming.h"
#include "options.h"
#include "pool.h"
#include "runs.h"
#include "setting.h"
#include "spawn.h"
#include "standing.h"
#include "style.h"
#include "summary.h"
#include "symbols.h"
#include "target.h"
#include "text.h"

enum {
    PAUSE_MS = 10, /* between two looks at records that keep coming */
    STATUS_HAPPENED = 67,
    STATUS_HUNG = 68,
};

struct run {
    struct lh_pool pool;
    struct lh_options options;
    char *setting;   /* the LOCKHOUND variable */
    const char *dir; /* as the user wrote it */
    bool dir_is_new;
    struct lh_follow follow;
    struct lh_spawn target;
    struct lh_findings findings;
    struct lh_symbols *symbols;
    struct lh_naming names;
    struct lh_standing standing;
    struct lh_model_process *merged;  /* what several made together, or NULL */
    struct lh_model_process *of_runs; /* and each in a process of its own */
    uint64_t *looked; /* records seen of each of follow.processes */
    size_t nlooked, capacity;
    bool colour;
    struct lh_hang hang;
    bool hung, deadlocked; /* it was ended for that; in a ring, as seen then */
};

/* Keys that the tool acts on itself become options; the preload gets the
 * rest. */
static void take_setting(struct run *r)
{
    const char *given = getenv("LOCKHOUND");
    const char *dir = lh_setting_get(&r->pool, given, "dir");
    const char *code = lh_setting_get(&r->pool, given, "exit-code");
    if (!r->options.dir)
        r->options.dir = dir;
    if (r->options.exit_code < 0 && code &&
        !lh_options_exit_code(code, &r->options.exit_code))
        lh_diag_fail("exit-code '%s' in LOCKHOUND: bad value (expected 0 to "
                     "255)",
                     code);
    r->options.all |= lh_setting_get(&r->pool, given, "all") != NULL;
    r->setting = lh_setting_put(&r->pool, given, "print", "none");
    r->setting = lh_setting_put(&r->pool, r->setting, "exit-code", NULL);
    r->setting = lh_setting_put(&r->pool, r->setting, "all", NULL);
    if (r->options.stacks)
        r->setting =
            lh_setting_put(&r->pool, r->setting, "stacks", r->options.stacks);
    if (r->options.memory)
        r->setting =
            lh_setting_put(&r->pool, r->setting, "memory", r->options.memory);
}

/* Under us a program that hangs is ended, so that there is an end to report. */
static void choose_on_deadlock(struct run *r)
{
    const char *given =
        lh_setting_get(&r->pool, getenv("LOCKHOUND"), "on-deadlock");
    if (!r->options.on_deadlock)
        r->options.on_deadlock = given ? given : "exit";
    if (!lh_options_on_deadlock(r->options.on_deadlock))
        lh_diag_fail("on-deadlock '%s' in LOCKHOUND: bad value (expected "
                     "report, exit or abort)",
                     r->options.on_deadlock);
    r->setting = lh_setting_put(&r->pool, r->setting, "on-deadlock",
                                r->options.on_deadlock);
}

static void make_parents(struct run *r)
{
    char *path = lh_pool_copy(&r->pool, r->dir);
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0777); /* making the folder itself says what is wrong */
        *slash = '/';
    }
}

static void make_dir(struct run *r)
{
    char path[PATH_MAX];
    struct stat st;
    r->dir = r->options.dir
                 ? r->options.dir
                 : lh_pool_format(&r->pool, "./lockhound.%d/", (int)getpid());
    r->dir_is_new = mkdir(r->dir, 0777) == 0;
    if (!r->dir_is_new && errno == ENOENT) {
        make_parents(r);
        r->dir_is_new = mkdir(r->dir, 0777) == 0 || access(r->dir, F_OK) == 0;
    }
    if (!r->dir_is_new && errno != EEXIST)
        lh_diag_fail("%s: %s (expected a folder that can be made)", r->dir,
                     strerror(errno));
    if (stat(r->dir, &st) == 0 && !S_ISDIR(st.st_mode))
        lh_diag_fail("%s: is no folder (expected one for the records)", r->dir);
    if (access(r->dir, W_OK | X_OK) != 0 || !realpath(r->dir, path))
        lh_diag_fail("%s: %s (expected a folder to write to)", r->dir,
                     strerror(errno));
    r->setting = lh_setting_put(&r->pool, r->setting, "dir", path);
}

/* The folder of this very program. */
static const char *own_folder(struct run *r)
{
    char exe[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash = n > 0 ? strrchr(exe, '/') : NULL;
    if (slash)
        *slash = '\0';
    else
        lh_diag_fail("/proc/self/exe: cannot be read (expected /proc)");
    return lh_pool_copy(&r->pool, exe);
}

/* Beside the command, as in the build folder, or where it is installed. */
static const char *find_preload(struct run *r)
{
    static const char *const places[] = { "", "../lib/lockhound/", "../lib/" };
    const char *folder = own_folder(r);
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *file =
            lh_pool_format(&r->pool, "%s/%sliblockhound.so", folder, places[i]);
        if (!realpath(file, path) || access(path, R_OK) != 0)
            continue;
        if (strpbrk(path, " :"))
            lh_diag_fail("%s: cannot be preloaded (expected a path without "
                         "space and colon)",
                         path);
        return lh_pool_copy(&r->pool, path);
    }
    lh_diag_fail("liblockhound.so: not found (expected in %s, %s/../lib/"
                 "lockhound or %s/../lib)",
                 folder, folder, folder);
}

static const char *joined(struct run *r, const char *first,
                          const char *variable)
{
    const char *old = getenv(variable);
    return old && *old ? lh_pool_format(&r->pool, "%s:%s", first, old) : first;
}

static void start(struct run *r)
{
    struct lh_target target;
    const char *command = r->options.rest[0];
    lh_target_find(&r->pool, command, &target);
    lh_formats_open(&r->options);
    const char *library = find_preload(r);
    const char *preload = joined(r, library, "LD_PRELOAD");
    make_dir(r);
    lh_target_warn(&r->pool, &target, library);
    int error = lh_follow_start(&r->follow, r->dir);
    if (error)
        lh_diag_fail("%s: cannot be watched: %s (expected inotify)", r->dir,
                     strerror(error));
    /* A shared ASan runtime refuses to run behind another library. It need not
     * be the first one for what it does. */
    const char *asan = "verify_asan_link_order=0";
    const char *old = getenv("ASAN_OPTIONS");
    if (old && *old)
        asan = lh_pool_format(&r->pool, "%s:%s", old, asan);
    const char *variables[] = { "LD_PRELOAD",
                                preload,
                                "LOCKHOUND",
                                r->setting,
                                target.shared_asan ? "ASAN_OPTIONS" : NULL,
                                asan,
                                NULL };
    error = lh_spawn_start(&r->target, r->options.rest, variables);
    if (error) {
        if (r->dir_is_new)
            rmdir(r->dir);
        lh_diag_fail("%s: cannot be run: %s", command, strerror(error));
    }
}

/* In one write, as the target may be writing to the same stream. */
static void show(struct run *r, struct lh_findings_item *item)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        lh_diag_fail("out of memory");
    fputc('\n', out);
    lh_text_finding(out, r->colour, r->options.verbose, r->symbols, &r->names,
                    item);
    if (r->options.gen_suppressions)
        lh_genrule_print(out, r->symbols, &r->names, item);
    if (fclose(out) == 0)
        fwrite(text, 1, n, stderr);
    fflush(stderr);
    free(text);
    item->shown = true;
    item->npids_shown = item->npids;
}

static void show_if_wanted(struct run *r, struct lh_findings_item *item,
                           bool all)
{
    if (item->shown || (!all && item->finding->grade == LH_MODEL_CONDITIONAL))
        return;
    lh_standing_judge(&r->standing, item);
    if (lh_findings_is_wanted(item, all))
        show(r, item);
}

/* Possible ones are shown at once; conditional ones may still rise, and wait
 * for the end. */
static void look_at(struct run *r, const struct lh_model_process *p, bool last)
{
    for (size_t i = 0; i < p->nfindings; i++) {
        const struct lh_model_finding *f = p->findings[i];
        if (!last &&
            (f->grade == LH_MODEL_CONDITIONAL || !lh_model_is_complete(p, f)))
            continue;
        show_if_wanted(r, lh_findings_add(&r->findings, p, f), false);
    }
}

static void look(struct run *r, bool last)
{
    for (size_t i = 0; i < r->follow.n; i++) {
        const struct lh_model_process *p = r->follow.processes[i];
        if (i == r->nlooked) {
            r->looked = lh_pool_grow(r->looked, r->nlooked, &r->capacity,
                                     sizeof *r->looked);
            r->looked[r->nlooked++] = 0;
        }
        if (last || r->looked[i] != p->nrecords)
            look_at(r, p, last);
        r->looked[i] = p->nrecords;
    }
}

/* The command and the watched programs that it has started; their number goes
 * to n. */
static uint64_t *living(struct run *r, size_t *n)
{
    uint64_t *pids = lh_pool_array(&r->pool, r->follow.n + 1, sizeof *pids);
    *n = 0;
    pids[(*n)++] = (uint64_t)r->target.pid;
    for (size_t i = 0; i < r->follow.n; i++) {
        const struct lh_model_process *p = r->follow.processes[i];
        if (p->pid != pids[0] && lh_follow_lives(p))
            pids[(*n)++] = p->pid;
    }
    return pids;
}

static void explain(struct run *r, const uint64_t *pids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputc('\n', stderr);
        r->deadlocked |= lh_inspect_show(stderr, r->colour, pids[i]);
    }
    fflush(stderr);
}

static void look_for_hang(struct run *r)
{
    size_t n;
    const uint64_t *pids = living(r, &n);
    if (!lh_hang_look(&r->hang, pids, n))
        return;
    lh_diag_say("no thread has run for %u s", r->options.hang_after);
    explain(r, pids, n);
    const char *what = r->options.on_hang;
    if (!what || strcmp(what, "report") == 0)
        return;
    r->hung = true;
    for (size_t i = n; i-- > 0;)
        kill((pid_t)pids[i], strcmp(what, "abort") == 0 ? SIGABRT : SIGKILL);
}

static void explain_now(struct run *r)
{
    size_t n;
    const uint64_t *pids = living(r, &n);
    r->target.explain = false;
    explain(r, pids, n);
}

static void watch(struct run *r)
{
    struct pollfd fds[] = { { .fd = r->target.fd, .events = POLLIN },
                            { .fd = r->follow.fd, .events = POLLIN } };
    for (;;) {
        poll(fds, 2, lh_hang_pause(&r->hang));
        if (fds[0].revents && lh_spawn_poll(&r->target))
            return;
        if (r->target.explain)
            explain_now(r);
        if (r->hang.seconds)
            look_for_hang(r);
        if (!fds[1].revents)
            continue;
        lh_follow_read(&r->follow);
        look(r, false);
        poll(fds, 1, PAUSE_MS);
    }
}

/* What several processes made together, and what none of them made alone, known
 * when all is known. */
static void look_across(struct run *r)
{
    r->merged = lh_across_find(r->follow.processes, r->follow.n, &r->findings);
    r->of_runs = lh_runs_find(r->follow.processes, r->follow.n, &r->findings);
    for (size_t i = 0; i < r->findings.n; i++)
        show_if_wanted(r, r->findings.items[i], false);
}

static void show_conditional(struct run *r)
{
    lh_findings_sort(&r->findings);
    for (size_t i = 0; i < r->findings.n; i++)
        show_if_wanted(r, r->findings.items[i], r->options.all);
    lh_standing_judge_all(&r->standing, &r->findings);
}

/* What was shown when the first process had found it. */
static void say_repeated(struct run *r)
{
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct lh_findings_item *item = r->findings.items[i];
        if (!item->shown || item->npids <= item->npids_shown)
            continue;
        struct lh_explain e;
        lh_explain_begin(&e, &r->pool, r->symbols, &r->names, item->process,
                         item->finding);
        size_t more = item->npids - item->npids_shown;
        lh_diag_say("%s was also made in %zu other process%s",
                    lh_explain_reference(&e), more, more == 1 ? "" : "es");
    }
}

static void say_living(struct run *r)
{
    for (size_t i = 0; i < r->follow.n; i++) {
        const struct lh_model_process *p = r->follow.processes[i];
        if (lh_follow_lives(p))
            lh_diag_say("pid %llu (%s) still runs; lockhound report %s tells "
                        "what it finds from now on",
                        (unsigned long long)p->pid, p->exe, r->dir);
    }
}

static bool has_happened(const struct lh_model_process *p)
{
    for (size_t i = 0; i < p->nfindings; i++)
        if (p->findings[i]->grade == LH_MODEL_HAPPENED)
            return true;
    return false;
}

/* The processes that the preload has ended. */
static void say_ended(struct run *r)
{
    if (strcmp(r->options.on_deadlock, "report") == 0)
        return;
    for (size_t i = 0; i < r->follow.n; i++) {
        const struct lh_model_process *p = r->follow.processes[i];
        if (has_happened(p) && !p->ended && !lh_follow_lives(p))
            lh_diag_say("pid %llu (%s) could not go on, and was ended "
                        "(--on-deadlock=%s)",
                        (unsigned long long)p->pid, p->exe,
                        r->options.on_deadlock);
    }
}

static bool any_shown(const struct run *r)
{
    for (size_t i = 0; i < r->findings.n; i++)
        if (r->findings.items[i]->shown)
            return true;
    return false;
}

static void conclude(struct run *r, struct lh_summary *summary)
{
    if (any_shown(r))
        fputc('\n', stderr);
    int status = r->target.status;
    if (WIFSIGNALED(status))
        lh_diag_say("%s was killed by signal %d (%s)%s%s", r->options.rest[0],
                    WTERMSIG(status), strsignal(WTERMSIG(status)),
                    r->hung ? ", by --on-hang=" : "",
                    r->hung ? r->options.on_hang : "");
    lh_summary_notes(r->follow.processes, r->follow.n);
    say_repeated(r);
    say_living(r);
    say_ended(r);
    lh_standing_say_unused(&r->standing);
    if (r->follow.n == 0)
        lh_diag_say("no records were written: the preload was not loaded "
                    "(static or privileged program, or LD_PRELOAD cleared?)");
    lh_summary_count(summary, &r->findings, r->follow.processes, r->follow.n);
    for (size_t i = 0; i < r->follow.n; i++)
        summary->unwatched += !r->follow.processes[i]->started;
    bool empty = r->follow.n == 0 && r->dir_is_new && rmdir(r->dir) == 0;
    fprintf(stderr, "%s\n",
            lh_summary_text(&r->pool, summary, r->options.all,
                            empty ? NULL : r->dir));
}

static void write_reports(struct run *r, const struct lh_summary *summary)
{
    struct lh_content content = {
        .all = r->options.all,
        .verbose = r->options.verbose,
        .gen_suppressions = r->options.gen_suppressions,
        .colour = r->options.colour,
        .symbols = r->symbols,
        .names = &r->names,
        .findings = &r->findings,
        .summary = summary,
        .processes = r->follow.processes,
        .nprocesses = r->follow.n,
    };
    lh_formats_write(&r->options, &content);
}

static int exit_status(const struct run *r, const struct lh_summary *summary)
{
    int status = r->target.status;
    int code = r->options.exit_code;
    if (r->hung && summary->status < STATUS_HAPPENED && code != 0)
        return code > 0 ? code : r->deadlocked ? STATUS_HAPPENED : STATUS_HUNG;
    if (summary->status && code != 0)
        return code > 0 ? code : summary->status;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int lh_run_main(int argc, char **argv)
{
    struct run r = { 0 };
    struct lh_summary summary;
    lh_options_parse(LH_OPTIONS_RUN, argc, argv, &r.options);
    if (r.options.on_hang && !r.options.hang_after)
        lh_diag_fail("run: --on-hang=%s: needs to know when (expected "
                     "--hang-after=SECONDS, too)",
                     r.options.on_hang);
    r.colour = lh_style_wanted(r.options.colour, STDERR_FILENO);
    if (r.options.check) {
        lh_check_print(&r.pool, r.options.rest[0], find_preload(&r));
        lh_options_free(&r.options);
        lh_pool_free(&r.pool);
        return 0;
    }
    r.symbols = r.findings.symbols = lh_symbols_new();
    take_setting(&r);
    r.hang.seconds = r.options.hang_after;
    choose_on_deadlock(&r);
    lh_standing_begin(&r.standing, &r.options, r.symbols);
    start(&r);
    watch(&r);
    lh_follow_finish(&r.follow);
    look(&r, true);
    look_across(&r);
    show_conditional(&r);
    conclude(&r, &summary);
    write_reports(&r, &summary);
    int status = exit_status(&r, &summary);
    lh_findings_free(&r.findings);
    lh_naming_free(&r.names);
    lh_symbols_free(r.symbols);
    if (r.merged)
        lh_model_free(r.merged);
    if (r.of_runs)
        lh_model_free(r.of_runs);
    lh_follow_end(&r.follow);
    free(r.looked);
    lh_standing_end(&r.standing);
    lh_options_free(&r.options);
    lh_pool_free(&r.pool);
    return status;
}
