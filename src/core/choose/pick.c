/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c - picks the requested GPUs and processes of a snapshot.
 */
#include "core/choose/pick.h"

#include "base/assert.h"
#include "base/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses the number at *list and moves *list past it; -1 at the end. */
static long next_index(const char **list)
{
	char *end;
	long index;

	if (!**list)
		return -1;
	index = strtol(*list, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return index;
}

bool gk_pick_valid(const char *list)
{
	for (;;) {
		size_t digits = strspn(list, "0123456789");

		if (!digits || digits > 6)
			return false;
		if (!list[digits])
			return true;
		if (list[digits] != ',')
			return false;
		list += digits + 1;
	}
}

static bool is_named_index(const char *list, unsigned index)
{
	for (long i; (i = next_index(&list)) >= 0;)
		if (i == (long)index)
			return true;
	return false;
}

/* The first index in the list that no GPU has, or -1. */
static long missing_index(const struct gk_snapshot *snap, const char *list)
{
	for (long index; (index = next_index(&list)) >= 0;) {
		size_t i = 0;

		while (i < snap->device_count &&
		       snap->devices[i].index != (unsigned long)index)
			i++;
		if (i == snap->device_count)
			return index;
	}
	return -1;
}

/* ---- devices visible to CUDA ---- */

static bool has_speed(const struct gk_device *d)
{
	return d->compute_major >= 0 &&
	       d->m[GK_M_SM_CLOCK_MAX].why == GK_PRESENT;
}

/* The speed of a GPU. If the GPU does not answer, the speed of another one is
 * used instead: most machines have identical GPUs. */
static uint64_t speed_of(const struct gk_snapshot *snap,
			 const struct gk_device *d)
{
	struct gk_value clock;

	for (size_t i = 0; !has_speed(d) && d->health != GK_HEALTH_OK &&
			   i < snap->device_count;
	     i++)
		if (has_speed(&snap->devices[i]))
			d = &snap->devices[i];
	if (d->compute_major < 0)
		return 0;
	clock = d->m[GK_M_SM_CLOCK_MAX];
	return gk_cuda_speed(
	    d->compute_major, d->compute_minor,
	    clock.why == GK_PRESENT ? (uint64_t)clock.v / 1000000 : 0);
}

/* Gives a GPU whose PCI address is unknown the address of the GPU before it,
 * because NVML lists GPUs in the order of their addresses. */
static void stand_behind(struct gk_candidate *c, const struct gk_candidate *to)
{
	c->pci_domain = to->pci_domain;
	c->pci_bus = to->pci_bus;
	c->pci_device = to->pci_device;
}

size_t gk_pick_candidates(const struct gk_snapshot *snap, bool with_lost,
			  struct gk_candidate *ret_candidates,
			  unsigned *ret_positions)
{
	size_t count = 0;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		struct gk_candidate *c = &ret_candidates[count];

		if (d->health == GK_HEALTH_LOST && !with_lost)
			continue;
		ret_positions[count++] = (unsigned)i;
		c->index = d->index;
		c->mig_index = d->mig_index;
		c->uuid = d->uuid;
		c->speed = speed_of(snap, d);
		c->mig_enabled = d->m[GK_M_MIG_MODE].why == GK_PRESENT &&
				 d->m[GK_M_MIG_MODE].v == 1;
		if (!d->bus_id[0] && d->health && count > 1)
			stand_behind(c, c - 1);
		sscanf(d->bus_id, "%x:%x:%x", &c->pci_domain, &c->pci_bus,
		       &c->pci_device);
	}
	return count;
}

/* Marks the visible devices, and each GPU that has a visible MIG device. */
static int mark_visible(const struct gk_snapshot *snap,
			const struct gk_pick *pick, bool *wanted)
{
	size_t room = snap->device_count + 1, count = 0;
	struct gk_candidate *candidates = calloc(room, sizeof *candidates);
	unsigned *chosen = calloc(room, sizeof *chosen);
	unsigned *positions = calloc(room, sizeof *positions);
	int err = candidates && chosen && positions ? 0 : GK_ERR_NOMEM;

	if (!err) {
		count = gk_pick_candidates(snap, true, candidates, positions);
		err = gk_cuda_visible(pick->visible, pick->order, candidates,
				      count, chosen, &count, NULL);
	}
	for (size_t i = 0; !err && i < count; i++) {
		unsigned at = positions[chosen[i]];
		int parent = snap->devices[at].parent;

		wanted[at] = true;
		if (parent >= 0)
			wanted[parent] = true;
	}
	free(candidates);
	free(chosen);
	free(positions);
	return err;
}

