/* SPDX-License-Identifier: MIT
 * symbols.c - from module and offset to function, file and line (libdw). */
#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demangle.h"
#include "diag.h"
#include "enclosing.h"
#include "function.h"
#include "idmap.h"
#include "model.h"
#include "pool.h"
#include "units.h"
#include "variables.h"

enum { MAX_INLINED = 64, MAX_SCOPES = 256, MAX_BUILD_ID_BYTES = 64 };

struct places {
    struct lh_symbols_place *list;
    size_t n;
};

struct lh_symbols_module {
    struct lh_symbols_module *next;
    struct lh_symbols_module *same_hash; /* older ones of its hash */
    struct lh_pool *pool;                /* of the struct lh_symbols */
    char *path, *build_id;
    uint64_t base;
    bool tried;
    Dwfl *dwfl;
    Dwfl_Module *module;     /* NULL: nothing is known */
    GElf_Addr bias;          /* from the file's addresses to libdwfl's */
    bool fixed;              /* ET_EXEC: the file's addresses are absolute */
    struct lh_idmap code[2]; /* offset -> struct places; [1]: of calls */
    struct lh_idmap data;    /* offset -> struct lh_symbols_data */
    struct lh_idmap names;   /* DIE of a function -> its name */
    struct lh_units *units;  /* NULL until needed */
    struct lh_enclosing *scopes;    /* likewise */
    struct lh_variables *variables; /* likewise */
};

struct lh_symbols {
    struct lh_pool pool;
    struct lh_idmap by_record; /* struct lh_model_module -> the next */
    struct lh_symbols_module *modules;
    struct lh_idmap by_name; /* path and build id: the newest of that hash */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct lh_symbols *lh_symbols_new(void)
{
    struct lh_pool pool = { 0 };
    struct lh_symbols *s = lh_pool_alloc(&pool, sizeof *s);
    s->pool = pool;
    return s;
}

void lh_symbols_free(struct lh_symbols *s)
{
    for (struct lh_symbols_module *m = s->modules; m; m = m->next) {
        lh_units_free(m->units);
        lh_variables_free(m->variables);
        lh_idmap_free(&m->code[0]);
        lh_idmap_free(&m->code[1]);
        lh_idmap_free(&m->data);
        lh_idmap_free(&m->names);
        lh_enclosing_free(m->scopes);
        if (m->dwfl)
            dwfl_end(m->dwfl);
    }
    lh_idmap_free(&s->by_record);
    lh_idmap_free(&s->by_name);
    struct lh_pool pool = s->pool; /* s itself lies in it */
    lh_pool_free(&pool);
}

static bool is_of(const struct lh_symbols_module *m,
                  const struct lh_model_module *wanted)
{
    return strcmp(m->path, wanted->path) == 0 &&
           strcmp(m->build_id, wanted->build_id) == 0;
}

static struct lh_symbols_module *
find_module(struct lh_symbols *s, const struct lh_model_module *wanted)
{
    uint64_t key = lh_idmap_mix(lh_idmap_text(wanted->path),
                                lh_idmap_text(wanted->build_id));
    struct lh_symbols_module *first = lh_idmap_get(&s->by_name, key),
                             *m = first;
    while (m && (strcmp(m->path, wanted->path) != 0 ||
                 strcmp(m->build_id, wanted->build_id) != 0))
        m = m->same_hash;
    if (m)
        return m;
    m = lh_pool_alloc(&s->pool, sizeof *m);
    m->path = lh_pool_copy(&s->pool, wanted->path);
    m->build_id = lh_pool_copy(&s->pool, wanted->build_id);
    m->base = wanted->base;
    m->pool = &s->pool;
    m->next = s->modules;
    m->same_hash = first;
    s->modules = m;
    lh_idmap_put(&s->by_name, key, m);
    return m;
}

/* A record may have been replaced, or another have its place. */
struct lh_symbols_module *lh_symbols_open(struct lh_symbols *s,
                                          const struct lh_model_module *wanted)
{
    struct lh_symbols_module *m =
        lh_idmap_get(&s->by_record, (uintptr_t)wanted);
    if (m && is_of(m, wanted))
        return m;
    m = find_module(s, wanted);
    lh_idmap_put(&s->by_record, (uintptr_t)wanted, m);
    return m;
}

static size_t from_hex(const char *text, unsigned char *bytes, size_t max)
{
    size_t n = 0;
    for (; n < max && text[2 * n] && text[2 * n + 1]; n++) {
        unsigned value;
        if (sscanf(text + 2 * n, "%2x", &value) != 1)
            return 0;
        bytes[n] = (unsigned char)value;
    }
    return text[2 * n] ? 0 : n;
}

/* Whether the file is there, is ELF, and is the one that was recorded. */
static int check_file(const char *path, const char *build_id)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    unsigned char wanted[MAX_BUILD_ID_BYTES];
    size_t nwanted = from_hex(build_id, wanted, sizeof wanted);
    const void *bytes = NULL;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    int error = elf && elf_kind(elf) == ELF_K_ELF ? 0 : ENOEXEC;
    if (!error && nwanted) {
        ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);
        if (n != (ssize_t)nwanted || memcmp(bytes, wanted, nwanted) != 0)
            error = ESTALE;
    }
    if (elf)
        elf_end(elf);
    close(fd);
    return error;
}

