/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail_lists.c - reads accounts, retired pages, clocks and samples, and
 * appends them to a detail.
 */
#include "core/read/detail_lists.h"

#include "core/read/collect_row.h"

#include <stdlib.h>
#include <string.h>

/* NVML documents 4000 accounts, and 64 pages for each cause. Known boards have
 * some hundred clocks. */
enum { ACCOUNTS_MAX = 4000, PAGES_MAX = 64, MEMORY_MAX = 64, CLOCKS_MAX = 512 };

#define NS_PER_MS 1000000
#define NS_PER_US 1000

/* The lists while they are read, each in its own array. */
struct lists {
	struct gk_account *accounts;
	struct gk_page *pages;
	struct gk_clock *clocks;
	size_t account_count, page_count, clock_count;
};

/* The driver may report more items than the buffer had space for. */
static unsigned least_count(unsigned count, unsigned room)
{
	return count < room ? count : room;
}

static void pass_gate(struct gk_account *account)
{
	const struct gk_range *percent = gk_metric_range(GK_M_GPU_UTIL);

	account->gpu_util = gk_gate(account->gpu_util, percent);
	account->mem_util = gk_gate(account->mem_util, percent);
	account->max_memory = gk_gate(account->max_memory,
				      gk_process_metric_range(GK_PM_GPU_MEM));
	account->time =
	    gk_gate(account->time, gk_process_metric_range(GK_PM_RUN_TIME));
}

static nvmlReturn_t add_account(const struct gk_nvml *nvml, nvmlDevice_t dev,
				unsigned pid, struct lists *to)
{
	nvmlAccountingStats_t stats = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetAccountingStats, dev, pid, &stats);
	struct gk_account *account;

	/* The account may have been removed after it was listed. */
	if (r)
		return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
	account = &to->accounts[to->account_count++];
	*account = (struct gk_account){
	    .pid = pid,
	    .running = stats.isRunning != 0,
	    .gpu_util.v = stats.gpuUtilization,
	    .mem_util.v = stats.memoryUtilization,
	    .max_memory.v = GK_ROW_NUMBER(stats.maxMemoryUsage, 1),
	    .time.v = GK_ROW_NUMBER(stats.time, NS_PER_MS),
	};
	/* All bits set means NVML_VALUE_NOT_AVAILABLE. */
	if (stats.gpuUtilization == UINT32_MAX)
		account->gpu_util.why = GK_ABSENT_NOT_SUPPORTED;
	if (stats.memoryUtilization == UINT32_MAX)
		account->mem_util.why = GK_ABSENT_NOT_SUPPORTED;
	if (stats.maxMemoryUsage == UINT64_MAX)
		account->max_memory.why = GK_ABSENT_NOT_SUPPORTED;
	pass_gate(account);
	return NVML_SUCCESS;
}

static nvmlReturn_t read_accounts(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  struct lists *to)
{
	unsigned *pids = calloc(ACCOUNTS_MAX, sizeof *pids);
	unsigned count = ACCOUNTS_MAX;
	nvmlReturn_t r = NVML_SUCCESS;

	to->accounts = calloc(ACCOUNTS_MAX, sizeof *to->accounts);
	if (pids && to->accounts)
		r = GK_NVML_CALL(nvml, nvmlDeviceGetAccountingPids, dev, &count,
				 pids);
	if (!pids || !to->accounts || r)
		count = 0;
	count = least_count(count, ACCOUNTS_MAX);
	r = gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
	for (unsigned i = 0; !r && i < count; i++)
		r = add_account(nvml, dev, pids[i], to);
	free(pids);
	return r;
}

/* Converts microseconds to nanoseconds; 0 if the time is not valid. */
static uint64_t moment_of(unsigned long long us)
{
	return (uint64_t)gk_bounded(gk_scaled_unsigned(us, NS_PER_US),
				    GK_BOUND_TIME);
}