static int mark_wanted(const struct gk_snapshot *snap,
		       const struct gk_pick *pick, bool *wanted)
{
	if (pick->only_visible && !pick->gpus)
		return mark_visible(snap, pick, wanted);
	for (size_t i = 0; i < snap->device_count; i++)
		wanted[i] = !pick->gpus ||
			    is_named_index(pick->gpus, snap->devices[i].index);
	return 0;
}

/* ---- processes ---- */

#define COMPUTES (GK_PROCESS_COMPUTE | GK_PROCESS_MPS)

static bool picks_type(const struct gk_pick *pick, unsigned types)
{
	bool computes = types & COMPUTES, draws = types & GK_PROCESS_GRAPHICS;

	return (computes || !(pick->compute || pick->only_compute)) &&
	       (draws || !(pick->graphics || pick->only_graphics)) &&
	       !(computes && pick->only_graphics) &&
	       !(draws && pick->only_compute);
}

static bool picks_user(const struct gk_pick *pick, const char *user)
{
	for (size_t i = 0; i < pick->user_count; i++)
		if (!strcmp(pick->users[i], user))
			return true;
	return !pick->user_count;
}

static bool has_pid(const struct gk_pick *pick, pid_t pid)
{
	for (size_t i = 0; i < pick->pid_count; i++)
		if (pick->pids[i] == pid)
			return true;
	return !pick->pid_count;
}

/* ---- the resulting snapshot ---- */

static void fill_devices(const struct gk_snapshot *snap, const bool *wanted,
			 struct gk_snapshot *part, int *moved)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_device *d = &part->devices[part->device_count];

		moved[i] = -1;
		if (!wanted[i])
			continue;
		*d = snap->devices[i];
		if (d->parent >= 0)
			d->parent = moved[d->parent];
		moved[i] = (int)part->device_count++;
	}
}

static void fill_processes(const struct gk_snapshot *snap,
			   const struct gk_pick *pick, struct gk_snapshot *part,
			   const int *moved)
{
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];
		int to = moved[p->device];

		if (to < 0 || !picks_type(pick, p->types) ||
		    !picks_user(pick, p->user) || !has_pid(pick, p->pid))
			continue;
		part->processes[part->process_count] = *p;
		part->processes[part->process_count++].device = (unsigned)to;
	}
}

int gk_pick(const struct gk_snapshot *snap, const struct gk_pick *pick,
	    long *ret_missing, struct gk_snapshot *ret_part)
{
	struct gk_snapshot part = *snap;
	size_t room = snap->device_count + 1;
	int *moved = calloc(room, sizeof *moved), err = GK_ERR_NOMEM;
	bool *wanted = calloc(room, sizeof *wanted);

	GK_ASSERT(!pick->gpus || gk_pick_valid(pick->gpus));
	part.device_count = part.process_count = 0;
	part.devices = calloc(room, sizeof *part.devices);
	part.processes =
	    calloc(snap->process_count + 1, sizeof *part.processes);
	if (moved && wanted && part.devices && part.processes)
		err = mark_wanted(snap, pick, wanted);
	if (err) {
		gk_pick_free(&part);
	} else {
		fill_devices(snap, wanted, &part, moved);
		fill_processes(snap, pick, &part, moved);
		if (ret_missing)
			*ret_missing =
			    pick->gpus ? missing_index(snap, pick->gpus) : -1;
		*ret_part = part;
	}
	free(moved);
	free(wanted);
	return err;
}

void gk_pick_free(struct gk_snapshot *part)
{
	free(part->devices);
	free(part->processes);
	part->devices = NULL;
	part->processes = NULL;
}
