/* SPDX-License-Identifier: MIT
 * elffile.c - what an ELF file says about itself and the locks it takes. */
#include "elffile.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lockcalls.h"
#include "pool.h"

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void read_name(struct lh_pool *pool, const char *name,
                      struct lh_elffile *f)
{
    f->soname = lh_pool_copy(pool, name);
    f->is_loader |= starts(name, "ld-linux") || starts(name, "ld64");
    f->is_libc |= strcmp(name, "libc.so.6") == 0;
    if (starts(name, "libQt5Core.so") || starts(name, "libQt6Core.so"))
        f->runtimes |= LH_ELFFILE_QT;
    if (strcmp(name, "libjvm.so") == 0)
        f->runtimes |= LH_ELFFILE_JAVA;
    if (strcmp(name, "libcoreclr.so") == 0)
        f->runtimes |= LH_ELFFILE_DOTNET;
}

static void read_need(const char *name, struct lh_elffile *f)
{
    f->is_musl |= starts(name, "libc.musl-") || strcmp(name, "libc.so") == 0;
    f->wants_asan |=
        starts(name, "libasan.so") || starts(name, "libclang_rt.asan");
    f->wants_tsan |=
        starts(name, "libtsan.so") || starts(name, "libclang_rt.tsan");
    /* What its launcher links is the way to the virtual machine. */
    if (strcmp(name, "libjli.so") == 0)
        f->runtimes |= LH_ELFFILE_JAVA;
    if (starts(name, "libQt5Core.so") || starts(name, "libQt6Core.so"))
        f->runtimes |= LH_ELFFILE_QT;
}

static void read_dynamic(struct lh_pool *pool, Elf *elf, size_t strings,
                         Elf_Data *data, struct lh_elffile *f)
{
    GElf_Dyn dyn;
    for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
        const char *name = dyn.d_tag == DT_NEEDED || dyn.d_tag == DT_SONAME
                               ? elf_strptr(elf, strings, dyn.d_un.d_val)
                               : NULL;
        f->is_symbolic |=
            dyn.d_tag == DT_SYMBOLIC ||
            (dyn.d_tag == DT_FLAGS && (dyn.d_un.d_val & DF_SYMBOLIC));
        if (name && dyn.d_tag == DT_NEEDED)
            read_need(name, f);
        else if (name)
            read_name(pool, name, f);
    }
}

static void read_defined(const char *name, const GElf_Sym *symbol,
                         bool is_dynamic, struct lh_elffile *f)
{
    bool is_seen = is_dynamic && GELF_ST_BIND(symbol->st_info) != STB_LOCAL &&
                   GELF_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
    int call = lh_lockcalls_find(name);
    f->has_asan |= strcmp(name, "__asan_init") == 0;
    f->has_tsan |= strcmp(name, "__tsan_init") == 0;
    if (call >= 0 && GELF_ST_TYPE(symbol->st_info) != STT_OBJECT)
        f->own |= UINT64_C(1) << call;
    if (call >= 0 && is_seen)
        f->exports |= UINT64_C(1) << call;
    f->has_malloc |= is_seen && strcmp(name, "malloc") == 0;
    f->has_free |= is_seen && strcmp(name, "free") == 0;
}

static void read_symbols(Elf *elf, size_t strings, Elf_Data *data,
                         bool is_dynamic, struct lh_elffile *f)
{
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, strings, symbol.st_name);
        if (!name || !*name)
            continue;
        if (symbol.st_shndx != SHN_UNDEF) {
            read_defined(name, &symbol, is_dynamic, f);
            continue;
        }
        int call = is_dynamic ? lh_lockcalls_find(name) : -1;
        if (call >= 0)
            f->calls |= UINT64_C(1) << call;
    }
}

static bool has_text(Elf_Scn *section, const char *text)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf &&
           memmem(data->d_buf, data->d_size, text, strlen(text)) != NULL;
}

/* Of Rust, what the compiler says of itself may be stripped; the messages of
 * its panics name files of its library. */
static void read_language(Elf_Scn *section, const char *name,
                          struct lh_elffile *f)
{
    if (strcmp(name, ".go.buildinfo") == 0 ||
        strcmp(name, ".note.go.buildid") == 0)
        f->runtimes |= LH_ELFFILE_GO;
    if ((strcmp(name, ".comment") == 0 && has_text(section, "rustc version")) ||
        (f->is_executable && strcmp(name, ".rodata") == 0 &&
         has_text(section, "library/std/src/")))
        f->runtimes |= LH_ELFFILE_RUST;
}

static void read_sections(struct lh_pool *pool, Elf *elf, struct lh_elffile *f)
{
    Elf_Scn *section = NULL;
    size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name && header.sh_type != SHT_NOBITS)
            read_language(section, name, f);
        if ((header.sh_type != SHT_DYNAMIC && header.sh_type != SHT_DYNSYM &&
             header.sh_type != SHT_SYMTAB) ||
            !(data = elf_getdata(section, NULL)))
            continue;
        if (header.sh_type == SHT_DYNAMIC)
            read_dynamic(pool, elf, header.sh_link, data, f);
        else
            read_symbols(elf, header.sh_link, data,
                         header.sh_type == SHT_DYNSYM, f);
    }
}

static void read_segments(struct lh_pool *pool, Elf *elf, struct lh_elffile *f)
{
    size_t n = 0;
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            return;
        if (header.p_type != PT_INTERP)
            continue;
        f->has_interpreter = true;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
                                              header.p_filesz, ELF_T_BYTE);
        if (data && data->d_buf)
            f->interpreter = lh_pool_format(pool, "%.*s", (int)data->d_size,
                                            (const char *)data->d_buf);
    }
    f->is_musl |= strstr(f->interpreter, "ld-musl") != NULL;
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

struct lh_elffile lh_elffile_read(struct lh_pool *pool, const char *path)
{
    struct lh_elffile f = { .soname = "", .interpreter = "" };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
        f.is_elf = true;
        f.bits = header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
        f.same_machine = is_our_machine(&header);
        read_segments(pool, elf, &f);
        f.is_executable = header.e_type == ET_EXEC || f.has_interpreter;
        read_sections(pool, elf, &f);
    }
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return f;
}
