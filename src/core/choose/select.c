/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c - checks the constraints on devices and ranks those that meet them.
 */
#include "core/choose/select.h"

#include <stdlib.h>
#include <string.h>

static bool is_split(const struct gk_snapshot *snap, unsigned position)
{
	const struct gk_device *gpu = &snap->devices[position];

	if (gpu->mig_index >= 0)
		return false;
	if (gpu->m[GK_M_MIG_MODE].why == GK_PRESENT && gpu->m[GK_M_MIG_MODE].v)
		return true;
	for (size_t i = position + 1; i < snap->device_count; i++)
		if (snap->devices[i].parent == (int)position)
			return true;
	return false;
}

/* ---- memory ---- */

static bool counts_as_free(const struct gk_select *wanted, const char *user)
{
	for (size_t i = 0; i < wanted->free_user_count; i++)
		if (!strcmp(wanted->free_users[i], user))
			return true;
	return false;
}

static void account_memory(const struct gk_snapshot *snap,
			   const struct gk_select *wanted,
			   struct gk_selectable *s)
{
	const struct gk_device *d = &snap->devices[s->device];
	int64_t freed = 0;

	s->free = d->m[GK_M_MEM_FREE];
	s->used = d->m[GK_M_MEM_USED];
	if (!wanted->free_user_count || s->free.why || s->used.why)
		return;
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (p->device == s->device && !p->m[GK_PM_GPU_MEM].why &&
		    counts_as_free(wanted, p->user))
			freed += p->m[GK_PM_GPU_MEM].v;
	}
	if (freed > s->used.v)
		freed = s->used.v;
	s->free.v += freed;
	s->used.v -= freed;
}

/* ---- constraints ---- */

static int64_t loosen_bound(int64_t least, int64_t tolerance)
{
	return tolerance >= 100
		   ? 0
		   : least - (int64_t)((double)least * (double)tolerance / 100);
}

/* Whether a value meets its constraint. If it does so only within the
 * tolerance, adds one to s->missed. */
static bool value_is_at_least(struct gk_selectable *s, struct gk_value value,
			      int64_t least, int64_t tolerance)
{
	if (least < 0)
		return true;
	if (value.why || value.v < loosen_bound(least, tolerance))
		return false;
	s->missed += value.v < least;
	return true;
}

static bool value_is_at_most(struct gk_selectable *s, struct gk_value value,
			     int64_t most, int64_t tolerance)
{
	if (most < 0)
		return true;
	if (value.why || value.v > most + tolerance)
		return false;
	s->missed += value.v > most;
	return true;
}

static enum gk_refusal judge_device(const struct gk_snapshot *snap,
				    const struct gk_select *wanted,
				    struct gk_selectable *s)
{
	const struct gk_device *d = &snap->devices[s->device];
	int64_t tolerance = wanted->tolerance;

	if (d->health != GK_HEALTH_OK)
		return GK_REFUSAL_HEALTH;
	if (wanted->taken && wanted->taken[s->device])
		return GK_REFUSAL_TAKEN;
	if (!value_is_at_least(s, s->free, wanted->min_free, tolerance))
		return GK_REFUSAL_FREE;
	if (!value_is_at_least(s, d->m[GK_M_MEM_TOTAL], wanted->min_total,
			       tolerance))
		return GK_REFUSAL_TOTAL;
	if (!value_is_at_most(s, d->m[GK_M_GPU_UTIL], wanted->max_gpu_util,
			      tolerance))
		return GK_REFUSAL_GPU_UTIL;
	if (!value_is_at_most(s, d->m[GK_M_MEM_UTIL], wanted->max_mem_util,
			      tolerance))
		return GK_REFUSAL_MEM_UTIL;
	return GK_REFUSAL_NONE;
}

/* ---- ranking ---- */

/* Unknown values come last here, and also in greater_first(). */
static int smaller_first(struct gk_value a, struct gk_value b)
{
	if (a.why || b.why)
		return (a.why != GK_PRESENT) - (b.why != GK_PRESENT);
	return a.v < b.v ? -1 : a.v > b.v;
}

static int greater_first(struct gk_value a, struct gk_value b)
{
	return a.why || b.why ? smaller_first(a, b) : smaller_first(b, a);
}

/*
 * Orders the device with the most free memory first. Among equals, the highest
 * index comes first, because programs that do not choose use GPU 0.
 */
