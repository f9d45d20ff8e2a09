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
 * The additional cost of an event in bytes, for reading it and sending it on.
 */
#define GK_BUDGET_EVENT 8192

/* Zero it to start. */
struct gk_budget {
	uint64_t paid_ns; /* when the debt will be paid */
};

/* Charges bytes that have just arrived. */
void gk_budget_spend(struct gk_budget *budget, uint64_t now_ns, size_t bytes);

/*
 * Returns for how many ns nothing must be read from the peer; 0: it may be
 * read.
 */
uint64_t gk_budget_wait(const struct gk_budget *budget, uint64_t now_ns);

#endif
