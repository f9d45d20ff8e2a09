/*
 * process.c - who holds memory of a device. Ten functions, one list: they
 * differ in the kind of process and in the size of a record, which the name
 * of the symbol decides (16 bytes without a suffix, 24 with _v2 or _v3).
 */
#include "fake/nvml/front.h"

#include <stdlib.h>

/* Lists up to this long need no heap. */
#define SHORT_LIST 64

/* No instance: MIG is off. */
#define NO_INSTANCE 0xffffffffu

struct list {
	struct gkf_process room[SHORT_LIST];
	struct gkf_process *at; /* room, or on the heap */
	unsigned count;
};

/* Reads a whole list; release it with list_free(). */
static nvmlReturn_t list_read(const struct call *c, unsigned types,
			      struct list *l)
{
	unsigned cap = SHORT_LIST;
	int r;

	l->at = l->room;
	for (;;) {
		r = gkf_processes(c->machine, c->index, types, l->at, cap,
				  &l->count);
		if (r || l->count <= cap)
			return front_error(r);
		if (l->at != l->room)
			free(l->at);
		cap = l->count + SHORT_LIST; /* some may join meanwhile */
		l->at = calloc(cap, sizeof(*l->at));
		if (!l->at) {
			l->at = l->room;
			return NVML_ERROR_MEMORY;
		}
	}
}

static void list_free(struct list *l)
{
	if (l->at != l->room)
		free(l->at);
}

typedef void put_fn(void *records, unsigned i, const struct gkf_process *p);

static void put_v1(void *records, unsigned i, const struct gkf_process *p)
{
	((nvmlProcessInfo_v1_t *)records)[i] = (nvmlProcessInfo_v1_t){
	    .pid = (unsigned)p->pid,
	    .usedGpuMemory = p->bytes,
	};
}

static void put_v2(void *records, unsigned i, const struct gkf_process *p)
{
	((nvmlProcessInfo_v2_t *)records)[i] = (nvmlProcessInfo_v2_t){
	    .pid = (unsigned)p->pid,
	    .usedGpuMemory = p->bytes,
	    .gpuInstanceId = NO_INSTANCE,
	    .computeInstanceId = NO_INSTANCE,
	};
}

/* No memory is confidential here. */
static void put_detail(void *records, unsigned i, const struct gkf_process *p)
{
	((nvmlProcessDetail_v1_t *)records)[i] = (nvmlProcessDetail_v1_t){
	    .pid = (unsigned)p->pid,
	    .usedGpuMemory = p->bytes,
	    .gpuInstanceId = NO_INSTANCE,
	    .computeInstanceId = NO_INSTANCE,
	};
}

/*
 * Drivers 535.43 to 535.86 wrote the records of the detail list into the _v3
 * lists, 8 bytes longer than their callers knew.
 */
static put_fn *put_v3(void)
{
	return front_generation->record == sizeof(nvmlProcessDetail_v1_t)
		   ? put_detail
		   : put_v2;
}

/*
 * The two-call protocol: *cap is the room at records; it becomes the number
 * of processes, and nothing is written when they are more than the room.
 */
static nvmlReturn_t give_list(const struct call *c, unsigned types,
			      unsigned *cap, void *records, put_fn *put)
{
	struct list l;
	unsigned room = records ? *cap : 0;
	nvmlReturn_t r = list_read(c, types, &l);

	if (!r) {
		*cap = l.count;
		r = l.count > room ? NVML_ERROR_INSUFFICIENT_SIZE
				   : NVML_SUCCESS;
	}
	for (unsigned i = 0; !r && i < l.count; i++)
		put(records, i, &l.at[i]);
	list_free(&l);
	return r;
}

#define LIST(symbol, record, types, put)                                       \
	nvmlReturn_t symbol(nvmlDevice_t device, unsigned int *infoCount,      \
			    record *infos)                                     \
	{                                                                      \
		ENTER_DEVICE(symbol, device,                                   \
			     infoCount && (infos || !*infoCount));             \
		return give_list(&c, types, infoCount, infos, put);            \
	}
