/* SPDX-License-Identifier: MIT
 * target.c - what can be seen of a program, by its file. */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "diag.h"
#include "elffile.h"
#include "place.h"
#include "pool.h"
#include "survey.h"

enum { MAX_INTERPRETERS = 5, HEAD_BYTES = 256 };

static bool is_program(const char *path, int *error)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        *error = *error == EACCES ? EACCES : errno;
        return false;
    }
    if (S_ISDIR(st.st_mode) || access(path, X_OK) != 0) {
        *error = EACCES;
        return false;
    }
    return true;
}

static const char *find_in_path(struct lh_pool *pool, const char *name,
                                int *error)
{
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    for (;;) {
        size_t n = strcspn(path, ":");
        const char *file =
            lh_pool_format(pool, "%.*s%s%s", (int)n, path, n ? "/" : "", name);
        if (is_program(file, error))
            return file;
        if (!path[n])
            return NULL;
        path += n + 1;
    }
}

static const char *find_program(struct lh_pool *pool, const char *name,
                                int *error)
{
    *error = ENOENT;
    if (!strchr(name, '/'))
        return *name ? find_in_path(pool, name, error) : NULL;
    return is_program(name, error) ? lh_pool_copy(pool, name) : NULL;
}

/* The interpreter of a script; NULL if the file is none. For env(1) it is the
 * program that env starts. */
static const char *interpreter(struct lh_pool *pool, const char *path)
{
    char head[HEAD_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
    if (fd >= 0)
        close(fd);
    if (n < 2 || memcmp(head, "#!", 2) != 0)
        return NULL;
    head[n] = '\0';
    head[strcspn(head, "\n")] = '\0';
    char *rest, *word = strtok_r(head + 2, " \t", &rest);
    if (word && strcmp(lh_place_base(word), "env") == 0) {
        char *next = strtok_r(NULL, " \t", &rest);
        if (next && strcmp(next, "-S") == 0)
            next = strtok_r(NULL, " \t", &rest);
        int error;
        const char *found =
            next && *next != '-' ? find_program(pool, next, &error) : NULL;
        if (found)
            return found;
    }
    return word ? lh_pool_copy(pool, word) : NULL;
}

/* Whether executing the file changes who we are, so that the loader ignores
 * LD_PRELOAD; returns the reason or NULL. */
static const char *privilege(const char *path)
{
    struct stat st;
    struct statvfs fs;
    if (stat(path, &st) != 0 ||
        (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID)))
        return NULL;
    if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
        return "is set-user-ID";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
        st.st_gid != getegid())
        return "is set-group-ID";
    /* Root gains nothing by file capabilities and keeps its preload. */
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "has file capabilities";
    return NULL;
}

static void refuse(const char *path, const struct lh_elffile *f)
{
    if (f->bits != (int)sizeof(void *) * 8)
        lh_diag_fail("%s: is a %d-bit program (expected %d-bit ones)", path,
                     f->bits, (int)sizeof(void *) * 8);
    if (!f->same_machine)
        lh_diag_fail("%s: is for another machine (expected one like "
                     "lockhound's)",
                     path);
    if (f->is_musl)
        lh_diag_fail("%s: is linked with musl, where the preload cannot be "
                     "loaded (expected glibc)",
                     path);
}

/* Why nothing of it can be seen; NULL if something can. */
static const char *why_unseen(struct lh_pool *pool, const char *path,
                              const struct lh_elffile *f)
{
    const char *why = privilege(path);
    if (!f->has_interpreter && !f->is_loader)
        return f->runtimes & LH_ELFFILE_GO
                   ? "is statically linked, by Go: its locks cannot be seen"
                   : "is statically linked: its locks cannot be seen";
    return why ? lh_pool_format(pool,
                                "%s: the preload is not loaded into it, so its "
                                "locks cannot be seen",
                                why)
               : NULL;
}

static const char *limits_of(const struct lh_elffile *f)
{
    if (f->wants_tsan || f->has_tsan)
        return "is built with TSan: locks inside its runtime cannot be seen, "
               "and what it reports of liblockhound.so is wrong";
    if (f->wants_asan || f->has_asan)
        return "is built with ASan: locks inside its runtime cannot be seen";
    return NULL;
}

void lh_target_find(struct lh_pool *pool, const char *command,
                    struct lh_target *target)
{
    int error;
    *target = (struct lh_target){ .path = NULL };
    const char *path = find_program(pool, command, &error);
    if (!path)
        lh_diag_fail("%s: %s (expected a program%s)", command, strerror(error),
                     strchr(command, '/') ? "" : " in PATH");
    for (int i = 0; path && i < MAX_INTERPRETERS; i++) {
        struct lh_elffile f = lh_elffile_read(pool, path);
        if (f.is_elf) {
            refuse(path, &f);
            target->path = path;
            target->unseen = why_unseen(pool, path, &f);
            target->limits = limits_of(&f);
            target->shared_asan = f.wants_asan;
            return;
        }
        path = interpreter(pool, path);
    }
}

void lh_target_warn(struct lh_pool *pool, const struct lh_target *target,
                    const char *preload)
{
    if (!target->path)
        return;
    if (target->unseen || target->limits)
        lh_diag_say("%s: %s", target->path,
                    target->unseen ? target->unseen : target->limits);
    if (target->unseen)
        return;
    struct lh_survey s = lh_survey_take(pool, target->path, preload);
    for (size_t i = 0; i < s.nremarks; i++)
        if (!s.remarks[i].usual)
            lh_diag_say("%s: cannot see %s", target->path, s.remarks[i].text);
}