/* By build id alone, from the debug files of the system or debuginfod. */
static Dwfl_Module *report_by_build_id(struct lh_symbols_module *m)
{
    unsigned char bits[MAX_BUILD_ID_BYTES];
    size_t n = from_hex(m->build_id, bits, sizeof bits);
    if (!n)
        return NULL;
    Dwfl_Module *module =
        dwfl_report_module(m->dwfl, m->path, 0, (Dwarf_Addr)1 << 46);
    if (module && dwfl_module_report_build_id(module, bits, n, 0) != 0)
        module = NULL;
    return module;
}

/* The vdso and the like have none. */
static bool has_file(const struct lh_symbols_module *m)
{
    return m->path[0] == '/';
}

static void complain(const struct lh_symbols_module *m, int error)
{
    if (!has_file(m))
        return;
    const char *why = error == ESTALE    ? "is not the file that was recorded"
                      : error == ENOEXEC ? "is no ELF file"
                                         : strerror(error);
    lh_diag_say("%s: %s; what lies in it is shown as module+offset", m->path,
                why);
}

static void load(struct lh_symbols_module *m)
{
    elf_version(EV_CURRENT);
    int error = check_file(m->path, m->build_id);
    m->tried = true;
    m->dwfl = dwfl_begin(&callbacks);
    if (!m->dwfl)
        return;
    dwfl_report_begin(m->dwfl);
    Dwfl_Module *module =
        error ? report_by_build_id(m)
              : dwfl_report_elf(m->dwfl, m->path, m->path, -1, 0, false);
    dwfl_report_end(m->dwfl, NULL, NULL);
    Elf *elf = module ? dwfl_module_getelf(module, &m->bias) : NULL;
    GElf_Ehdr header;
    if (!elf || !gelf_getehdr(elf, &header)) {
        complain(m, error ? error : ENOEXEC);
        return;
    }
    m->fixed = header.e_type == ET_EXEC;
    m->module = module;
}

bool lh_symbols_miss_a_file(const struct lh_symbols *s)
{
    const struct lh_symbols_module *m = s->modules;
    while (m && (!m->tried || m->module || !has_file(m)))
        m = m->next;
    return m != NULL;
}

/* Whether m is usable; address receives libdwfl's address of the offset. */
static bool locate(struct lh_symbols_module *m, uint64_t offset,
                   Dwarf_Addr *address)
{
    if (!m->tried)
        load(m);
    *address = offset + m->bias + (m->fixed ? m->base : 0);
    return m->module != NULL;
}

static void set_source(struct lh_symbols_module *m, Dwarf_Die *unit,
                       const char *file, int line,
                       struct lh_symbols_place *place)
{
    Dwarf_Attribute attribute;
    const char *folder = NULL;
    if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
        folder = dwarf_formstring(&attribute);
    place->file = file ? lh_pool_copy(m->pool, file) : "";
    place->built_in = folder ? lh_pool_copy(m->pool, folder) : "";
    place->line = file ? line : 0;
}

