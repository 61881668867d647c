/* SPDX-License-Identifier: MIT
 * html_assets.c - the style and the script of an HTML report, as they are in
 * their files. */
#include "html.h"

#define ASSET(name, file)                                                      \
    __asm__(".pushsection .rodata\n"                                           \
            ".globl " #name "\n"                                               \
            ".type " #name ", @object\n" #name ":\n"                           \
            ".incbin \"" file "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".size " #name ", . - " #name "\n"                                 \
            ".popsection")

ASSET(lh_html_style, "tools/html.css");
ASSET(lh_html_script, "tools/html.js");