static nvmlReturn_t add_pages(const struct gk_nvml *nvml, nvmlDevice_t dev,
			      nvmlPageRetirementCause_t nvml_cause,
			      enum gk_page_cause cause, struct lists *to)
{
	unsigned long long address[PAGES_MAX], time_us[PAGES_MAX];
	unsigned count = PAGES_MAX;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetRetiredPages_v2, dev,
				      nvml_cause, &count, address, time_us);

	count = least_count(count, PAGES_MAX);
	for (unsigned i = 0; !r && i < count; i++)
		to->pages[to->page_count++] =
		    (struct gk_page){.address = address[i],
				     .wall_ns = moment_of(time_us[i]),
				     .cause = cause};
	return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
}

static nvmlReturn_t read_pages(const struct gk_nvml *nvml, nvmlDevice_t dev,
			       struct lists *to)
{
	nvmlReturn_t r;

	to->pages = calloc(2 * PAGES_MAX, sizeof *to->pages);
	if (!to->pages)
		return NVML_SUCCESS;
	r = add_pages(nvml, dev,
		      NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
		      GK_PAGE_CORRECTED, to);
	if (r)
		return r;
	return add_pages(nvml, dev,
			 NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
			 GK_PAGE_UNCORRECTED, to);
}

static bool is_clock(unsigned mhz)
{
	return gk_in_range((int64_t)mhz * MHZ, gk_metric_range(GK_M_SM_CLOCK));
}

static nvmlReturn_t add_clocks(const struct gk_nvml *nvml, nvmlDevice_t dev,
			       unsigned memory_mhz, struct lists *to)
{
	unsigned mhz[CLOCKS_MAX];
	unsigned count = CLOCKS_MAX;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetSupportedGraphicsClocks, dev,
			 memory_mhz, &count, mhz);
	struct gk_clock *more;

	count = least_count(count, CLOCKS_MAX);
	if (r || !count)
		return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
	more = realloc(to->clocks, (to->clock_count + count) * sizeof *more);
	if (!more)
		return NVML_SUCCESS;
	to->clocks = more;
	for (unsigned i = 0; i < count; i++)
		if (is_clock(mhz[i]))
			to->clocks[to->clock_count++] =
			    (struct gk_clock){memory_mhz, mhz[i]};
	return NVML_SUCCESS;
}

static nvmlReturn_t read_clocks(const struct gk_nvml *nvml, nvmlDevice_t dev,
				struct lists *to)
{
	unsigned mhz[MEMORY_MAX];
	unsigned count = MEMORY_MAX;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetSupportedMemoryClocks,
				      dev, &count, mhz);

	if (r)
		return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
	count = least_count(count, MEMORY_MAX);
	for (unsigned i = 0; !r && i < count; i++)
		if (is_clock(mhz[i]))
			r = add_clocks(nvml, dev, mhz[i], to);
	return r;
}

/* ---- samples ---- */

/* Greater than the number of samples that any driver keeps. */
enum { SAMPLES_MAX = 2048 };

static const struct {
	nvmlSamplingType_t type;
	enum gk_metric metric; /* the sampled metric */
	int64_t scale;
} sampled[GK_SAMPLED_COUNT] = {
    [GK_SAMPLED_POWER] = {NVML_TOTAL_POWER_SAMPLES, GK_M_POWER, 1},
    [GK_SAMPLED_GPU] = {NVML_GPU_UTILIZATION_SAMPLES, GK_M_GPU_UTIL, 1},
    [GK_SAMPLED_MEMORY] = {NVML_MEMORY_UTILIZATION_SAMPLES, GK_M_MEM_UTIL, 1},
    [GK_SAMPLED_ENCODER] = {NVML_ENC_UTILIZATION_SAMPLES, GK_M_ENC_UTIL, 1},
    [GK_SAMPLED_DECODER] = {NVML_DEC_UTILIZATION_SAMPLES, GK_M_DEC_UTIL, 1},
    [GK_SAMPLED_SM_CLOCK] = {NVML_PROCESSOR_CLK_SAMPLES, GK_M_SM_CLOCK, MHZ},
    [GK_SAMPLED_MEMORY_CLOCK] = {NVML_MEMORY_CLK_SAMPLES, GK_M_MEM_CLOCK, MHZ},
};

