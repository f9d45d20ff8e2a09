/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - prints what the ledger and the policy cost, uncontended, in ns a
 * call.
 */
#include "base/clock.h"
#include "limit/ledger.h"
#include "limit/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS = 2000000, ROUNDS = 7 };

#define GIB (1ULL << 30)

static struct gkl_ledger *ledger;
static struct gkl_policy_page *page;

static void reserve_and_refund(void)
{
	gkl_ledger_reserve(ledger, 0, GKL_DATA, 4096, GIB);
	gkl_ledger_refund(ledger, 0, GKL_DATA, 4096);
}

static void ask_used(void)
{
	gkl_ledger_used(ledger, 0);
}

static void ask_version(void)
{
	gkl_policy_version(page);
}

static void read_policy(void)
{
	struct gkl_policy policy;

	gkl_policy_read(page, &policy);
}

static char path[64];

static void join_and_leave(void)
{
	struct gkl_ledger *other;

	if (!gkl_ledger_open(path, GKL_PRIVATE, &other)) {
		gkl_ledger_slot(other);
		gkl_ledger_close(other);
	}
}

/* The best of several rounds, since others use the machine too. */
static double measure(void (*call)(void), int calls)
{
	uint64_t best = UINT64_MAX;

	for (int r = 0; r < ROUNDS; r++) {
		uint64_t begin = gk_mono_ns(), took;

		for (int i = 0; i < calls; i++)
			call();
		took = gk_mono_ns() - begin;
		best = took < best ? took : best;
	}
	return (double)best / calls;
}

int main(void)
{
	char dir[] = "/dev/shm/gpukit-cost-XXXXXX", policy[64];
	struct gkl_policy first = {.memory = {GIB}};
	int r;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/ledger", dir);
	snprintf(policy, sizeof policy, "%s/policy", dir);
	r = gkl_ledger_open(path, GKL_PRIVATE, &ledger) ||
	    gkl_policy_make(policy, GKL_PRIVATE, &first, &page);
	if (!r) {
		gkl_ledger_charge(ledger, 0, GKL_DATA, 4096);
		printf("reserve + refund %.1f\n",
		       measure(reserve_and_refund, CALLS));
		printf("used             %.1f\n", measure(ask_used, CALLS));
		printf("policy version   %.1f\n", measure(ask_version, CALLS));
		printf("policy read      %.1f\n", measure(read_policy, CALLS));
		printf("join and leave   %.0f\n",
		       measure(join_and_leave, CALLS / 1000));
		gkl_ledger_close(ledger);
		gkl_policy_close(page);
	}
	unlink(path);
	unlink(policy);
	rmdir(dir);
	return r;
}
