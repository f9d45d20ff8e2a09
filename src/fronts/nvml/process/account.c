/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - accounting: reports how much of a device each process uses or has
 * used. A board keeps accounts while its accounting mode is on; the machine
 * remembers up to GKF_ACCOUNTS_MAX ended processes, for all boards together.
 */
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/account_state.h"
#include "machine/file/value.h"
#include "machine/store/process/account.h"
#include "machine/store/clock.h"

#include <stdlib.h>

/* The buffer size that drivers report for every board. */
#define BUFFER_SIZE 4000
_Static_assert(BUFFER_SIZE <= GKF_ACCOUNTS_MAX, "as many are remembered");

static bool accounting_is_on(const struct call *c)
{
	int64_t on;

	return !is_split(c) && read_device_value(c, GKF_V_ACCOUNTING, &on) &&
	       on;
}

/* In MIG mode, accounting is off. */
nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device,
					 nvmlEnableState_t *mode)
{
	ENTER_DEVICE(nvmlDeviceGetAccountingMode, device, mode != NULL);
	*mode =
	    accounting_is_on(&c) ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetAccountingMode(nvmlDevice_t device,
					 nvmlEnableState_t mode)
{
	ENTER_DEVICE(nvmlDeviceSetAccountingMode, device, (unsigned)mode <= 1);
	return front_set(&c, GKF_V_ACCOUNTING, (int64_t)mode);
}

nvmlReturn_t nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device,
					       unsigned int *bufferSize)
{
	ENTER_DEVICE(nvmlDeviceGetAccountingBufferSize, device,
		     bufferSize != NULL);
	*bufferSize = BUFFER_SIZE;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceClearAccountingPids(nvmlDevice_t device)
{
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceClearAccountingPids, device, true);
	r = front_permit(&c);
	return r ? r : front_error(gkf_accounts_clear(c.machine, c.index));
}

struct pids {
	unsigned *at;
	unsigned count, cap;
};

static bool take_pid(void *ctx, const struct gkf_account *account)
{
	struct pids *pids = ctx;

	pids->at[pids->count++] = (unsigned)account->pid;
	return pids->count < pids->cap;
}

static int compare_accounts(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

/* Reads a device's pids, sorted and unique. The caller frees pids->at. */
static bool read_pids(const struct call *c, struct pids *pids)
{
	unsigned unique = 0;

	pids->cap = gkf_accounts_bound(c->machine);
	pids->count = 0;
	pids->at = malloc(pids->cap * sizeof(*pids->at));
	if (!pids->at)
		return false;
	gkf_accounts_each(c->machine, c->index, take_pid, pids);
	qsort(pids->at, pids->count, sizeof(*pids->at), compare_accounts);
	for (unsigned i = 0; i < pids->count; i++)
		if (!i || pids->at[i] != pids->at[i - 1])
			pids->at[unique++] = pids->at[i];
	pids->count = unique;
	return true;
}

nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device,
					 unsigned int *count,
					 unsigned int *pids)
{
	struct pids found;
	nvmlReturn_t r = NVML_SUCCESS;

	ENTER_DEVICE(nvmlDeviceGetAccountingPids, device,
		     count && (pids || !*count));
	if (!accounting_is_on(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!read_pids(&c, &found))
		return NVML_ERROR_MEMORY;
	if (found.count > *count)
		r = NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; !r && i < found.count; i++)
		pids[i] = found.at[i];
	*count = found.count;
	free(found.at);
	return r;
}

/* Searches for a pid. If several processes had the pid, the latest one counts.
 */
struct search {
	int32_t pid;
	bool found;
	struct gkf_account account;
};

/* Adds up the accounts of a process that has two of them on one device. */
static void join_accounts(struct gkf_account *to,
			  const struct gkf_account *from)
{
	to->peak += from->peak;
	to->sums.sm += from->sums.sm;
	to->sums.mem += from->sums.mem;
	if (to->sums.bins < from->sums.bins)
		to->sums.bins = from->sums.bins;
	if (to->start_ns > from->start_ns)
		to->start_ns = from->start_ns;
}

static bool match_account(void *ctx, const struct gkf_account *account)
{
	struct search *s = ctx;

	if (account->pid != s->pid)
		return true;
	if (!s->found)
		s->account = *account;
	else if (s->account.running && account->running)
		join_accounts(&s->account, account);
	s->found = true;
	return s->account.running && account->running;
}

static nvmlReturn_t find_account(const struct call *c, unsigned pid,
				 struct gkf_account *ret_account)
{
	struct search s = {.pid = (int32_t)pid};

	if (!accounting_is_on(c))
		return NVML_ERROR_NOT_SUPPORTED;
	gkf_accounts_each(c->machine, c->index, match_account, &s);
	if (!s.found)
		return NVML_ERROR_NOT_FOUND;
	*ret_account = s.account;
	return NVML_SUCCESS;
}

static unsigned mean_per_bin(uint64_t sum, uint64_t bins)
{
	return bins ? (unsigned)(sum / bins) : 0;
}

/* The lifetime of an ended process in milliseconds; 0 while it runs. */
static uint64_t lifetime_ms(const struct gkf_account *a)
{
	return a->running || a->end_ns < a->start_ns
		   ? 0
		   : (a->end_ns - a->start_ns) / 1000000;
}

nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid,
					  nvmlAccountingStats_t *stats)
{
	struct gkf_account a;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetAccountingStats, device, stats != NULL);
	r = find_account(&c, pid, &a);
	if (r)
		return r;
	*stats = (nvmlAccountingStats_t){
	    .gpuUtilization = mean_per_bin(a.sums.sm, a.sums.bins),
	    .memoryUtilization = mean_per_bin(a.sums.mem, a.sums.bins),
	    .maxMemoryUsage = a.peak,
	    .time = lifetime_ms(&a),
	    .startTime = gkf_wall_us(c.machine, a.start_ns),
	    .isRunning = a.running,
	};
	return NVML_SUCCESS;
}

/* This version of the struct has hundredths of a percent. */
#define FINE 100

nvmlReturn_t nvmlDeviceGetAccountingStats_v2(nvmlDevice_t device,
					     nvmlAccountingStats_v2_t *stats)
{
	struct gkf_account a;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetAccountingStats_v2, device, stats != NULL);
	r = find_account(&c, stats->pid, &a);
	if (r)
		return r;
	*stats = (nvmlAccountingStats_v2_t){
	    .pid = stats->pid,
	    .isRunning = a.running,
	    .gpuUtilization = mean_per_bin(a.sums.sm, a.sums.bins),
	    .memoryUtilization = mean_per_bin(a.sums.mem, a.sums.bins),
	    .maxMemoryUsage = a.peak,
	    .sampleCount = (unsigned)a.sums.bins,
	    .sumGpuUtil = a.sums.sm * FINE,
	    .sumFbUtil = a.sums.mem * FINE,
	    .time = lifetime_ms(&a),
	    .startTime = gkf_wall_us(c.machine, a.start_ns),
	};
	return NVML_SUCCESS;
}
