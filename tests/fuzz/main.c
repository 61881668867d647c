/* SPDX-License-Identifier: MIT
 * main.c - feeds files to a harness, where libFuzzer is not to: each once.
 *
 * Usage: READER FILE|DIR...; the messages of the reader go to standard error.
 * Names the input in case that it ends the program. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

/* What an input may take: far more than any does. */
enum { MAX_SECONDS = 60, MAX_BYTES = 1 << 30 };

static const char *current = "";
static size_t ninputs;

static void name_current(void)
{
    static const char words[] = ": ended the reader\n";
    /* Nothing helps if they cannot be written. */
    if (write(STDOUT_FILENO, current, strlen(current)) < 0 ||
        write(STDOUT_FILENO, words, sizeof words - 1) < 0)
        _exit(1);
}

static void on_end(int signal_number)
{
    name_current();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void feed_file(const char *path)
{
    struct stat st;
    FILE *in = fopen(path, "re");
    char *bytes = NULL;
    if (in && fstat(fileno(in), &st) == 0)
        bytes = malloc((size_t)st.st_size + 1);
    if (!bytes ||
        fread(bytes, 1, (size_t)st.st_size, in) != (size_t)st.st_size) {
        perror(path);
        exit(1);
    }
    fclose(in);
    current = path;
    ninputs++;
    alarm(MAX_SECONDS);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, (size_t)st.st_size);
    alarm(0);
    free(bytes);
}

static void feed(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        feed_file(path);
        return;
    }
    for (struct dirent *e; (e = readdir(folder));) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            feed(name);
    }
    closedir(folder);
}

/* Of the sanitizers, where there are any. */
void __asan_init(void) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void))
    __attribute__((weak));

/* A sanitizer needs terabytes of addresses. */
static void limit_memory(void)
{
    struct rlimit limit = { MAX_BYTES, MAX_BYTES };
    if (!__asan_init)
        setrlimit(RLIMIT_AS, &limit);
}

int main(int argc, char **argv)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_end);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(name_current);
    limit_memory();
    for (int i = 1; i < argc; i++)
        feed(argv[i]);
    printf("%zu inputs\n", ninputs);
    return 0;
}
