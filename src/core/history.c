/* history.c - rings of several resolutions; see history.h. */
#include "core/history.h"

#include "base/clock.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024.0 * 1024.0)

/* Ten minutes by the second, two hours by ten, a day by the minute. */
static const struct {
	uint64_t period_ns;
	uint32_t length;
} levels[] = {
    {GK_NS_PER_S, 600},
    {10 * GK_NS_PER_S, 720},
    {60 * GK_NS_PER_S, 1440},
};
#define LEVELS       3
#define RING_ALL     (600 + 720 + 1440)
#define RING_PROCESS 600 /* processes are kept by the second only */

const struct gk_history_info gk_history_devices[GK_HD_COUNT] = {
#define SERIES(id, title_, unit_) [GK_HD_##id] = {title_, unit_},
    GK_HISTORY_DEVICE(SERIES)
#undef SERIES
};

/* The bin that is being filled, and how often it was added to. */
struct level {
	uint64_t bin;
	uint32_t added;
};

struct series {
	struct level level[LEVELS];
	unsigned levels; /* in use */
	float *ring;     /* of one level behind that of the other */
};

struct device {
	char uuid[GK_NAME_MAX];
	bool mig;
	struct series series[GK_HD_COUNT];
	float *rings;
};

struct process {
	pid_t pid;
	uint64_t start_ticks;
	char uuid[GK_NAME_MAX];
	uint64_t seen_ns;
	struct series series[GK_HP_COUNT];
	float rings[GK_HP_COUNT][RING_PROCESS];
};

struct gk_history {
	uint64_t begin_ns;
	struct series host[GK_HH_COUNT];
	float host_rings[GK_HH_COUNT][RING_ALL];
	struct device *devices;
	size_t device_count;
	struct process **processes;
	size_t process_count, processes_max;
};

/* ---- one series ---- */

static void init_series(struct series *s, float *ring, unsigned count)
{
	*s = (struct series){.levels = count, .ring = ring};
}

static float *ring_of(const struct series *s, unsigned level)
{
	float *ring = s->ring;

	for (unsigned i = 0; i < level; i++)
		ring += levels[i].length;
	return ring;
}

/* Says that nothing is known of the bins between the last one and this. */
static void forget_gap(float *ring, uint32_t length, uint64_t from, uint64_t to)
{
	if (to - from > length)
		from = to - length;
	for (uint64_t b = from + 1; b < to; b++)
		ring[b % length] = NAN;
}

static void add_to(struct series *s, unsigned level, uint64_t now_ns,
		   float value)
{
	struct level *l = &s->level[level];
	uint32_t length = levels[level].length;
	uint64_t bin = now_ns / levels[level].period_ns;
	float *ring = ring_of(s, level);
	float *at = &ring[bin % length];

	if (!l->added) {
		for (uint32_t i = 0; i < length; i++)
			ring[i] = NAN;
		l->bin = bin;
	}
	if (bin != l->bin) {
		if (bin > l->bin)
			forget_gap(ring, length, l->bin, bin);
		l->bin = bin;
		l->added = 0;
	}
	*at = l->added ? *at + (value - *at) / (float)(l->added + 1) : value;
	l->added++;
}

static void add(struct series *s, uint64_t now_ns, double value)
{
	if (isnan(value))
		return;
	for (unsigned i = 0; i < s->levels; i++)
		add_to(s, i, now_ns, (float)value);
}

/* The mean of the bins of a level between two moments. */
static float mean(const struct series *s, unsigned level, uint64_t from_ns,
		  uint64_t to_ns)
{
	const struct level *l = &s->level[level];
	uint64_t period = levels[level].period_ns;
	uint32_t length = levels[level].length, n = 0;
	const float *ring = ring_of(s, level);
	uint64_t first = from_ns / period, last = (to_ns - 1) / period;
	double sum = 0;

	if (last > l->bin)
		last = l->bin;
	if (l->bin >= length && first <= l->bin - length)
		first = l->bin - length + 1;
	for (uint64_t b = first; b <= last; b++) {
		float value = ring[b % length];

		if (isnan(value))
			continue;
		sum += (double)value;
		n++;
	}
	return n ? (float)(sum / n) : NAN;
}

