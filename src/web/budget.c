/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - converts bytes to the time that they take at the allowed rate.
 */
#include "web/budget.h"

#include "base/clock.h"

#define BURST_NS (GK_BUDGET_BURST * GK_NS_PER_S / GK_BUDGET_RATE)

void gk_budget_spend(struct gk_budget *b, uint64_t now_ns, size_t bytes)
{
	uint64_t from = now_ns > BURST_NS ? now_ns - BURST_NS : 0;

	if (b->paid_ns < from)
		b->paid_ns = from;
	b->paid_ns += bytes * GK_NS_PER_S / GK_BUDGET_RATE;
}

uint64_t gk_budget_wait(const struct gk_budget *b, uint64_t now_ns)
{
	return b->paid_ns > now_ns ? b->paid_ns - now_ns : 0;
}