/* Where an inlined function was called: the line of the place around it. */
static void set_call_site(struct lh_symbols_module *m, Dwarf_Die *unit,
                          Dwarf_Die *inlined, struct lh_symbols_place *place)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files *files;
    size_t nfiles;
    if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
        dwarf_formudata(&attribute, &file) != 0 ||
        !dwarf_attr(inlined, DW_AT_call_line, &attribute) ||
        dwarf_formudata(&attribute, &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &nfiles) != 0)
        return;
    set_source(m, unit, dwarf_filesrc(files, file, NULL, NULL), (int)line,
               place);
}

/* The compilation unit at address; bias receives what to take off to get to
 * the DWARF's own addresses. */
static Dwarf_Die *unit_at(struct lh_symbols_module *m, Dwarf_Addr address,
                          Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(m->module, address, bias);
    Dwarf *dwarf = unit ? NULL : dwfl_module_getdwarf(m->module, bias);
    if (!dwarf)
        return unit;
    if (!m->units)
        m->units = lh_units_read(dwarf);
    return lh_units_find(m->units, address - *bias);
}

static void read_line(struct lh_symbols_module *m, Dwarf_Die *unit,
                      Dwarf_Addr address, struct lh_symbols_place *place)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (line && dwarf_lineno(line, &number) == 0)
        set_source(m, unit, dwarf_linesrc(line, NULL, NULL), number, place);
}

/* With split DWARF, what the program has is a skeleton, and the functions are
 * in another file. */
static Dwarf_Die with_functions(Dwarf_Die *unit)
{
    Dwarf_Die full;
    uint8_t type;
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &full, NULL, NULL, NULL) ==
            0 &&
        type == DW_UT_skeleton && full.cu)
        return full;
    return *unit;
}

static const char *function_name(struct lh_symbols_module *m, Dwarf_Die *die)
{
    const char *name = lh_idmap_get(&m->names, (uintptr_t)die->addr);
    if (!name) {
        name = lh_function_name(m->pool, die);
        lh_idmap_put(&m->names, (uintptr_t)die->addr, (void *)name);
    }
    return name;
}

static struct lh_enclosing *scopes_of(struct lh_symbols_module *m)
{
    if (!m->scopes)
        m->scopes = lh_enclosing_new();
    return m->scopes;
}

/* By DWARF: the chain of inlined functions. */
static size_t read_dwarf(struct lh_symbols_module *m, Dwarf_Addr address,
                         struct lh_symbols_place *places)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_at(m, address, &bias);
    size_t n;
    if (!unit)
        return 0;
    Dwarf_Die full = with_functions(unit), functions[MAX_INLINED];
    n = lh_enclosing_functions(scopes_of(m), &full, address - bias, functions,
                               MAX_INLINED);
    struct lh_symbols_place place = { "", "", "", 0, false };
    read_line(m, unit, address - bias, &place);
    for (size_t i = 0; i < n; i++) {
        place.function = function_name(m, &functions[i]);
        place.inlined = i + 1 < n;
        places[i] = place;
        place = (struct lh_symbols_place){ "", "", "", 0, false };
        set_call_site(m, unit, &functions[i], &place);
    }
    return n;
}

/* By the ELF symbol that covers the address; NULL if none does. */
static const char *symbol_at(struct lh_symbols_module *m, Dwarf_Addr address,
                             GElf_Off *offset, GElf_Sym *symbol)
{
    const char *name = dwfl_module_addrinfo(m->module, address, offset, symbol,
                                            NULL, NULL, NULL);
    bool covers = symbol->st_size ? *offset < symbol->st_size : *offset == 0;
    return covers ? name : NULL;
}

/* Functions written in assembler have lines, if anything, but no DIE. */
static size_t read_symbol(struct lh_symbols_module *m, Dwarf_Addr address,
                          struct lh_symbols_place *place)
{
    GElf_Off offset = 0;
    GElf_Sym symbol = { 0 };
    const char *name = symbol_at(m, address, &offset, &symbol);
    if (!name)
        return 0;
    *place = (struct lh_symbols_place){
        .function = lh_demangle_brief(m->pool, name), .file = "", .built_in = ""
    };
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_at(m, address, &bias);
    if (unit)
        read_line(m, unit, address - bias, place);
    return 1;
}

