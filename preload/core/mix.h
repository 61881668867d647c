/* SPDX-License-Identifier: MIT
 *
 * mix.h - turns numbers into hashes whose bits all depend on all of them.
 *
 * Source:   the finalizer of MurmurHash3 with the constants of D. Stafford's
 *           "Mix13", as in SplitMix64.
 */
#ifndef LH_CORE_MIX_H
#define LH_CORE_MIX_H

#include <stdint.h>

/* Not commutative: lh_mix64(a, b) differs from lh_mix64(b, a). */
static inline uint64_t lh_mix64(uint64_t seed, uint64_t value)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + value + 0x632be59bd9b4e019u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
