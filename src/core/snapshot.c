/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - makes snapshots from the readings of workers and /proc. */
#include "core/snapshot.h"

#include "core/context.h"
#include "core/read/detail_lists.h"
#include "core/read/gate.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* How long a value that was read on request counts as current. */
#define KEPT_NS (3 * GK_NS_PER_S)

/* A snapshot and the arena of its strings, freed together. */
struct whole {
	/* must be first: callers hold its address */
	struct gk_snapshot snap;
	struct gk_arena arena;
	size_t device_cap, process_cap;
};

int gk_snapshot_new(struct gk_arena **ret_arena, struct gk_snapshot **ret_snap)
{
	struct whole *whole = calloc(1, sizeof *whole);

	if (!whole)
		return GK_ERR_NOMEM;
	*ret_arena = &whole->arena;
	*ret_snap = &whole->snap;
	return 0;
}

void gk_snapshot_free(struct gk_snapshot *snap)
{
	struct whole *whole = (struct whole *)snap;

	if (!whole)
		return;
	free(snap->devices);
	free(snap->processes);
	gk_arena_free(&whole->arena);
	free(whole);
}

uint64_t gk_device_age(const struct gk_snapshot *snap,
		       const struct gk_device *device, enum gk_tier tier)
{
	uint64_t read =
	    (unsigned)tier < GK_TIER_COUNT ? device->read_ns[tier] : 0;

	if (!read)
		return UINT64_MAX;
	return snap->mono_ns > read ? snap->mono_ns - read : 0;
}

/* Whether a GPU is late while watching: its values are older than gk_patience()
 * allows. For a GPU without values the limit is the timeout. Time during which
 * the process was stopped does not count. */
static bool is_overdue(const struct gk *gk, const struct gk_device *dev)
{
	uint64_t read = dev->read_ns[GK_TIER_FAST], now = gk_mono_ns();
	uint64_t patience = gk_patience(gk);

	if (!read) {
		read = gk->begun_ns;
		patience = gk->timeout_ns;
	}
	if (read < gk->resumed_ns && !gk->stale[dev->index])
		read = gk->resumed_ns;
	return dev->health == GK_HEALTH_OK && now > read + patience;
}

static void mark_late(const struct gk *gk, struct gk_device *dev)
{
	const struct gk_metric_set *only = gk->choosy ? &gk->only : NULL;

	dev->health = GK_HEALTH_STALE;
	for (int i = 0; i < GK_M_COUNT; i++)
		if (dev->m[i].why == GK_ABSENT_NOT_READ &&
		    gk_is_asked(gk->with, only, (enum gk_metric)i))
			dev->m[i].why = GK_ABSENT_TIMEOUT;
	if (dev->processes_why == GK_ABSENT_NOT_READ &&
	    !(gk->with & GK_WITHOUT_PROCESSES))
		dev->processes_why = GK_ABSENT_TIMEOUT;
}

/* Drops values of a tier that is no longer read, except facts about the device,
 * which never change. */
static void drop_old(const struct gk *gk, uint64_t now_ns, enum gk_tier tier,
		     struct gk_device *dev)
{
	uint64_t period = gk->frame_ns ? gk_period_of(gk, tier) : 0;
	uint64_t kept =
	    KEPT_NS + 2 * (period > gk->frame_ns ? period : gk->frame_ns);

	if (!dev->read_ns[tier] || now_ns < dev->read_ns[tier] + kept)
		return;
	for (int i = 0; i < GK_M_COUNT; i++)
		if (gk_metrics[i].tier == tier &&
		    gk_metrics[i].kind != GK_KIND_STATE &&
		    dev->m[i].why == GK_PRESENT)
			dev->m[i] =
			    (struct gk_value){.why = GK_ABSENT_NOT_READ};
}

/* Grows an array to at least `count` items. NULL: out of memory. */
static void *ensure_room(void *items, size_t *cap, size_t count, size_t size)
{
	size_t want = 2 * *cap > count ? 2 * *cap : count;
	void *more;

	if (count <= *cap)
		return items;
	more = gk_resize(items, want, size);
	if (more)
		*cap = want;
	return more;
}

