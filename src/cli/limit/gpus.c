/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpus.c - resolves the parts of a requested policy that depend on GPUs:
 * converts percentages of memory into bytes, and checks that a context fits.
 */
#include "cli/cmd.h"
#include "cli/limit/limit.h"
#include "cli/open.h"
#include "format/units.h"

#include <gpukit/gpukit.h>

#include <stdlib.h>
#include <string.h>

#define HOOK_VARIABLE "HOOK_NVML_ENABLE"

/* The size of the smallest context that is known: that of a Tesla T4. */
#define LEAST_CONTEXT (105ULL << 20)

/*
 * The smallest allocation. If contexts do not count, a limit must have room for
 * this much.
 */
#define LEAST_BLOCK (2ULL << 20)

static bool has_percent(const struct limit_each *each)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (each->of_whole[i])
			return true;
	return false;
}

static void read_ledger(const struct gkl_ledger *ledger, uint64_t *totals)
{
	struct gkl_device device;

	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (gkl_ledger_device(ledger, i, &device))
			totals[i] = device.total;
}

static void take_totals(const struct gk_snapshot *snap, uint64_t *totals)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *device = &snap->devices[i];
		const struct gk_value *total = &device->m[GK_M_MEM_TOTAL];

		if (device->mig_index < 0 && device->index < GKL_DEVICES &&
		    total->why == GK_PRESENT && !totals[device->index])
			totals[device->index] = (uint64_t)total->v;
	}
}

static int read_gpus(uint64_t *totals)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;
	struct gk_snapshot *snap;
	struct gk *gk;
	int code, err;

	options.with = GK_WITHOUT_PROCESSES | GK_WITHOUT_SLOW |
		       GK_WITHOUT_BOARD | GK_WITHOUT_PROC;
	code = gk_cli_open("limit", &options, &gk);
	if (code)
		return code;
	err = gk_snapshot_take(gk, &snap);
	if (!err) {
		take_totals(snap, totals);
		gk_snapshot_free(snap);
	}
	return gk_cli_close(gk, err ? limit_failure("the GPUs cannot be read: "
						    "%s",
						    gk_strerror(err))
				    : GK_EXIT_OK);
}

/*
 * Reads the GPUs through NVML without the limit, then restores the environment
 * for the command that is run later.
 */
static int read_nvml(uint64_t *totals)
{
	const char *was = getenv(HOOK_VARIABLE);
	char *kept = was ? strdup(was) : NULL;
	int code = was && !kept ? limit_failure("out of memory") : GK_EXIT_OK;

	if (code)
		return code;
	limit_ask_the_driver();
	code = read_gpus(totals);
	if (kept)
		setenv(HOOK_VARIABLE, kept, 1);
	else
		unsetenv(HOOK_VARIABLE);
	free(kept);
	return code;
}

/*
 * In a limited shell, NVML would report the limit instead of the GPU's memory.
 */
void limit_ask_the_driver(void)
{
	setenv(HOOK_VARIABLE, "0", 1);
}

/*
 * Returns the memory of the smallest GPU. If a GPU is missing, a percentage of
 * its memory is a percentage of this size.
 */
static uint64_t least_of(const uint64_t *totals)
{
	uint64_t least = 0;

	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (totals[i] && (!least || totals[i] < least))
			least = totals[i];
	return least;
}

static int resolve_percent(struct limit_each *each, const uint64_t *totals)
{
	uint64_t least = least_of(totals);

	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		uint64_t total = totals[i] ? totals[i] : least;

		if (!each->of_whole[i])
			continue;
		if (!total || (!totals[i] && !each->for_all))
			return limit_failure(
			    "--memory: no GPU %u to take %d%% of", i,
			    (int)each->value[i]);
		each->value[i] = total / 100 * each->value[i] +
				 total % 100 * each->value[i] / 100;
		each->of_whole[i] = false;
	}
	return GK_EXIT_OK;
}

int limit_wish_resolve(struct limit_wish *wish, const struct gkl_ledger *ledger)
{
	uint64_t totals[GKL_DEVICES] = {0};
	int code = GK_EXIT_OK;

	if (!has_percent(&wish->memory))
		return code;
	if (ledger)
		read_ledger(ledger, totals);
	if (!least_of(totals))
		code = read_nvml(totals);
	return code ? code : resolve_percent(&wish->memory, totals);
}

/*
 * Returns the size of a context: from the ledger, or the smallest known size.
 */
static uint64_t context_of(const struct gkl_policy *policy,
			   const struct gkl_ledger *ledger, unsigned i)
{
	struct gkl_device device;

	if (policy->contexts_free)
		return LEAST_BLOCK;
	if (ledger && gkl_ledger_device(ledger, i, &device) &&
	    device.context_bytes)
		return device.context_bytes;
	return LEAST_CONTEXT;
}

int limit_wish_judge(const struct limit_wish *wish,
		     const struct gkl_policy *policy,
		     const struct gkl_ledger *ledger)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		uint64_t needs = context_of(policy, ledger, i);
		uint64_t has = wish->memory.value[i];
		char few[GK_UNITS_MAX], many[GK_UNITS_MAX];

		if (!wish->memory.given[i] || !has || has >= needs)
			continue;
		return limit_usage(
		    "--memory: %s for GPU %u is less than one %s needs, %s%s",
		    gk_human_size(few, (int64_t)has), i,
		    policy->contexts_free ? "allocation" : "context",
		    gk_human_size(many, (int64_t)needs),
		    needs == LEAST_CONTEXT ? " at least" : "");
	}
	return GK_EXIT_OK;
}