#define LISTS(name, types)                                                     \
	LIST(name, nvmlProcessInfo_v1_t, types, put_v1)                        \
	LIST(name##_v2, nvmlProcessInfo_v2_t, types, put_v2)                   \
	LIST(name##_v3, nvmlProcessInfo_t, types, put_v3())
LISTS(nvmlDeviceGetComputeRunningProcesses, GKF_COMPUTE)
LISTS(nvmlDeviceGetGraphicsRunningProcesses, GKF_GRAPHICS)
LISTS(nvmlDeviceGetMPSComputeRunningProcesses, GKF_MPS)
#undef LISTS
#undef LIST

nvmlReturn_t
nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
				      nvmlProcessDetailList_t *plist)
{
	static const unsigned types[] = {
	    [NVML_PROCESS_MODE_COMPUTE] = GKF_COMPUTE,
	    [NVML_PROCESS_MODE_GRAPHICS] = GKF_GRAPHICS,
	    [NVML_PROCESS_MODE_MPS] = GKF_MPS,
	    [NVML_PROCESS_MODE_ALL] = GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS,
	};

	ENTER_DEVICE(nvmlDeviceGetRunningProcessDetailList, device,
		     plist != NULL);
	if (!TAKES(plist->version, nvmlProcessDetailList_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (plist->mode >= NVML_PROCESS_MODE_MAX ||
	    (plist->numProcArrayEntries && !plist->procArray))
		return NVML_ERROR_INVALID_ARGUMENT;
	return give_list(&c, types[plist->mode], &plist->numProcArrayEntries,
			 plist->procArray, put_detail);
}

/*
 * Utilisation. A sample covers the whole bins between the caller's last stamp
 * and now, a second at most, and bears the end of the newest as its stamp.
 */
struct window {
	uint64_t first, last; /* bins, inclusive */
	uint64_t stamp_us;
};

/*
 * Two clocks are read to place a bin in wall time, so the stamp of one bin
 * wavers; no less than this much makes a bin newer.
 */
#define WAVER_US 1000

/* Wall time of the end of a bin, microseconds. */
static uint64_t bin_end_us(uint64_t machine_ns, uint64_t wall_us, uint64_t bin)
{
	int64_t ago = (int64_t)(machine_ns - (bin + 1) * GKF_BIN_NS);

	return wall_us - (uint64_t)(ago / 1000);
}

static bool window_since(const struct call *c, uint64_t last_seen_us,
			 struct window *w)
{
	uint64_t ns = gkf_machine_ns(c->machine), wall = front_wall_us();
	uint64_t now = ns / GKF_BIN_NS;

	if (!now || last_seen_us > wall)
		return false;
	w->last = w->first = now - 1;
	w->stamp_us = bin_end_us(ns, wall, w->last);
	while (w->first && w->last - w->first + 1 < GKF_BINS_PER_S &&
	       bin_end_us(ns, wall, w->first - 1) > last_seen_us + WAVER_US)
		w->first--;
	return w->stamp_us > last_seen_us + WAVER_US;
}

/* Mean busy percents of a process; false when it did nothing at all. */
static bool sample(const struct gkf_process *p, const struct window *w,
		   const uint32_t *demand,
		   nvmlProcessUtilizationSample_t *ret_sample)
{
	unsigned n = (unsigned)(w->last - w->first + 1);
	struct gkf_share s, sum = {0};

	for (unsigned i = 0; i < n; i++) {
		s = gkf_share_at(&p->wave, w->first + i, demand[i]);
		sum.sm += s.sm;
		sum.mem += s.mem;
		sum.enc += s.enc;
		sum.dec += s.dec;
	}
	*ret_sample = (nvmlProcessUtilizationSample_t){
	    .pid = (unsigned)p->pid,
	    .timeStamp = w->stamp_us,
	    .smUtil = sum.sm / n,
	    .memUtil = sum.mem / n,
	    .encUtil = sum.enc / n,
	    .decUtil = sum.dec / n,
	};
	return sum.sm || sum.mem || sum.enc || sum.dec;
}

/* Counts the processes that were busy; writes the first cap of them. */
static unsigned busy_samples(const struct call *c, const struct list *l,
			     const struct window *w,
			     nvmlProcessUtilizationSample_t *out, unsigned cap)
{
	nvmlProcessUtilizationSample_t s;
	uint32_t demand[GKF_BINS_PER_S];
	unsigned n = 0;

	for (uint64_t bin = w->first; bin <= w->last; bin++)
		demand[bin - w->first] =
		    gkf_demand_at(c->machine, c->index, bin);
	for (unsigned i = 0; i < l->count; i++)
		if (sample(&l->at[i], w, demand, &s) && n++ < cap)
			out[n - 1] = s;
	return n;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(
    nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
    unsigned int *processSamplesCount, unsigned long long lastSeenTimeStamp)
{
	struct list l;
	struct window w;
	unsigned cap, busy;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetProcessUtilization, device,
		     processSamplesCount != NULL);
	if (!window_since(&c, lastSeenTimeStamp, &w))
		return NVML_ERROR_NOT_FOUND;
	r = list_read(&c, GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS, &l);
	if (r)
		goto out;
	cap = utilization ? *processSamplesCount : 0;
	busy = busy_samples(&c, &l, &w, utilization, cap < l.count ? 0 : cap);
	r = NVML_ERROR_NOT_FOUND;
	if (!busy)
		goto out;
	/* Room for all that are there: any may be busy in the next call. */
	r = cap < l.count ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
	*processSamplesCount = r ? l.count : busy;
out:
	list_free(&l);
	return r;
}
