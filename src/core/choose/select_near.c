/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_near.c - chooses GPUs that are close to each other: joined by NVLinks,
 * on one NUMA node, near on PCIe.
 */
#include "core/choose/select.h"

#include <string.h>

/* The maximum number of GPUs, more than any host has. A set of GPUs is one
 * 64-bit word. */
#define MOST 64

struct near {
	size_t count;
	/* cost[i][k]: the cost of using both GPU i and GPU k. */
	uint64_t cost[MOST][MOST];
};

/* Costs of a pair. The sum over all 2016 pairs of 64 GPUs does not overflow. */
#define NOT_LINKED ((uint64_t)1 << 48)
#define TWO_NODES  ((uint64_t)1 << 36)
#define STEP       ((uint64_t)1 << 20)

static const struct gk_place *place_of_device(const struct gk_snapshot *snap,
					      const struct gk_selectable *s)
{
	return &snap->topology->places[snap->devices[s->device].index];
}

static uint64_t pair_cost(const struct gk_snapshot *snap,
			  const struct gk_selectable *a,
			  const struct gk_selectable *b)
{
	const struct gk_topology *t = snap->topology;
	const struct gk_peer *peer =
	    &t->peers[snap->devices[a->device].index * t->count +
		      snap->devices[b->device].index];
	/* An unknown path counts as the longest path. */
	uint64_t path = peer->path ? peer->path : GK_PATH_COUNT, cost = 0;

	if (strcmp(place_of_device(snap, a)->numa_nodes,
		   place_of_device(snap, b)->numa_nodes))
		cost += TWO_NODES;
	if (!peer->nvlinks)
		return cost + NOT_LINKED + STEP * path;
	if (peer->nvlinks < GK_PATH_COUNT)
		cost += STEP * (GK_PATH_COUNT - peer->nvlinks);
	return cost;
}

static void measure_nearness(const struct gk_snapshot *snap,
			     const struct gk_selectable *usable,
			     struct near *near)
{
	for (size_t i = 0; i < near->count; i++)
		for (size_t k = 0; k < near->count; k++)
			near->cost[i][k] =
			    pair_cost(snap, &usable[i], &usable[k]);
}

/* The cost of adding a GPU to a set. The GPU's rank is added to it to break
 * ties. */
static uint64_t added_cost(const struct near *near, uint64_t set, size_t one)
{
	uint64_t cost = one;

	for (size_t i = 0; i < near->count; i++)
		if (set >> i & 1)
			cost += near->cost[i][one];
	return cost;
}

/* Grows a set from one GPU, adding the cheapest GPU each time. Returns the
 * set's cost. */
static uint64_t grow_near_set(const struct near *near, size_t first,
			      size_t size, uint64_t *ret_set)
{
	uint64_t set = (uint64_t)1 << first, total = first;

	for (size_t have = 1; have < size; have++) {
		uint64_t least = UINT64_MAX;
		size_t best = 0;

		for (size_t i = 0; i < near->count; i++) {
			uint64_t cost;

			if (set >> i & 1)
				continue;
			cost = added_cost(near, set, i);
			if (cost < least) {
				least = cost;
				best = i;
			}
		}
		set |= (uint64_t)1 << best;
		total += least;
	}
	*ret_set = set;
	return total;
}

static uint64_t best_of_size(const struct near *near, size_t size,
			     uint64_t *ret_set)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < near->count; i++) {
		uint64_t set, cost = grow_near_set(near, i, size, &set);

		if (cost < least) {
			least = cost;
			*ret_set = set;
		}
	}
	return least;
}

/* Moves the devices of the set to the front; otherwise keeps the order. */
static void put_first(struct gk_selectable *usable, size_t count, uint64_t set)
{
	struct gk_selectable others[MOST];
	size_t chosen = 0, rest = 0;

	for (size_t i = 0; i < count; i++) {
		if (set >> i & 1)
			usable[chosen++] = usable[i];
		else
			others[rest++] = usable[i];
	}
	memcpy(usable + chosen, others, rest * sizeof *others);
}

size_t gk_select_near(const struct gk_snapshot *snap,
		      struct gk_selectable *usable, size_t count, size_t least,
		      size_t most)
{
	size_t size = count < most ? count : most;
	struct near near = {.count = count};
	uint64_t set = 0;

	if (count > MOST || size < 2)
		return size;
	for (size_t i = 0; i < count; i++)
		if (snap->devices[usable[i].device].index >=
		    snap->topology->count)
			return size;
	measure_nearness(snap, usable, &near);
	/* Take the largest set in which all GPUs are linked with each other. */
	for (size_t n = size; n > 1 && n >= least; n--)
		if (best_of_size(&near, n, &set) < NOT_LINKED) {
			size = n;
			break;
		}
	best_of_size(&near, size, &set);
	put_first(usable, count, set);
	return size;
}
