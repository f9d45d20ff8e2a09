/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - owns the table of series and puts the values of snapshots into
 * them.
 */
#include "core/past/history.h"
#include "base/units.h"

#include "base/clock.h"
#include "base/str.h"
#include "core/read/held.h"
#include "core/past/past.h"
#include "core/past/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The maximum number of devices, including those that no longer exist: MIG
 * devices come and go, and each has a new UUID. */
#define DEVICES_KEPT 64

/* Up to this many successive frames without a new reading leave no gap. */
#define LATE_MAX 1

/*
 * If two readings of a counter are further apart than this, their difference
 * says nothing about its current rate.
 */
#define COUNTED_MAX_NS (5 * GK_NS_PER_S)

const struct gk_history_info gk_history_devices[GK_HD_COUNT] = {
#define SERIES(id, title_, unit_, metric_, scale_)                             \
	[GK_HD_##id] = {title_, unit_, GK_M_##metric_, scale_},
    GK_HISTORY_DEVICE(SERIES)
#undef SERIES
};

struct device {
	char uuid[GK_NAME_MAX];
	bool mig;
	/* when the values last added were read */
	uint64_t read_ns[GK_TIER_COUNT];
	uint64_t seen_ns;
	unsigned late; /* frames since the FAST tier was last read */
	struct gk_value before[GK_HD_COUNT]; /* counters when last read */
	struct gk_series series[GK_HD_COUNT];
	uint16_t *rings;
};

/* Device rings are mapped by mmap(), so that a page takes no memory until it is
 * written to. */
#define RINGS_SIZE (GK_HD_COUNT * GK_SERIES_ALL * sizeof(uint16_t))

struct process {
	pid_t pid;
	uint64_t start_ticks;
	char uuid[GK_NAME_MAX];
	uint64_t seen_ns;
	struct gk_series series[GK_HP_COUNT];
	uint16_t rings[GK_HP_COUNT * GK_SERIES_FINE];
};

struct gk_history {
	/* times of the first value, the previous and the current snapshot */
	uint64_t begin_ns, before_ns, now_ns;
	struct gk_series host[GK_HH_COUNT];
	uint16_t host_rings[GK_HH_COUNT * GK_SERIES_ALL];
	struct device *devices;
	size_t device_count;
	struct process **processes;
	size_t process_count, processes_max;
};

/* ---- values ---- */

static double share_of_whole(struct gk_value part, struct gk_value whole)
{
	if (part.why != GK_PRESENT || whole.why != GK_PRESENT || whole.v <= 0)
		return (double)NAN;
	return 100.0 * (double)part.v / (double)whole.v;
}

static double scaled_value(struct gk_value value, double divisor)
{
	return value.why == GK_PRESENT ? (double)value.v / divisor
				       : (double)NAN;
}

/*
 * Whether the values of a tier are new. Tiers that are always read count as new
 * if the FAST tier was read lately, because one thread reads them all.
 */
static bool is_fresh(const struct device *d, const struct gk_device *from,
		     enum gk_tier tier)
{
	if (tier == GK_TIER_ASKED || tier == GK_TIER_DETAIL)
		return from->read_ns[tier] != d->read_ns[tier];
	return d->late <= LATE_MAX;
}

static void count_late(struct device *d, const struct gk_device *from)
{
	if (from->read_ns[GK_TIER_FAST] != d->read_ns[GK_TIER_FAST])
		d->late = 0;
	else
		d->late++;
}

/* The growth of a counter per second since its previous reading. */
static double counter_rate(struct device *d, const struct gk_device *from,
			   enum gk_history_device what)
{
	const struct gk_history_info *info = &gk_history_devices[what];
	enum gk_tier tier = gk_metrics[info->metric].tier;
	uint64_t passed = from->read_ns[tier] - d->read_ns[tier];
	struct gk_value now = from->m[info->metric], before = d->before[what];

	d->before[what] = now;
	if (!d->read_ns[tier] || passed > COUNTED_MAX_NS ||
	    now.why != GK_PRESENT || before.why != GK_PRESENT ||
	    now.v < before.v)
		return (double)NAN;
	return (double)(now.v - before.v) / info->scale * (double)GK_NS_PER_S /
	       (double)passed;
}

static double of_device(struct device *d, const struct gk_device *from,
			enum gk_history_device what)
{
	const struct gk_history_info *info = &gk_history_devices[what];

	if (from->health != GK_HEALTH_OK ||
	    !is_fresh(d, from, gk_metrics[info->metric].tier))
		return (double)NAN;
	if (what == GK_HD_MEM)
		return share_of_whole(from->m[GK_M_MEM_USED],
				      from->m[GK_M_MEM_TOTAL]);
	if (what == GK_HD_HELD)
		return from->m[GK_M_THROTTLE].why == GK_PRESENT
			   ? (double)gk_held_back(from)
			   : (double)NAN;
	if (gk_metrics[info->metric].kind == GK_KIND_COUNTER)
		return counter_rate(d, from, what);
	return scaled_value(from->m[info->metric], info->scale);
}

/* NAN for a GPU that does not answer, because its values are out of date. */
static double process_value(const struct gk_process *p,
			    const struct gk_device *device,
			    enum gk_history_process what)
{
	static const struct {
		enum gk_process_metric metric;
		double divisor;
	} sources[GK_HP_COUNT] = {
	    [GK_HP_CPU] = {GK_PM_CPU, 100},
	    [GK_HP_RSS] = {GK_PM_RSS, (double)MIB},
	    [GK_HP_GPU_MEM] = {GK_PM_GPU_MEM, (double)MIB},
	    [GK_HP_SM] = {GK_PM_SM_UTIL, 1},
	};

	if (gk_process_metrics[sources[what].metric].tier == GK_TIER_MEDIUM &&
	    device->health != GK_HEALTH_OK)
		return (double)NAN;
	return scaled_value(p->m[sources[what].metric], sources[what].divisor);
}

static double of_host(const struct gk_host *host, enum gk_history_host what)
{
	struct gk_value used;

	if (what == GK_HH_CPU)
		return scaled_value(host->cpu_centipercent, 100);
	used = what == GK_HH_MEM ? host->mem_available : host->swap_free;
	if (what == GK_HH_MEM) {
		used.v = host->mem_total.v - used.v;
		return share_of_whole(used, host->mem_total);
	}
	used.v = host->swap_total.v - used.v;
	return host->swap_total.why == GK_PRESENT && !host->swap_total.v
		   ? 0.0
		   : share_of_whole(used, host->swap_total);
}

static struct device *find_device(const struct gk_history *h, const char *uuid)
{
	for (size_t i = 0; i < h->device_count; i++)
		if (!strcmp(h->devices[i].uuid, uuid))
			return &h->devices[i];
	return NULL;
}

/* The device that has been gone for the longest time; NULL if there is still
 * space. */
static struct device *gone_device(const struct gk_history *h)
{
	struct device *oldest = NULL;

	for (size_t i = 0; i < h->device_count; i++) {
		struct device *d = &h->devices[i];

		if (d->seen_ns < h->before_ns &&
		    (!oldest || d->seen_ns < oldest->seen_ns))
			oldest = d;
	}
	return h->device_count < DEVICES_KEPT ? NULL : oldest;
}

/* Adds an entry for a device, with rings. */
static struct device *place_device(struct gk_history *h)
{
	size_t n = h->device_count + 1;
	struct device *more = realloc(h->devices, n * sizeof *more);
	void *rings;

	if (!more)
		return NULL;
	h->devices = more;
	rings = mmap(NULL, RINGS_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (rings == MAP_FAILED)
		return NULL;
	more[h->device_count] = (struct device){.rings = rings};
	return &more[h->device_count++];
}

static struct device *new_device(struct gk_history *h,
				 const struct gk_device *from)
{
	struct device *d = gone_device(h);

	if (d)
		/* clears the rings */
		madvise(d->rings, RINGS_SIZE, MADV_DONTNEED);
	else
		d = place_device(h);
	if (!d)
		return NULL;
	*d = (struct device){.mig = from->mig_index >= 0, .rings = d->rings};
	gk_str_copy(d->uuid, sizeof d->uuid, from->uuid);
	gk_series_init(d->series, GK_HD_COUNT, d->rings, GK_SERIES_LEVELS);
	return d;
}

static struct process *find_process(const struct gk_history *h, pid_t pid,
				    uint64_t start_ticks, const char *uuid)
{
	for (size_t i = 0; i < h->process_count; i++) {
		struct process *p = h->processes[i];

		if (p->pid == pid && p->start_ticks == start_ticks &&
		    !strcmp(p->uuid, uuid))
			return p;
	}
	return NULL;
}

/* Returns an entry for a new process: an unused one, or that of the process
 * that has not been seen for the longest time. */
static struct process *place_process(struct gk_history *h)
{
	struct process *oldest;

	if (h->process_count < h->processes_max) {
		struct process *p = calloc(1, sizeof *p);

		if (p)
			h->processes[h->process_count++] = p;
		return p;
	}
	if (!h->process_count)
		return NULL;
	oldest = h->processes[0];
	for (size_t i = 1; i < h->process_count; i++)
		if (h->processes[i]->seen_ns < oldest->seen_ns)
			oldest = h->processes[i];
	return oldest;
}

static struct process *new_process(struct gk_history *h,
				   const struct gk_process *from,
				   const char *uuid, uint64_t now_ns)
{
	struct process *p = place_process(h);

	/*
	 * All entries belong to other processes of this snapshot: do not record
	 * this one.
	 */
	if (!p || p->seen_ns == now_ns)
		return NULL;
	*p = (struct process){.pid = from->pid,
			      .start_ticks = from->start_ticks};
	gk_str_copy(p->uuid, sizeof p->uuid, uuid);
	gk_series_init(p->series, GK_HP_COUNT, p->rings, 1);
	return p;
}

struct gk_history *gk_history_new(unsigned processes_max)
{
	struct gk_history *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->processes =
	    calloc(processes_max ? processes_max : 1, sizeof(struct process *));
	if (!h->processes) {
		free(h);
		return NULL;
	}
	h->processes_max = processes_max;
	gk_series_init(h->host, GK_HH_COUNT, h->host_rings, GK_SERIES_LEVELS);
	return h;
}

void gk_history_free(struct gk_history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->device_count; i++)
		munmap(h->devices[i].rings, RINGS_SIZE);
	for (size_t i = 0; i < h->process_count; i++)
		free(h->processes[i]);
	free(h->devices);
	free(h->processes);
	free(h);
}

static void record_process(struct gk_history *h, const struct gk_snapshot *snap,
			   const struct gk_process *from)
{
	const struct gk_device *device = &snap->devices[from->device];
	const char *uuid = device->uuid;
	struct process *p = find_process(h, from->pid, from->start_ticks, uuid);

	if (!p)
		p = new_process(h, from, uuid, snap->mono_ns);
	if (!p)
		return;
	p->seen_ns = snap->mono_ns;
	for (int i = 0; i < GK_HP_COUNT; i++)
		gk_series_add(
		    &p->series[i], snap->mono_ns,
		    process_value(from, device, (enum gk_history_process)i));
}

static void record_device(struct gk_history *h, const struct gk_snapshot *snap,
			  const struct gk_device *from)
{
	struct device *d = find_device(h, from->uuid);

	if (!d)
		d = new_device(h, from);
	if (!d)
		return;
	d->seen_ns = snap->mono_ns;
	count_late(d, from);
	for (int i = 0; i < GK_HD_COUNT; i++)
		gk_series_add(&d->series[i], snap->mono_ns,
			      of_device(d, from, (enum gk_history_device)i));
	memcpy(d->read_ns, from->read_ns, sizeof d->read_ns);
}

void gk_history_add(struct gk_history *h, const struct gk_snapshot *snap)
{
	if (!h->begin_ns)
		h->begin_ns = snap->mono_ns;
	h->before_ns = h->now_ns;
	h->now_ns = snap->mono_ns;
	for (int i = 0; i < GK_HH_COUNT; i++)
		gk_series_add(&h->host[i], snap->mono_ns,
			      of_host(&snap->host, (enum gk_history_host)i));
	for (size_t k = 0; k < snap->device_count; k++)
		record_device(h, snap, &snap->devices[k]);
	for (size_t k = 0; k < snap->process_count; k++)
		record_process(h, snap, &snap->processes[k]);
}

/* ---- earlier samples ---- */

/*
 * Copies the samples of a metric and converts their times to CLOCK_MONOTONIC.
 * Returns their number.
 */
static size_t take_samples(const struct gk_past *past,
			   enum gk_history_device what, uint64_t mono_ns,
			   uint64_t wall_ns, struct gk_timed *out)
{
	const struct gk_history_info *info = &gk_history_devices[what];
	uint64_t before = 0;
	size_t n = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct gk_sample *s = &past->samples[i];
		uint64_t ago = wall_ns - s->wall_ns;

		/* Skip samples that are in the future or out of order. */
		if (s->metric != info->metric || s->wall_ns > wall_ns ||
		    ago >= mono_ns || mono_ns - ago < before)
			continue;
		before = mono_ns - ago;
		out[n++] = (struct gk_timed){
		    before, (float)((double)s->value / info->scale)};
	}
	return n;
}

