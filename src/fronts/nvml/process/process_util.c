/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_util.c - reports how busy each process of a device was. A sample
 * covers the whole bins between the caller's last stamp and now, at most one
 * second; its stamp is the end of the newest bin.
 */
#include "fronts/nvml/bins.h"
#include "fronts/nvml/process/process.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"

struct window {
	uint64_t first, last; /* bins, inclusive */
	uint64_t stamp_us;
};

/*
 * Finds the bins that are newer than the caller's last stamp; false if there
 * are none. If the machine's clock is stopped and the stamp is the caller's own
 * time, the stamp is moved back by the time since the stop. Then a caller that
 * asks for "the last second" gets the last second before the stop. A stamp of
 * the newest bin is not moved.
 */
static bool window_since(const struct call *c, uint64_t last_seen_us,
			 struct window *w)
{
	uint64_t now = gkf_machine_bin(c->machine);
	uint64_t waver = bin_waver_us(c), stood = bin_stood_us(c);

	if (!now)
		return false;
	w->last = w->first = now - 1;
	w->stamp_us = bin_stamp_us(c, w->last);
	if (last_seen_us > w->stamp_us + waver ||
	    last_seen_us + waver < w->stamp_us)
		last_seen_us -= last_seen_us < stood ? last_seen_us : stood;
	while (w->first && w->last - w->first + 1 < GKF_BINS_PER_S &&
	       bin_stamp_us(c, w->first - 1) > last_seen_us + waver)
		w->first--;
	return w->stamp_us > last_seen_us + waver;
}

/* A process's mean utilisation in percent; false if it was idle. */
static bool sample_process(const struct call *c, const struct gkf_process *p,
			   const struct window *w, const uint32_t *demand,
			   nvmlProcessUtilizationInfo_v1_t *ret_sample)
{
	unsigned n = (unsigned)(w->last - w->first + 1);
	struct gkf_share s, sum = {0};
	struct gkf_wave wave;

	if (!gkf_process_wave(c->machine, p, &wave))
		return false;
	for (unsigned i = 0; i < n; i++) {
		s = gkf_share_of(c->machine, c->index, p->slot, &wave,
				 w->first + i, demand[i]);
		sum.sm += s.sm;
		sum.mem += s.mem;
		sum.enc += s.enc;
		sum.dec += s.dec;
		sum.jpg += s.jpg;
		sum.ofa += s.ofa;
	}
	*ret_sample = (nvmlProcessUtilizationInfo_v1_t){
	    .pid = (unsigned)p->pid,
	    .timeStamp = w->stamp_us,
	    .smUtil = sum.sm / n,
	    .memUtil = sum.mem / n,
	    .encUtil = sum.enc / n,
	    .decUtil = sum.dec / n,
	    .jpgUtil = sum.jpg / n,
	    .ofaUtil = sum.ofa / n,
	};
	return sum.sm || sum.mem || sum.enc || sum.dec || sum.jpg || sum.ofa;
}

/* Writes a sample into the caller's ith record. */
typedef void put_fn(void *records, unsigned i,
		    const nvmlProcessUtilizationInfo_v1_t *s);

static void put_sample(void *records, unsigned i,
		       const nvmlProcessUtilizationInfo_v1_t *s)
{
	((nvmlProcessUtilizationSample_t *)records)[i] =
	    (nvmlProcessUtilizationSample_t){
		.pid = s->pid,
		.timeStamp = s->timeStamp,
		.smUtil = s->smUtil,
		.memUtil = s->memUtil,
		.encUtil = s->encUtil,
		.decUtil = s->decUtil,
	    };
}

static void put_info(void *records, unsigned i,
		     const nvmlProcessUtilizationInfo_v1_t *s)
{
	((nvmlProcessUtilizationInfo_v1_t *)records)[i] = *s;
}

/* Counts the busy processes, and writes their samples unless `records` is NULL.
 */
static unsigned busy_samples(const struct call *c, const struct process_list *l,
			     const struct window *w, void *records, put_fn *put)
{
	nvmlProcessUtilizationInfo_v1_t s;
	uint32_t demand[GKF_BINS_PER_S];
	unsigned n = 0;

	for (uint64_t bin = w->first; bin <= w->last; bin++)
		demand[bin - w->first] =
		    gkf_demand_at(c->machine, c->index, bin);
	for (unsigned i = 0; i < l->count; i++) {
		if (!sample_process(c, &l->at[i], w, demand, &s))
			continue;
		if (records)
			put(records, n, &s);
		n++;
	}
	return n;
}

/* *count is the capacity in records, and becomes the number written or needed.
 */
static nvmlReturn_t give_samples(const struct call *c, uint64_t last_seen_us,
				 unsigned *count, void *records, put_fn *put)
{
	unsigned busy, room = records ? *count : 0;
	struct process_list l;
	struct window w;
	nvmlReturn_t r;

	if (!window_since(c, last_seen_us, &w))
		return NVML_ERROR_NOT_FOUND;
	r = process_list_read(c, PROCESS_ANY_TYPE, &l);
	if (r)
		goto out;
	/* Require space for all processes: those that are idle now may be busy
	 * at the caller's next attempt. */
	if (room < l.count)
		records = NULL;
	busy = busy_samples(c, &l, &w, records, put);
	r = NVML_ERROR_NOT_FOUND;
	if (!busy)
		goto out;
	r = records ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
	*count = r ? l.count : busy;
out:
	process_list_free(&l);
	return r;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(
    nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
    unsigned int *processSamplesCount, unsigned long long lastSeenTimeStamp)
{
	ENTER_DEVICE(nvmlDeviceGetProcessUtilization, device,
		     processSamplesCount != NULL);
	return give_samples(&c, lastSeenTimeStamp, processSamplesCount,
			    utilization, put_sample);
}

nvmlReturn_t
nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
				      nvmlProcessesUtilizationInfo_t *info)
{
	ENTER_DEVICE(nvmlDeviceGetProcessesUtilizationInfo, device,
		     info != NULL);
	if (!TAKES(info->version, nvmlProcessesUtilizationInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return give_samples(&c, info->lastSeenTimeStamp,
			    &info->processSamplesCount, info->procUtilArray,
			    put_info);
}