/* Makes room for the given numbers of additional devices and processes. */
static int grow_snapshot(struct whole *whole, size_t devices, size_t processes)
{
	struct gk_snapshot *snap = &whole->snap;
	void *more =
	    ensure_room(snap->devices, &whole->device_cap,
			snap->device_count + devices, sizeof *snap->devices);

	if (!more)
		return GK_ERR_NOMEM;
	snap->devices = more;
	more = ensure_room(snap->processes, &whole->process_cap,
			   snap->process_count + processes,
			   sizeof *snap->processes);
	if (!more)
		return GK_ERR_NOMEM;
	snap->processes = more;
	return 0;
}

static void copy_device(const struct gk *gk, struct gk_snapshot *snap,
			const struct gk_device *dev, size_t gpu, bool late)
{
	struct gk_device *to = &snap->devices[snap->device_count];

	*to = *dev;
	to->process_count = 0;
	to->parent = snap->device_count == gpu ? -1 : (int)gpu;
	if (late) {
		mark_late(gk, to);
	} else {
		drop_old(gk, snap->mono_ns, GK_TIER_ASKED, to);
		drop_old(gk, snap->mono_ns, GK_TIER_DETAIL, to);
	}
	snap->device_count++;
}

void gk_snapshot_count(struct gk_snapshot *snap, unsigned device)
{
	struct gk_device *d;

	GK_ASSERT(device < snap->device_count);
	d = &snap->devices[device];
	d->process_count++;
	if (d->parent >= 0)
		snap->devices[d->parent].process_count++;
}

static void copy_process(struct gk_snapshot *snap,
			 const struct gk_listed *listed, size_t gpu)
{
	struct gk_process *p = &snap->processes[snap->process_count++];

	*p = (struct gk_process){.pid = listed->pid,
				 .device = (unsigned)gpu + listed->unit,
				 .types = listed->types};
	memcpy(p->m, listed->m, sizeof listed->m);
	gk_snapshot_count(snap, p->device);
}

/* Adds the details of a GPU; MIG devices have none. */
static int add_detail(struct whole *whole, const struct gk_reading *reading,
		      size_t gpu)
{
	struct gk_detail *detail;

	if (!reading->detail)
		return 0;
	detail = gk_arena_room(&whole->arena, gk_detail_size(reading->detail));
	if (!detail)
		return GK_ERR_NOMEM;
	gk_detail_copy(detail, reading->detail);
	whole->snap.devices[gpu].detail = detail;
	return 0;
}

static int add_gpu(struct gk *gk, struct whole *whole, size_t index,
		   const bool *late)
{
	struct gk_snapshot *snap = &whole->snap;
	struct gk_reading reading;
	size_t gpu = snap->device_count;
	bool is_late;
	int r = gk_worker_copy(gk->workers[index], &reading);

	if (r)
		return r;
	is_late = late ? late[index] : is_overdue(gk, &reading.devices[0]);
	gk->was_late |= is_late;
	gk->stale[index] = is_late;
	r = grow_snapshot(whole, reading.device_count, reading.listed_count);
	for (size_t i = 0; !r && i < reading.device_count; i++)
		copy_device(gk, snap, &reading.devices[i], gpu, is_late);
	for (size_t i = 0; !r && i < reading.listed_count; i++)
		copy_process(snap, &reading.listed[i], gpu);
	if (!r)
		r = add_detail(whole, &reading, gpu);
	for (size_t i = gpu; !r && gk->events && i < snap->device_count; i++)
		r = gk_events_get(gk->events, &whole->arena, &snap->devices[i]);
	gk_reading_free(&reading);
	return r;
}

static int compare_listed_pids(const void *a, const void *b)
{
	const struct gk_process *const *p = a, *const *q = b;

	return ((*p)->pid > (*q)->pid) - ((*p)->pid < (*q)->pid);
}

static int by_device(const void *a, const void *b)
{
	const struct gk_process *p = a, *q = b;

	if (p->device != q->device)
		return p->device < q->device ? -1 : 1;
	return (p->pid > q->pid) - (p->pid < q->pid);
}