/* The finest level that reaches back far enough; else the coarsest. */
static unsigned choose_level(const struct series *s,
			     struct gk_history_span span)
{
	uint64_t length = span.count * span.step_ns;
	uint64_t begin = span.end_ns > length ? span.end_ns - length : 0;
	unsigned i = 0;

	while (i + 1 < s->levels) {
		uint64_t reach = levels[i].period_ns * levels[i].length;
		uint64_t newest = s->level[i].bin * levels[i].period_ns;

		if (newest < reach || newest - reach <= begin)
			break;
		i++;
	}
	return i;
}

static void read_series(const struct series *s, struct gk_history_span span,
			float *out)
{
	uint64_t to = span.end_ns;
	unsigned level = s->levels ? choose_level(s, span) : 0;

	for (unsigned i = span.count; i > 0; i--) {
		uint64_t from = to > span.step_ns ? to - span.step_ns : 0;

		out[i - 1] = s->levels && s->level[level].added && to
				 ? mean(s, level, from, to)
				 : NAN;
		to = from;
	}
}

static void nothing(struct gk_history_span span, float *out)
{
	for (unsigned i = 0; i < span.count; i++)
		out[i] = NAN;
}

/* ---- what is kept ---- */

static double share(struct gk_value part, struct gk_value whole)
{
	if (part.why != GK_PRESENT || whole.why != GK_PRESENT || whole.v <= 0)
		return (double)NAN;
	return 100.0 * (double)part.v / (double)whole.v;
}

static double scaled(struct gk_value value, double divisor)
{
	return value.why == GK_PRESENT ? (double)value.v / divisor
				       : (double)NAN;
}

static double of_device(const struct gk_device *d, enum gk_history_device what)
{
	static const struct {
		enum gk_metric metric;
		double divisor;
	} sources[GK_HD_COUNT] = {
	    [GK_HD_GPU_UTIL] = {GK_M_GPU_UTIL, 1},
	    [GK_HD_MEM_UTIL] = {GK_M_MEM_UTIL, 1},
	    [GK_HD_POWER] = {GK_M_POWER, 1000},
	    [GK_HD_TEMP] = {GK_M_TEMP, 1},
	    [GK_HD_SM_CLOCK] = {GK_M_SM_CLOCK, 1e6},
	    [GK_HD_MEM_CLOCK] = {GK_M_MEM_CLOCK, 1e6},
	    [GK_HD_FAN] = {GK_M_FAN, 1},
	    [GK_HD_ENC] = {GK_M_ENC_UTIL, 1},
	    [GK_HD_DEC] = {GK_M_DEC_UTIL, 1},
	    [GK_HD_PCIE_TX] = {GK_M_PCIE_TX, MIB},
	    [GK_HD_PCIE_RX] = {GK_M_PCIE_RX, MIB},
	};

	if (d->health != GK_HEALTH_OK)
		return (double)NAN;
	if (what == GK_HD_MEM)
		return share(d->m[GK_M_MEM_USED], d->m[GK_M_MEM_TOTAL]);
	return scaled(d->m[sources[what].metric], sources[what].divisor);
}

static double of_process(const struct gk_process *p,
			 enum gk_history_process what)
{
	static const struct {
		enum gk_process_metric metric;
		double divisor;
	} sources[GK_HP_COUNT] = {
	    [GK_HP_CPU] = {GK_PM_CPU, 100},
	    [GK_HP_RSS] = {GK_PM_RSS, MIB},
	    [GK_HP_GPU_MEM] = {GK_PM_GPU_MEM, MIB},
	    [GK_HP_SM] = {GK_PM_SM_UTIL, 1},
	};

	return scaled(p->m[sources[what].metric], sources[what].divisor);
}

static double of_host(const struct gk_host *host, enum gk_history_host what)
{
	struct gk_value used;

	if (what == GK_HH_CPU)
		return scaled(host->cpu_centipercent, 100);
	used = what == GK_HH_MEM ? host->mem_available : host->swap_free;
	if (what == GK_HH_MEM) {
		used.v = host->mem_total.v - used.v;
		return share(used, host->mem_total);
	}
	used.v = host->swap_total.v - used.v;
	return host->swap_total.why == GK_PRESENT && !host->swap_total.v
		   ? 0.0
		   : share(used, host->swap_total);
}