static struct places *read_places(struct lh_symbols_module *m,
                                  Dwarf_Addr address)
{
    struct lh_symbols_place found[MAX_INLINED];
    size_t n = read_dwarf(m, address, found);
    if (n == 0)
        n = read_symbol(m, address, found);
    struct places *p = lh_pool_alloc(m->pool, sizeof *p);
    p->list = lh_pool_array(m->pool, n, sizeof *p->list);
    p->n = n;
    if (n)
        memcpy(p->list, found, n * sizeof *found);
    return p;
}

const struct lh_symbols_place *lh_symbols_code(struct lh_symbols_module *m,
                                               uint64_t offset, bool is_call,
                                               size_t *n)
{
    Dwarf_Addr address;
    *n = 0;
    if (!locate(m, offset, &address))
        return NULL;
    struct places *p = lh_idmap_get(&m->code[is_call], offset);
    if (!p) {
        p = read_places(m, address - is_call);
        lh_idmap_put(&m->code[is_call], offset, p);
    }
    *n = p->n;
    return p->list;
}

bool lh_symbols_scopes(struct lh_symbols_module *m, uint64_t offset,
                       size_t level, struct lh_symbols_scopes *scopes)
{
    Dwarf_Addr address, bias = 0;
    Dwarf_Die *unit =
        locate(m, offset, &address) ? unit_at(m, address - 1, &bias) : NULL;
    if (!unit)
        return false;
    Dwarf_Die full = with_functions(unit), list[MAX_SCOPES];
    size_t n = lh_enclosing_scopes(scopes_of(m), &full, address - 1 - bias,
                                   list, MAX_SCOPES);
    *scopes = (struct lh_symbols_scopes){
        .list = lh_pool_array(m->pool, n, sizeof *list),
        .n = (int)n,
        .back = address - bias,
    };
    memcpy(scopes->list, list, n * sizeof *list);
    for (int i = 0; i < scopes->n; i++) {
        if (!lh_function_is(&scopes->list[i]))
            continue;
        scopes->last = i;
        if (level-- == 0)
            return true;
        scopes->first = i + 1;
    }
    return false;
}

static bool find_variable(struct lh_symbols_module *m, Dwarf_Addr address,
                          struct lh_symbols_data *data)
{
    Dwarf_Addr bias = 0;
    Dwarf *dwarf = dwfl_module_getdwarf(m->module, &bias);
    struct lh_variables_found found;
    if (!m->variables && dwarf)
        m->variables = lh_variables_read(dwarf);
    if (!m->variables ||
        lh_variables_find(m->variables, m->pool, address - bias, &found) != 0)
        return false;
    *data = (struct lh_symbols_data){ found.path, found.function, found.file,
                                      found.built_in, found.line };
    return true;
}

/* A function's static variable is called "name.123" in the symbol table. */
static void drop_number(char *name)
{
    char *dot = strrchr(name, '.');
    if (dot && dot > name && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")])
        *dot = '\0';
}

static struct lh_symbols_data read_data(struct lh_symbols_module *m,
                                        Dwarf_Addr address)
{
    struct lh_symbols_data data = { "", "", "", "", 0 };
    GElf_Off inside = 0;
    GElf_Sym symbol = { 0 };
    if (find_variable(m, address, &data))
        return data;
    const char *mangled = symbol_at(m, address, &inside, &symbol);
    if (!mangled)
        return data;
    char *name = lh_demangle_full(m->pool, mangled);
    drop_number(name);
    data.name = inside ? lh_pool_format(m->pool, "%s+%llu", name,
                                        (unsigned long long)inside)
                       : name;
    return data;
}

struct lh_symbols_data lh_symbols_data(struct lh_symbols_module *m,
                                       uint64_t offset)
{
    Dwarf_Addr address;
    if (!locate(m, offset, &address))
        return (struct lh_symbols_data){ "", "", "", "", 0 };
    struct lh_symbols_data *data = lh_idmap_get(&m->data, offset);
    if (!data) {
        data = lh_pool_alloc(m->pool, sizeof *data);
        *data = read_data(m, address);
        lh_idmap_put(&m->data, offset, data);
    }
    return *data;
}
