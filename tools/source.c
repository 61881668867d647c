/* SPDX-License-Identifier: MIT
 * source.c - source files, where they are at hand. */
#include "source.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"

enum { MAX_BYTES = 64 << 20 }; /* what is larger nobody has written */

FILE *lh_source_open(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) {
        FILE *file = fdopen(fd, "r");
        if (file)
            return file;
    }
    close(fd);
    return NULL;
}

/* A file, whole; without a text it could not be read. */
struct file {
    char *text;
    const char **lines;
    size_t nlines;
    struct timespec changed;
};

static void split(struct lh_pool *pool, struct file *f)
{
    size_t n = 1;
    for (const char *c = f->text; *c; c++)
        n += *c == '\n';
    f->lines = lh_pool_array(pool, n, sizeof *f->lines);
    for (const char *c = f->text; *c; c++)
        if (c == f->text || c[-1] == '\n')
            f->lines[f->nlines++] = c;
}

static struct file *read_file(struct lh_pool *pool, const char *path)
{
    struct file *f = lh_pool_alloc(pool, sizeof *f);
    struct stat s;
    FILE *in = lh_source_open(path);
    if (!in)
        return f;
    if (fstat(fileno(in), &s) == 0 && s.st_size <= MAX_BYTES) {
        f->changed = s.st_mtim;
        f->text = lh_pool_alloc(pool, (size_t)s.st_size + 1);
        f->text[fread(f->text, 1, (size_t)s.st_size, in)] = '\0';
        split(pool, f);
    }
    fclose(in);
    return f;
}

static bool is_older(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec ||
           (a.tv_sec == b.tv_sec && a.tv_nsec <= b.tv_nsec);
}

const char *lh_source_from(struct lh_source_files *files, const char *path,
                           int line, const char *module)
{
    uint64_t key = lh_idmap_text(path);
    struct file *f = lh_idmap_get(&files->by_path, key);
    struct stat built;
    if (!f) {
        f = read_file(&files->pool, path);
        lh_idmap_put(&files->by_path, key, f);
    }
    if (line <= 0 || (size_t)line > f->nlines || stat(module, &built) != 0 ||
        !is_older(f->changed, built.st_mtim))
        return "";
    return f->lines[line - 1];
}

void lh_source_free(struct lh_source_files *files)
{
    lh_idmap_free(&files->by_path);
    lh_pool_free(&files->pool);
}
