/* SPDX-License-Identifier: MIT
 *
 * string.c - the functions of <string.h> that the preload uses, its own.
 *
 * The C library's could be somebody else's: a sanitizer's interceptors stand
 * in their place and are not ready when our constructor runs (strcspn under
 * clang's TSan jumped to 0), and others lock or allocate. The version script
 * keeps these inside, where our calls bind to them. Simple: none is on the hot
 * path.
 */
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    void *start = to;

    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    return start;
}

void *memmove(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;

    if (t <= f || t >= f + n)
        return memcpy(to, from, n);
    while (n-- > 0)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    void *start = to;

    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
    return start;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;

    for (; n > 0; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

void *memchr(const void *s, int byte, size_t n)
{
    const unsigned char *at = s;

    for (; n > 0; n--, at++)
        if (*at == (unsigned char)byte)
            return (void *)at;
    return NULL;
}

size_t strnlen(const char *s, size_t most)
{
    size_t n = 0;

    while (n < most && s[n])
        n++;
    return n;
}

size_t strlen(const char *s)
{
    return strnlen(s, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n > 0; n--, a++, b++) {
        if (*a != *b)
            return (unsigned char)*a - (unsigned char)*b;
        if (!*a)
            break;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strrchr(const char *s, int byte)
{
    const char *found = NULL;

    for (;; s++) {
        if (*s == (char)byte)
            found = s;
        if (!*s)
            return (char *)found;
    }
}

size_t strcspn(const char *s, const char *stops)
{
    size_t n = 0;

    while (s[n] && !memchr(stops, s[n], strlen(stops)))
        n++;
    return n;
}