void gk_history_fill(struct gk_history *h, const char *uuid,
		     const struct gk_past *past, uint64_t mono_ns,
		     uint64_t wall_ns)
{
	struct device *d = find_device(h, uuid);
	struct gk_timed *values;

	if (!d)
		return;
	values = calloc(past->count + 1, sizeof *values);
	for (int i = 0; values && i < GK_HD_COUNT; i++) {
		size_t n = take_samples(past, (enum gk_history_device)i,
					mono_ns, wall_ns, values);

		gk_series_fill(&d->series[i], values, n);
		if (n && values[0].ns < h->begin_ns)
			h->begin_ns = values[0].ns;
	}
	free(values);
}

/* ---- reading ---- */

static void fill_with_nothing(struct gk_history_span span, float *out)
{
	for (unsigned i = 0; i < span.count; i++)
		out[i] = NAN;
}

void gk_history_of_host(const struct gk_history *h, enum gk_history_host what,
			struct gk_history_span span, float *out)
{
	gk_series_read(&h->host[what], span, out);
}

void gk_history_of_device(const struct gk_history *h, const char *uuid,
			  enum gk_history_device what,
			  struct gk_history_span span, float *out)
{
	const struct device *d = find_device(h, uuid);

	if (d)
		gk_series_read(&d->series[what], span, out);
	else
		fill_with_nothing(span, out);
}

