/* SPDX-License-Identifier: MIT
 * target.c - what can be seen of a program, by its file. */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "diag.h"
#include "place.h"
#include "pool.h"

enum { MAX_INTERPRETERS = 5, HEAD_BYTES = 256 };

/* What an ELF file says about itself. */
struct facts {
    bool is_elf, same_machine, has_interpreter, is_dynamic, is_loader, is_musl;
    bool wants_asan, wants_tsan; /* by a shared runtime */
    bool has_asan, has_tsan;     /* linked in */
    int bits;
};

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

static void read_needed(Elf *elf, size_t strings, Elf_Data *data,
                        struct facts *f)
{
    GElf_Dyn dyn;
    for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
        const char *name = dyn.d_tag == DT_NEEDED || dyn.d_tag == DT_SONAME
                               ? elf_strptr(elf, strings, dyn.d_un.d_val)
                               : NULL;
        if (!name)
            continue;
        if (dyn.d_tag == DT_SONAME) {
            f->is_loader |= strncmp(name, "ld-linux", 8) == 0 ||
                            strncmp(name, "ld64", 4) == 0;
            continue;
        }
        f->is_musl |= strncmp(name, "libc.musl-", 10) == 0 ||
                      strcmp(name, "libc.so") == 0;
        f->wants_asan |= strncmp(name, "libasan.so", 10) == 0 ||
                         strncmp(name, "libclang_rt.asan", 16) == 0;
        f->wants_tsan |= strncmp(name, "libtsan.so", 10) == 0 ||
                         strncmp(name, "libclang_rt.tsan", 16) == 0;
    }
}

static void read_symbols(Elf *elf, size_t strings, Elf_Data *data,
                         struct facts *f)
{
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = symbol.st_shndx != SHN_UNDEF
                               ? elf_strptr(elf, strings, symbol.st_name)
                               : NULL;
        if (!name || name[0] != '_' || name[1] != '_')
            continue;
        f->has_asan |= strcmp(name, "__asan_init") == 0;
        f->has_tsan |= strcmp(name, "__tsan_init") == 0;
    }
}

static void read_sections(Elf *elf, struct facts *f)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) ||
            (header.sh_type != SHT_DYNAMIC && header.sh_type != SHT_DYNSYM &&
             header.sh_type != SHT_SYMTAB) ||
            !(data = elf_getdata(section, NULL)))
            continue;
        if (header.sh_type == SHT_DYNAMIC)
            read_needed(elf, header.sh_link, data, f);
        else
            read_symbols(elf, header.sh_link, data, f);
    }
}

static void read_segments(Elf *elf, struct facts *f)
{
    size_t n = 0;
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            return;
        f->is_dynamic |= header.p_type == PT_DYNAMIC;
        if (header.p_type != PT_INTERP)
            continue;
        f->has_interpreter = true;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
                                              header.p_filesz, ELF_T_BYTE);
        f->is_musl |=
            data && memmem(data->d_buf, data->d_size, "ld-musl", 7) != NULL;
    }
}

static bool is_our_machine(const GElf_Ehdr *header)
{
    GElf_Ehdr own = { 0 };
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    bool same = !elf || !gelf_getehdr(elf, &own) ||
                (own.e_machine == header->e_machine &&
                 own.e_ident[EI_DATA] == header->e_ident[EI_DATA]);
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return same;
}

static struct facts read_facts(const char *path)
{
    struct facts f = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
        f.is_elf = true;
        f.bits = header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
        f.same_machine = is_our_machine(&header);
        read_segments(elf, &f);
        read_sections(elf, &f);
    }
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return f;
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

static void refuse(const char *path, const struct facts *f)
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

static void warn(const char *path, const struct facts *f)
{
    const char *why = privilege(path);
    if (!f->has_interpreter && !f->is_loader)
        lh_diag_say("%s: is statically linked: its locks cannot be seen", path);
    else if (why)
        lh_diag_say("%s: %s: the preload is not loaded into it, so its locks "
                    "cannot be seen",
                    path, why);
    else if (f->wants_tsan || f->has_tsan)
        lh_diag_say("%s: is built with TSan: locks inside its runtime cannot "
                    "be seen, and what it reports of liblockhound.so is wrong",
                    path);
    else if (f->wants_asan || f->has_asan)
        lh_diag_say("%s: is built with ASan: locks inside its runtime cannot "
                    "be seen",
                    path);
}

void lh_target_check(struct lh_pool *pool, const char *command,
                     struct lh_target *target)
{
    int error;
    target->shared_asan = false;
    target->path = find_program(pool, command, &error);
    if (!target->path)
        lh_diag_fail("%s: %s (expected a program%s)", command, strerror(error),
                     strchr(command, '/') ? "" : " in PATH");
    const char *path = target->path;
    for (int i = 0; path && i < MAX_INTERPRETERS; i++) {
        struct facts f = read_facts(path);
        if (f.is_elf) {
            refuse(path, &f);
            warn(path, &f);
            target->shared_asan = f.wants_asan;
            return;
        }
        path = interpreter(pool, path);
    }
}
