/* SPDX-License-Identifier: MIT
 *
 * orders.h - the orders of the locks as text: a line for each.
 */
#ifndef LH_TOOLS_ORDERS_H
#define LH_TOOLS_ORDERS_H

#include <stdio.h>

struct lh_content;

void lh_orders_report(FILE *out, const struct lh_content *content);

#endif