/* Reads one value at a time, so that no buffer is needed. */
void gk_history_of_devices(const struct gk_history *h,
			   enum gk_history_device what,
			   struct gk_history_span span, float *out)
{
	for (unsigned i = 0; i < span.count; i++) {
		struct gk_history_span one = {
		    .end_ns = span.end_ns - (span.count - 1 - i) * span.step_ns,
		    .step_ns = span.step_ns,
		    .count = 1,
		};
		float value, sum = 0;
		unsigned n = 0;

		for (size_t k = 0; k < h->device_count; k++) {
			if (h->devices[k].mig)
				continue;
			gk_series_read(&h->devices[k].series[what], one,
				       &value);
			if (isnan(value))
				continue;
			sum += value;
			n++;
		}
		out[i] = n ? sum / (float)n : NAN;
	}
}

void gk_history_of_process(const struct gk_history *h, pid_t pid,
			   uint64_t start_ticks, const char *uuid,
			   enum gk_history_process what,
			   struct gk_history_span span, float *out)
{
	const struct process *p = find_process(h, pid, start_ticks, uuid);

	if (p)
		gk_series_read(&p->series[what], span, out);
	else
		fill_with_nothing(span, out);
}

uint64_t gk_history_begin(const struct gk_history *h)
{
	return h->begin_ns;
}
