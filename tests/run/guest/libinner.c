/* SPDX-License-Identifier: MIT
 * libinner.c - found by the RUNPATH of libcaller alone. */
int inner(void);
int inner(void)
{
    return 42;
}