/* All these samples are unsigned int. */
static void sum_up_samples(const nvmlSample_t *from, unsigned count, int kind,
			   struct gk_samples *to)
{
	const struct gk_range *range = gk_metric_range(sampled[kind].metric);
	int64_t sum = 0;

	to->min = INT64_MAX;
	for (unsigned i = 0; i < count; i++) {
		int64_t v = from[i].sampleValue.uiVal * sampled[kind].scale;

		if (!gk_in_range(v, range))
			continue;
		sum += v;
		to->min = v < to->min ? v : to->min;
		to->max = v > to->max ? v : to->max;
		to->count++;
	}
	if (!to->count) {
		*to = (struct gk_samples){.why = GK_ABSENT_NONSENSE};
		return;
	}
	to->avg = sum / to->count;
	if (from[count - 1].timeStamp > from[0].timeStamp)
		to->duration_ns =
		    moment_of(from[count - 1].timeStamp - from[0].timeStamp);
}

static nvmlReturn_t read_samples(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 struct gk_samples *to)
{
	nvmlSample_t *samples = calloc(SAMPLES_MAX, sizeof *samples);
	nvmlReturn_t r = NVML_SUCCESS;

	for (int i = 0; samples && !r && i < GK_SAMPLED_COUNT; i++) {
		nvmlValueType_t type;
		unsigned count = SAMPLES_MAX;

		r = GK_NVML_CALL(nvml, nvmlDeviceGetSamples, dev,
				 sampled[i].type, 0, &type, &count, samples);
		to[i].why = gk_nvml_absence(r);
		if (r == NVML_ERROR_NOT_FOUND || (!r && !count))
			to[i].why = GK_ABSENT_NONE;
		if (!to[i].why)
			sum_up_samples(samples, least_count(count, SAMPLES_MAX),
				       i, &to[i]);
		r = gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
	}
	free(samples);
	return r;
}

/* Appends the lists to the detail. Lists with wider items come first, so that
 * all are aligned. */
static void append_lists(struct gk_detail **detail, const struct lists *lists)
{
	size_t accounts = lists->account_count * sizeof *lists->accounts;
	size_t pages = lists->page_count * sizeof *lists->pages;
	size_t clocks = lists->clock_count * sizeof *lists->clocks;
	struct gk_detail *d =
	    realloc(*detail, sizeof *d + accounts + pages + clocks);
	char *at;

	if (!d)
		return;
	at = (char *)(d + 1);
	d->account_count = lists->account_count;
	d->page_count = lists->page_count;
	d->clock_count = lists->clock_count;
	d->accounts = (void *)at;
	d->pages = (void *)(at + accounts);
	d->clocks = (void *)(at + accounts + pages);
	if (accounts)
		memcpy(at, lists->accounts, accounts);
	if (pages)
		memcpy(at + accounts, lists->pages, pages);
	if (clocks)
		memcpy(at + accounts + pages, lists->clocks, clocks);
	*detail = d;
}

nvmlReturn_t gk_detail_lists_read(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  struct gk_detail **detail)
{
	struct lists lists = {0};
	nvmlReturn_t r = read_accounts(nvml, dev, &lists);

	if (!r)
		r = read_pages(nvml, dev, &lists);
	if (!r)
		r = read_clocks(nvml, dev, &lists);
	if (!r)
		r = read_samples(nvml, dev, (*detail)->samples);
	if (!r)
		append_lists(detail, &lists);
	free(lists.accounts);
	free(lists.pages);
	free(lists.clocks);
	return r;
}

size_t gk_detail_size(const struct gk_detail *d)
{
	return sizeof *d + d->account_count * sizeof *d->accounts +
	       d->page_count * sizeof *d->pages +
	       d->clock_count * sizeof *d->clocks;
}

void gk_detail_copy(struct gk_detail *to, const struct gk_detail *from)
{
	const char *base = (const char *)from;
	char *at = (char *)to;

	memcpy(to, from, gk_detail_size(from));
	if (!from->accounts)
		return;
	to->accounts = (void *)(at + ((const char *)from->accounts - base));
	to->pages = (void *)(at + ((const char *)from->pages - base));
	to->clocks = (void *)(at + ((const char *)from->clocks - base));
}
