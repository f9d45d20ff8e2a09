/* SPDX-License-Identifier: Apache-2.0 */
/* nvlinks.c - keeps the last NVLink counters and the rate of each GPU. */
#include "export/nvlinks.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

struct gk_nvlinks_gpu {
	char uuid[GK_NAME_MAX];
	uint64_t read_ns; /* when `bytes` was read; 0: never */
	int64_t bytes;
	struct gk_value rate;
};

void gk_nvlinks_free(struct gk_nvlinks *nvlinks)
{
	free(nvlinks->gpus);
	free(nvlinks->rates);
	*nvlinks = (struct gk_nvlinks){0};
}

/* Returns the entry of a GPU, or NULL when out of memory. */
static struct gk_nvlinks_gpu *entry_of(struct gk_nvlinks *nvlinks,
				       const struct gk_device *d)
{
	struct gk_nvlinks_gpu *more;

	for (size_t i = 0; i < nvlinks->count; i++)
		if (!strcmp(nvlinks->gpus[i].uuid, d->uuid))
			return &nvlinks->gpus[i];
	more = realloc(nvlinks->gpus, (nvlinks->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	nvlinks->gpus = more;
	more += nvlinks->count++;
	*more = (struct gk_nvlinks_gpu){0};
	memcpy(more->uuid, d->uuid, sizeof more->uuid);
	return more;
}

/*
 * Returns the rate since the last reading. It is absent if the counters have
 * decreased.
 */
static struct gk_value rate_since(const struct gk_nvlinks_gpu *gpu,
				  int64_t bytes, uint64_t read_ns)
{
	double seconds = (double)(read_ns - gpu->read_ns) / GK_NS_PER_S;

	if (!gpu->read_ns || read_ns <= gpu->read_ns || bytes < gpu->bytes)
		return (struct gk_value){.why = GK_ABSENT_ONE_SNAPSHOT};
	return (struct gk_value){
	    .v = (int64_t)((double)(bytes - gpu->bytes) / seconds)};
}

static struct gk_value rate_of(struct gk_nvlinks *nvlinks,
			       const struct gk_device *d)
{
	struct gk_value tx = d->m[GK_M_NVLINK_TX], rx = d->m[GK_M_NVLINK_RX];
	uint64_t read_ns = d->read_ns[GK_TIER_DETAIL];
	struct gk_nvlinks_gpu *gpu;

	if (tx.why || rx.why)
		return (struct gk_value){.why = tx.why ? tx.why : rx.why};
	if (d->mig_index >= 0 || !d->uuid[0])
		return (struct gk_value){.why = GK_ABSENT_NOT_SUPPORTED};
	gpu = entry_of(nvlinks, d);
	if (!gpu)
		return (struct gk_value){.why = GK_ABSENT_ERROR};
	if (gpu->read_ns != read_ns) {
		gpu->rate = rate_since(gpu, tx.v + rx.v, read_ns);
		gpu->bytes = tx.v + rx.v;
		gpu->read_ns = read_ns;
	}
	return gpu->rate;
}

void gk_nvlinks_take(struct gk_nvlinks *nvlinks, const struct gk_snapshot *snap)
{
	free(nvlinks->rates);
	nvlinks->rates = calloc(snap->device_count + 1, sizeof *nvlinks->rates);
	for (size_t i = 0; nvlinks->rates && i < snap->device_count; i++)
		nvlinks->rates[i] = rate_of(nvlinks, &snap->devices[i]);
}