/* Copies the values that come from /proc from the same process on another
 * device. */
static void copy_host_part(struct gk_process *to, const struct gk_process *from)
{
	struct gk_process whole = *from;

	whole.device = to->device;
	whole.types = to->types;
	for (int i = 0; i < GK_PM_COUNT; i++)
		if (gk_process_metrics[i].tier < GK_TIER_HOST)
			whole.m[i] = to->m[i];
	*to = whole;
}

/* Reads each process once, even if it is on several devices. */
static int read_processes(struct gk *gk, struct whole *whole)
{
	struct gk_snapshot *snap = &whole->snap;
	struct gk_process **sorted;

	qsort(snap->processes, snap->process_count, sizeof *snap->processes,
	      by_device);
	sorted = calloc(snap->process_count + 1, sizeof *sorted);
	if (!sorted)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < snap->process_count; i++)
		sorted[i] = &snap->processes[i];
	qsort(sorted, snap->process_count, sizeof *sorted, compare_listed_pids);
	if (gk->with & GK_WITHOUT_PROC) {
		for (size_t i = 0; i < snap->process_count; i++)
			gk_procfs_pass(gk->with, sorted[i]);
		free(sorted);
		return 0;
	}
	gk_procfs_begin(gk->procfs, snap->mono_ns, snap->host.boot_ns);
	for (size_t i = 0; i < snap->process_count; i++)
		if (i && sorted[i]->pid == sorted[i - 1]->pid)
			copy_host_part(sorted[i], sorted[i - 1]);
		else
			gk_procfs_read(gk->procfs, gk->with, &whole->arena,
				       sorted[i]);
	gk_procfs_end(gk->procfs);
	for (size_t i = 0; i < snap->process_count; i++)
		gk_gate_process(&snap->processes[i]);
	free(sorted);
	return 0;
}

static void read_host(struct gk *gk, struct gk_host *host)
{
	if (gk->with & (GK_WITHOUT_PROC | GK_WITHOUT_HOST))
		gk_host_pass(host);
	else
		gk_host_read(gk_procfs_dir(gk->procfs), &gk->host_before, host);
	if (!(gk->with & GK_WITHOUT_PROC))
		gk_host_name(host);
	gk_gate_host(host);
}

static int fill_snapshot(struct gk *gk, const bool *late, struct whole *whole)
{
	struct gk_snapshot *snap = &whole->snap;
	struct gk_span span;
	int r = 0;

	snap->wall_ns = gk_wall_ns();
	snap->mono_ns = gk_mono_ns();
	gk_str_copy(snap->driver_version, sizeof snap->driver_version,
		    gk->nvml->driver_version);
	gk_str_copy(snap->nvml_version, sizeof snap->nvml_version,
		    gk->nvml->nvml_version);
	snap->cuda_version = gk->nvml->cuda_version;
	gk_span_begin(&span, "read the host");
	read_host(gk, &snap->host);
	gk_span_end(&span);
	/* The arrays are never NULL, so that loops and sorting need no special
	 * case. */
	r = grow_snapshot(whole, gk->gpu_count + 1, 1);
	for (size_t i = 0; !r && i < gk->gpu_count; i++)
		r = add_gpu(gk, whole, i, late);
	if (!r && gk->places)
		r = gk_places_copy(gk->places, &whole->arena, &snap->topology);
	if (r)
		return r;
	gk_span_begin(&span, "read processes");
	r = read_processes(gk, whole);
	gk_span_end(&span);
	return r;
}

int gk_compose(struct gk *gk, const bool *late, struct gk_snapshot **ret_snap)
{
	struct whole *whole = calloc(1, sizeof *whole);
	int r;

	if (!whole)
		return GK_ERR_NOMEM;
	r = fill_snapshot(gk, late, whole);
	if (r) {
		gk_snapshot_free(&whole->snap);
		return r;
	}
	*ret_snap = &whole->snap;
	return 0;
}

const struct gk_link *gk_links(const struct gk_detail *detail,
			       size_t *ret_count)
{
	*ret_count = detail->link_count;
	return detail->links;
}