static struct device *find_device(const struct gk_history *h, const char *uuid)
{
	for (size_t i = 0; i < h->device_count; i++)
		if (!strcmp(h->devices[i].uuid, uuid))
			return &h->devices[i];
	return NULL;
}

static struct device *new_device(struct gk_history *h,
				 const struct gk_device *from)
{
	size_t n = h->device_count + 1;
	struct device *more = realloc(h->devices, n * sizeof *more), *d;

	if (!more)
		return NULL;
	h->devices = more;
	d = &more[h->device_count];
	*d = (struct device){.mig = from->mig_index >= 0};
	d->rings = calloc(GK_HD_COUNT * (size_t)RING_ALL, sizeof *d->rings);
	if (!d->rings)
		return NULL;
	gk_str_copy(d->uuid, sizeof d->uuid, from->uuid);
	for (int i = 0; i < GK_HD_COUNT; i++)
		init_series(&d->series[i], d->rings + (size_t)i * RING_ALL,
			    LEVELS);
	h->device_count = n;
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

/* A place for a process: a new one, or that of the one unseen for longest. */
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

	/* All are seen in this very snapshot: one too many is left out. */
	if (!p || p->seen_ns == now_ns)
		return NULL;
	p->pid = from->pid;
	p->start_ticks = from->start_ticks;
	gk_str_copy(p->uuid, sizeof p->uuid, uuid);
	for (int i = 0; i < GK_HP_COUNT; i++)
		init_series(&p->series[i], p->rings[i], 1);
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
	for (int i = 0; i < GK_HH_COUNT; i++)
		init_series(&h->host[i], h->host_rings[i], LEVELS);
	return h;
}

void gk_history_free(struct gk_history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->device_count; i++)
		free(h->devices[i].rings);
	for (size_t i = 0; i < h->process_count; i++)
		free(h->processes[i]);
	free(h->devices);
	free(h->processes);
	free(h);
}

static void add_process(struct gk_history *h, const struct gk_snapshot *snap,
			const struct gk_process *from)
{
	const char *uuid = snap->devices[from->device].uuid;
	struct process *p = find_process(h, from->pid, from->start_ticks, uuid);

	if (!p)
		p = new_process(h, from, uuid, snap->mono_ns);
	if (!p)
		return;
	p->seen_ns = snap->mono_ns;
	for (int i = 0; i < GK_HP_COUNT; i++)
		add(&p->series[i], snap->mono_ns,
		    of_process(from, (enum gk_history_process)i));
}

void gk_history_add(struct gk_history *h, const struct gk_snapshot *snap)
{
	if (!h->begin_ns)
		h->begin_ns = snap->mono_ns;
	for (int i = 0; i < GK_HH_COUNT; i++)
		add(&h->host[i], snap->mono_ns,
		    of_host(&snap->host, (enum gk_history_host)i));
	for (size_t k = 0; k < snap->device_count; k++) {
		const struct gk_device *from = &snap->devices[k];
		struct device *d = find_device(h, from->uuid);

		if (!d)
			d = new_device(h, from);
		for (int i = 0; d && i < GK_HD_COUNT; i++)
			add(&d->series[i], snap->mono_ns,
			    of_device(from, (enum gk_history_device)i));
	}
	for (size_t k = 0; k < snap->process_count; k++)
		add_process(h, snap, &snap->processes[k]);
}

/* ---- reading ---- */

void gk_history_of_host(const struct gk_history *h, enum gk_history_host what,
			struct gk_history_span span, float *out)
{
	read_series(&h->host[what], span, out);
}

void gk_history_of_device(const struct gk_history *h, const char *uuid,
			  enum gk_history_device what,
			  struct gk_history_span span, float *out)
{
	const struct device *d = find_device(h, uuid);

	if (d)
		read_series(&d->series[what], span, out);
	else
		nothing(span, out);
}

/* One value at a time: no more memory than the caller gives. */
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
			read_series(&h->devices[k].series[what], one, &value);
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
		read_series(&p->series[what], span, out);
	else
		nothing(span, out);
}

uint64_t gk_history_begin(const struct gk_history *h)
{
	return h->begin_ns;
}
