/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - limits how many bytes and events a peer may send per second;
 * bursts are allowed. A peer that sends too much gets into debt, and nothing is
 * read from it until the debt is paid. Single-threaded.
 */
#ifndef GK_WEB_BUDGET_H
#define GK_WEB_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/* Bytes per second, and bytes that may arrive at once after a quiet period. */
#define GK_BUDGET_RATE  ((uint64_t)512 << 10)
#define GK_BUDGET_BURST ((uint64_t)3 << 20)
/*
 * Every event also costs this many bytes, for the work of parsing and
 * forwarding it.
 */
#define GK_BUDGET_EVENT 8192

/* Zero it to start. */
struct gk_budget {
	uint64_t paid_ns; /* when the debt will be paid */
};

/* Charges bytes that have just arrived. */
void gk_budget_spend(struct gk_budget *budget, uint64_t now_ns, size_t bytes);

/*
 * Returns how many nanoseconds to wait before reading from the peer; 0 if it
 * may be read now.
 */
uint64_t gk_budget_wait(const struct gk_budget *budget, uint64_t now_ns);

#endif