static int compare_devices(const struct gk_snapshot *snap,
			   const struct gk_selectable *a,
			   const struct gk_selectable *b)
{
	const struct gk_device *x = &snap->devices[a->device];
	const struct gk_device *y = &snap->devices[b->device];
	int order = (int)a->missed - (int)b->missed;

	if (!order)
		order = greater_first(a->free, b->free);
	if (!order)
		order = greater_first(a->used, b->used);
	if (!order)
		order = smaller_first(x->m[GK_M_GPU_UTIL], y->m[GK_M_GPU_UTIL]);
	if (!order)
		order = smaller_first(x->m[GK_M_MEM_UTIL], y->m[GK_M_MEM_UTIL]);
	if (!order)
		order = (int)y->index - (int)x->index;
	return order;
}

/* Sorts by insertion: stable, and fast for few devices. */
static void rank_devices(const struct gk_snapshot *snap, struct gk_selection *s,
			 bool unsorted)
{
	for (size_t i = 1; i < s->count; i++) {
		struct gk_selectable moved = s->all[i];
		size_t k = i;

		while (k) {
			struct gk_selectable *before = &s->all[k - 1];
			int order = (before->why != GK_REFUSAL_NONE) -
				    (moved.why != GK_REFUSAL_NONE);

			if (!order && !unsorted && !moved.why)
				order = compare_devices(snap, before, &moved);
			if (order <= 0)
				break;
			s->all[k--] = *before;
		}
		s->all[k] = moved;
	}
}

/* ---- MIG ---- */

/*
 * Keeps either whole GPUs or one MIG device: a process that uses a MIG device
 * can use nothing else. Keeps the whole GPUs if there are enough of them or if
 * the best device is a whole GPU; otherwise the best MIG device.
 */
static void settle_mig(const struct gk_snapshot *snap,
		       const struct gk_select *wanted, struct gk_selection *s)
{
	size_t whole = 0, kept = 0;
	bool whole_ones;

	for (size_t i = 0; i < s->usable; i++)
		whole += snap->devices[s->all[i].device].mig_index < 0;
	if (whole == s->usable)
		return;
	whole_ones = (wanted->least && whole >= wanted->least) ||
		     snap->devices[s->all[0].device].mig_index < 0;
	if (!whole_ones) {
		s->usable = 1;
		return;
	}
	for (size_t i = 0; i < s->usable; i++) {
		struct gk_selectable one = s->all[i];

		if (snap->devices[one.device].mig_index >= 0)
			continue;
		memmove(s->all + kept + 1, s->all + kept,
			(i - kept) * sizeof *s->all);
		s->all[kept++] = one;
	}
	s->usable = kept;
}

/* ---- the selection ---- */

static void collect_usable(const struct gk_snapshot *snap,
			   const struct gk_select *wanted,
			   struct gk_selection *s)
{
	size_t count = wanted->pool ? wanted->pool_count : snap->device_count;

	for (size_t i = 0; i < count; i++) {
		unsigned at = wanted->pool ? wanted->pool[i] : (unsigned)i;
		struct gk_selectable *one = &s->all[s->count];

		if (is_split(snap, at))
			continue;
		s->count++;
		one->device = at;
		account_memory(snap, wanted, one);
		one->why = judge_device(snap, wanted, one);
		s->usable += one->why == GK_REFUSAL_NONE;
	}
}

int gk_select(const struct gk_snapshot *snap, const struct gk_select *wanted,
	      struct gk_selection *ret_selection)
{
	size_t room = wanted->pool ? wanted->pool_count : snap->device_count;
	struct gk_selection s = {.all = calloc(room + 1, sizeof *s.all)};

	if (!s.all)
		return GK_ERR_NOMEM;
	collect_usable(snap, wanted, &s);
	rank_devices(snap, &s, wanted->unsorted);
	settle_mig(snap, wanted, &s);
	s.chosen = s.usable < wanted->most ? s.usable : wanted->most;
	if (wanted->topology && snap->topology)
		s.chosen = gk_select_near(snap, s.all, s.usable, wanted->least,
					  wanted->most);
	*ret_selection = s;
	return 0;
}

void gk_selection_free(struct gk_selection *selection)
{
	free(selection->all);
	*selection = (struct gk_selection){0};
}
