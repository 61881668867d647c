/* SPDX-License-Identifier: MIT
 *
 * modules.h - which loaded file an address belongs to.
 *
 * Asks _dl_find_object, which takes no lock (dladdr and dl_iterate_phdr take
 * the loader's). A file that was unloaded keeps its number; one that is loaded
 * at its place gets another.
 *
 * Threads:  called with the lock of stacks.h held, but for lh_modules_init().
 */
#ifndef LH_RUNTIME_MODULES_H
#define LH_RUNTIME_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_module {
    uintptr_t low, high, base;
    char *path;
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: none */
    bool recorded;
    bool gone;  /* not loaded any more: its number is not found again */
    bool ended; /* lh_module_take_gone() gave it */
};

void lh_modules_init(void);

/* The path of the executable; any thread. */
const char *lh_modules_executable(void);

/* The number of the module that holds an address, or 0. */
uint32_t lh_module_find(uintptr_t address);

/* True if a module holds the address; takes no lock. */
bool lh_module_holds(uintptr_t address);

uintptr_t lh_module_base(uint32_t module);

/* For a number that lh_module_find() returned; stays valid and, but for
 * recorded, unchanged. */
struct lh_module *lh_module_get(uint32_t module);

/* Marks the modules that are not loaded any more; false if there are none that
 * were not marked before. */
bool lh_modules_drop_unloaded(void);

/* A module that is gone, each once; NULL after the last. */
const struct lh_module *lh_module_take_gone(void);

void lh_modules_after_fork(void);

#endif
