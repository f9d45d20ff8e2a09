/* SPDX-License-Identifier: Apache-2.0 */
/* util.c - keeps the newest utilisation sample of each process. */
#include "core/read/util.h"

#include "core/driver/stride.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_US     1000000ULL
#define RECORDS_FIRST 64
#define RECORDS_LIMIT 65536
#define TRIES         8

_Static_assert(sizeof(nvmlProcessUtilizationSample_t) <= GK_STRIDE_MAX,
	       "samples share the buffer of the lists");

int gk_records_reserve(struct gk_records *records, unsigned cap)
{
	void *bytes;

	if (cap < RECORDS_FIRST)
		cap = RECORDS_FIRST;
	if (cap > RECORDS_LIMIT)
		return GK_ERR_TOO_MANY;
	if (cap > records->cap) {
		bytes = realloc(records->bytes, (size_t)cap * GK_STRIDE_MAX);
		if (!bytes)
			return GK_ERR_NOMEM;
		records->bytes = bytes;
		records->cap = cap;
	}
	memset(records->bytes, 0, (size_t)records->cap * GK_STRIDE_MAX);
	return 0;
}

void gk_util_free(struct gk_util *util)
{
	free(util->samples);
	*util = (struct gk_util){0};
}

static nvmlProcessUtilizationSample_t *
find_util_sample(const struct gk_util *util, unsigned pid)
{
	for (unsigned i = 0; i < util->count; i++)
		if (util->samples[i].pid == pid)
			return &util->samples[i];
	return NULL;
}

/* Returns an entry for the sample of a new process: the entry of an outdated
 * sample, or an unused one. */
static nvmlProcessUtilizationSample_t *place_util_sample(struct gk_util *util)
{
	nvmlProcessUtilizationSample_t *more;
	unsigned cap = util->cap ? util->cap * 2 : 16;

	for (unsigned i = 0; i < util->count; i++)
		if (util->samples[i].timeStamp <= util->asked_us)
			return &util->samples[i];
	if (util->count < util->cap)
		return &util->samples[util->count++];
	more = realloc(util->samples, cap * sizeof *more);
	if (!more)
		return NULL;
	util->samples = more;
	util->cap = cap;
	return &util->samples[util->count++];
}

/* Whether a sample is valid: drivers also return stale samples, with old time
 * stamps or shares above 100 %. */
static bool is_sane(const nvmlProcessUtilizationSample_t *s,
		    unsigned long long since_us)
{
	return s->pid && s->timeStamp > since_us && s->smUtil <= 100 &&
	       s->memUtil <= 100 && s->encUtil <= 100 && s->decUtil <= 100;
}

static void keep_util_sample(struct gk_util *util,
			     const nvmlProcessUtilizationSample_t *sample)
{
	nvmlProcessUtilizationSample_t *known =
	    find_util_sample(util, sample->pid);

	if (known && known->timeStamp > sample->timeStamp)
		return;
	if (!known)
		known = place_util_sample(util);
	if (known)
		*known = *sample;
	if (sample->timeStamp > util->seen_us)
		util->seen_us = sample->timeStamp;
}

/* Reads the samples, enlarging the buffer as needed, at most TRIES times. */
static nvmlReturn_t ask_util(const struct gk_nvml *nvml, nvmlDevice_t dev,
			     unsigned long long since_us,
			     struct gk_records *scratch, unsigned *ret_count)
{
	unsigned want = scratch->cap;

	for (int i = 0; i < TRIES; i++) {
		nvmlReturn_t r;
		unsigned count;

		if (gk_records_reserve(scratch, want))
			return NVML_ERROR_MEMORY;
		count = scratch->cap;
		r = GK_NVML_CALL(nvml, nvmlDeviceGetProcessUtilization, dev,
				 scratch->bytes, &count, since_us);
		if (r != NVML_ERROR_INSUFFICIENT_SIZE) {
			*ret_count =
			    count < scratch->cap ? count : scratch->cap;
			return r;
		}
		want = count > scratch->cap ? count + 8 : scratch->cap * 2;
	}
	return NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t gk_util_read(struct gk_util *util, const struct gk_nvml *nvml,
			  nvmlDevice_t dev, struct gk_records *scratch,
			  unsigned long long now_us)
{
	unsigned long long since = util->seen_us;
	const nvmlProcessUtilizationSample_t *samples;
	unsigned count = 0;
	nvmlReturn_t r;

	/* The first request covers only the last second: an average over a
	 * longer time would hide changes. */
	if (!since && now_us > WINDOW_US)
		since = now_us - WINDOW_US;
	r = ask_util(nvml, dev, since, scratch, &count);
	/* the driver has no samples: all processes were idle */
	if (r == NVML_ERROR_NOT_FOUND) {
		r = NVML_SUCCESS;
		count = 0;
	}
	util->why = gk_nvml_absence(r);
	if (r)
		return r;
	util->asked_us = since;
	/* Samples of the last second stay valid, as the driver may not have
	 * newer ones yet. */
	if (now_us > WINDOW_US && util->asked_us > now_us - WINDOW_US)
		util->asked_us = now_us - WINDOW_US;
	samples = scratch->bytes;
	for (unsigned i = 0; i < count; i++)
		if (is_sane(&samples[i], since))
			keep_util_sample(util, &samples[i]);
	return r;
}

void gk_util_apply(const struct gk_util *util, pid_t pid,
		   struct gk_value m[GK_PM_COUNT])
{
	const nvmlProcessUtilizationSample_t *s =
	    find_util_sample(util, (unsigned)pid);
	static const nvmlProcessUtilizationSample_t idle;

	if (!s || s->timeStamp <= util->asked_us)
		s = &idle;
	m[GK_PM_SM_UTIL].v = s->smUtil;
	m[GK_PM_MEM_UTIL].v = s->memUtil;
	m[GK_PM_ENC_UTIL].v = s->encUtil;
	m[GK_PM_DEC_UTIL].v = s->decUtil;
	m[GK_PM_SM_UTIL].why = util->why;
	m[GK_PM_MEM_UTIL].why = util->why;
	m[GK_PM_ENC_UTIL].why = util->why;
	m[GK_PM_DEC_UTIL].why = util->why;
}
