/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_test.c - checks constraints, ranking, MIG and topology of gk_select()
 * on hand-made snapshots.
 */
#include "base/units.h"
#include "core/choose/select.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST 8

/* A device: free and total in GiB, utilization in percent; -1: unknown. */
struct spec {
	unsigned index;
	int mig_index;
	int64_t free, total, util, bandwidth;
	bool split, lost;
};

struct machine {
	struct gk_device devices[MOST];
	struct gk_process processes[2];
	struct gk_peer peers[MOST * MOST];
	struct gk_place places[MOST];
	struct gk_topology topology;
	struct gk_snapshot snap;
};

static struct gk_value known(int64_t value)
{
	return (struct gk_value){value, value < 0 ? GK_ABSENT_NOT_SUPPORTED
						  : GK_PRESENT};
}

static void make(struct machine *m, const struct spec *specs, size_t count)
{
	memset(m, 0, sizeof *m);
	m->snap.devices = m->devices;
	m->snap.processes = m->processes;
	m->snap.device_count = count;
	for (size_t i = 0; i < count; i++) {
		struct gk_device *d = &m->devices[i];
		const struct spec *s = &specs[i];
		int64_t used = s->free < 0 ? -1 : s->total - s->free;

		d->index = s->index;
		d->mig_index = s->mig_index;
		d->parent = s->mig_index < 0 ? -1 : 0;
		d->health = s->lost ? GK_HEALTH_LOST : GK_HEALTH_OK;
		d->m[GK_M_MIG_MODE] = known(s->split);
		d->m[GK_M_MEM_FREE] = known(s->free < 0 ? -1 : s->free * GIB);
		d->m[GK_M_MEM_USED] = known(used < 0 ? -1 : used * GIB);
		d->m[GK_M_MEM_TOTAL] = known(s->total * GIB);
		d->m[GK_M_GPU_UTIL] = known(s->util);
		d->m[GK_M_MEM_UTIL] = known(s->bandwidth);
	}
}

/* Checks the labels of the chosen devices: "3 1:0". */
static void chosen(const struct machine *m, const struct gk_select *wanted,
		   const char *expected)
{
	struct gk_selection s;
	char text[64] = "";
	size_t len = 0;

	assert_int_equal(gk_select(&m->snap, wanted, &s), 0);
	assert_true(s.chosen <= s.usable && s.usable <= s.count);
	for (size_t i = 0; i < s.chosen; i++) {
		const struct gk_device *d = &m->devices[s.all[i].device];

		len += (size_t)snprintf(text + len, sizeof text - len,
					d->mig_index < 0 ? "%s%u" : "%s%u:%d",
					i ? " " : "", d->index, d->mig_index);
	}
	gk_selection_free(&s);
	assert_string_equal(text, expected);
}

static const struct spec equal[] = {
    {0, -1, 80, 80, 0, 0, false, false},
    {1, -1, 80, 80, 0, 0, false, false},
    {2, -1, 80, 80, 0, 0, false, false},
    {3, -1, 80, 80, 0, 0, false, false},
};

static const struct spec mixed[] = {
    {0, -1, 70, 80, 10, 5, false, false}, {1, -1, 80, 80, 30, 5, false, false},
    {2, -1, 80, 80, 20, 9, false, false}, {3, -1, 80, 80, 20, 7, false, false},
    {4, -1, 10, 80, 99, 9, false, false},
};

static void gpu_0_is_kept_free(void **state)
{
	struct gk_select two = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, equal, COUNT(equal));
	chosen(&m, &two, "3 2 1 0");
	two.most = 2;
	chosen(&m, &two, "3 2");
	two.unsorted = true;
	chosen(&m, &two, "0 1");
}

/* Whatever their order in the snapshot. */
static void among_equals_the_highest_index_is_first(void **state)
{
	static const struct spec specs[] = {
	    {2, -1, 80, 80, 0, 0, false, false},
	    {0, -1, 80, 80, 0, 0, false, false},
	    {3, -1, 80, 80, 0, 0, false, false},
	    {1, -1, 80, 80, 0, 0, false, false},
	};
	struct gk_select any = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, specs, COUNT(specs));
	chosen(&m, &any, "3 2 1 0");
	any.unsorted = true;
	chosen(&m, &any, "2 0 3 1");
}

/* Suitable devices come first, then the refused ones in their order. */
static void refusals_have_their_reason(void **state)
{
	static const struct spec specs[] = {
	    {0, -1, 80, 80, 0, 0, false, true},
	    {1, -1, 80, 80, 0, 0, false, false},
	    {2, -1, 9, 80, 0, 0, false, false},
	    {3, -1, 40, 40, 0, 0, false, false},
	    {4, -1, 80, 80, 51, 0, false, false},
	    {5, -1, 80, 80, 0, 61, false, false},
	    {6, -1, 10, 41, 50, 60, false, false},
	};
	static const struct {
		unsigned device;
		enum gk_refusal why;
	} want[] = {
	    {6, GK_REFUSAL_NONE},     {0, GK_REFUSAL_HEALTH},
	    {1, GK_REFUSAL_TAKEN},    {2, GK_REFUSAL_FREE},
	    {3, GK_REFUSAL_TOTAL},    {4, GK_REFUSAL_GPU_UTIL},
	    {5, GK_REFUSAL_MEM_UTIL},
	};
	bool taken[MOST] = {[1] = true};
	struct gk_select wanted = GK_SELECT_ANY;
	struct gk_selection s;
	struct machine m;

	(void)state;
	make(&m, specs, COUNT(specs));
	wanted.min_free = 10 * GIB;
	wanted.min_total = 41 * GIB;
	wanted.max_gpu_util = 50;
	wanted.max_mem_util = 60;
	wanted.taken = taken;
	assert_int_equal(gk_select(&m.snap, &wanted, &s), 0);
	assert_int_equal(s.count, COUNT(want));
	assert_int_equal(s.usable, 1);
	assert_int_equal(s.chosen, 1);
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(s.all[i].device, want[i].device);
		assert_int_equal(s.all[i].why, want[i].why);
		assert_int_equal(s.all[i].missed, 0);
	}
	assert_int_equal(s.all[0].free.v, 10 * GIB);
	assert_int_equal(s.all[0].used.v, 31 * GIB);
	gk_selection_free(&s);
	assert_null(s.all);
	assert_int_equal(s.count, 0);
}

/* The number of missed constraints counts, and the tolerance has an end. */
static void what_is_missed_is_counted(void **state)
{
	static const struct spec specs[] = {
	    {0, -1, 90, 100, 10, 10, false, false},
	    {1, -1, 95, 100, 11, 11, false, false},
	    {2, -1, 89, 89, 20, 20, false, false},
	};
	struct gk_select wanted = GK_SELECT_ANY;
	struct gk_selection s;
	struct machine m;

	(void)state;
	make(&m, specs, COUNT(specs));
	wanted.min_free = wanted.min_total = 90 * GIB;
	wanted.max_gpu_util = wanted.max_mem_util = 10;
	wanted.tolerance = 10;
	assert_int_equal(gk_select(&m.snap, &wanted, &s), 0);
	assert_int_equal(s.usable, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(s.all[i].device, i);
		assert_int_equal(s.all[i].missed, i * 2);
	}
	gk_selection_free(&s);
	wanted.tolerance = 9;
	chosen(&m, &wanted, "0 1");
	wanted.tolerance = 0;
	chosen(&m, &wanted, "0");
}

static void of_equally_free_ones_the_largest_then_the_idlest(void **state)
{
	static const struct spec specs[] = {
	    {3, -1, 80, 80, 7, 5, false, false},
	    {2, -1, 80, 80, 7, 4, false, false},
	    {1, -1, 80, 80, 6, 9, false, false},
	    {0, -1, 80, 90, 9, 9, false, false},
	};
	struct gk_select any = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	/* The last has as much free but more in use, so it is larger. */
	make(&m, specs, COUNT(specs));
	chosen(&m, &any, "0 1 2 3");
}

static void the_emptiest_then_the_idlest_come_first(void **state)
{
	struct gk_select any = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, mixed, COUNT(mixed));
	chosen(&m, &any, "3 2 1 0 4");
}

static void each_constraint_refuses(void **state)
{
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, mixed, COUNT(mixed));
	wanted.min_free = 70 * GIB;
	chosen(&m, &wanted, "3 2 1 0");
	wanted.min_free = 70 * GIB + 1;
	chosen(&m, &wanted, "3 2 1");
	wanted.max_gpu_util = 20;
	chosen(&m, &wanted, "3 2");
	wanted.max_mem_util = 8;
	chosen(&m, &wanted, "3");
	wanted.min_total = 81 * GIB;
	chosen(&m, &wanted, "");
}

static void who_needs_the_tolerance_comes_last(void **state)
{
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, mixed, COUNT(mixed));
	wanted.max_gpu_util = 10;
	chosen(&m, &wanted, "0");
	wanted.tolerance = 9;
	chosen(&m, &wanted, "0");
	wanted.tolerance = 10;
	chosen(&m, &wanted, "0 3 2");
	wanted.max_gpu_util = -1;
	wanted.min_free = 75 * GIB;
	wanted.tolerance = 6;
	chosen(&m, &wanted, "3 2 1");
	wanted.tolerance = 7;
	chosen(&m, &wanted, "3 2 1 0");
	wanted.tolerance = 200;
	chosen(&m, &wanted, "3 2 1 0 4");
}

static void what_is_unknown_meets_no_constraint(void **state)
{
	static const struct spec specs[] = {
	    {0, -1, -1, 80, -1, -1, false, false},
	    {1, -1, 5, 80, 90, 90, false, false},
	    {2, -1, 80, 80, 0, 0, false, true},
	};
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, specs, COUNT(specs));
	chosen(&m, &wanted, "1 0");
	wanted.min_free = 0;
	chosen(&m, &wanted, "1");
	wanted.min_free = -1;
	wanted.max_gpu_util = 100;
	wanted.tolerance = 100;
	chosen(&m, &wanted, "1");
}

static void memory_of_some_users_counts_as_free(void **state)
{
	static const struct spec specs[] = {
	    {0, -1, 20, 80, 0, 0, false, false},
	    {1, -1, 30, 80, 0, 0, false, false},
	};
	static const char *const users[] = {"ann", "bob"};
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, specs, COUNT(specs));
	m.snap.process_count = 2;
	m.processes[0].user = "bob";
	m.processes[0].m[GK_PM_GPU_MEM] = known(40 * GIB);
	m.processes[1].user = "eve";
	m.processes[1].device = 1;
	m.processes[1].m[GK_PM_GPU_MEM] = known(50 * GIB);
	chosen(&m, &wanted, "1 0");
	wanted.free_users = users;
	wanted.free_user_count = 2;
	chosen(&m, &wanted, "0 1");
	wanted.min_free = 60 * GIB;
	chosen(&m, &wanted, "0");
	/* No more than is used can become free. */
	m.processes[0].m[GK_PM_GPU_MEM] = known(400 * GIB);
	wanted.min_free = 80 * GIB + 1;
	chosen(&m, &wanted, "");
}

static void one_mig_device_or_whole_gpus(void **state)
{
	static const struct spec specs[] = {
	    {0, -1, 70, 80, -1, -1, true, false},
	    {0, 0, 40, 40, -1, -1, false, false},
	    {0, 3, 20, 20, -1, -1, false, false},
	    {1, -1, 30, 80, 0, 0, false, false},
	    {2, -1, 10, 80, 0, 0, false, false},
	};
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, specs, COUNT(specs));
	chosen(&m, &wanted, "0:0");
	wanted.least = 2;
	chosen(&m, &wanted, "1 2");
	wanted.least = 3;
	chosen(&m, &wanted, "0:0");
	wanted.least = 0;
	wanted.max_gpu_util = 50;
	chosen(&m, &wanted, "1 2");
}

static void a_pool_keeps_its_order(void **state)
{
	static const unsigned pool[] = {2, 0};
	bool taken[MOST] = {[2] = true};
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, equal, COUNT(equal));
	wanted.pool = pool;
	wanted.pool_count = 2;
	wanted.unsorted = true;
	chosen(&m, &wanted, "2 0");
	wanted.taken = taken;
	chosen(&m, &wanted, "0");
	wanted.pool_count = 0;
	chosen(&m, &wanted, "");
}

/* GPUs with equal letters are linked; digits are their NUMA nodes. */
static void wire(struct machine *m, const char *islands, const char *nodes)
{
	struct gk_topology *t = &m->topology;

	t->count = m->snap.device_count;
	t->peers = m->peers;
	t->places = m->places;
	for (size_t i = 0; i < t->count; i++) {
		m->places[i].numa_nodes[0] = nodes[i];
		for (size_t k = 0; k < t->count; k++) {
			struct gk_peer *p = &m->peers[i * t->count + k];

			p->path = nodes[i] == nodes[k] ? GK_PATH_NODE
						       : GK_PATH_SYSTEM;
			p->nvlinks = i != k && islands[i] == islands[k];
		}
	}
	m->snap.topology = t;
}

/* GPU 5 and GPU 1 have the most free memory. */
static const struct spec eight[] = {
    {0, -1, 40, 80, 0, 0, false, false}, {1, -1, 80, 80, 0, 0, false, false},
    {2, -1, 40, 80, 0, 0, false, false}, {3, -1, 40, 80, 0, 0, false, false},
    {4, -1, 40, 80, 0, 0, false, false}, {5, -1, 80, 80, 0, 0, false, false},
    {6, -1, 40, 80, 0, 0, false, false}, {7, -1, 40, 80, 0, 0, false, false},
};

static void exactly(const struct machine *m, size_t count, const char *expected)
{
	struct gk_select wanted = GK_SELECT_ANY;

	wanted.topology = true;
	wanted.least = wanted.most = count;
	chosen(m, &wanted, expected);
}

static void one_island_is_preferred(void **state)
{
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	wire(&m, "aabbaabb", "00000000");
	exactly(&m, 4, "5 1 4 0");
	exactly(&m, 2, "5 1");
	wire(&m, "aaaabbbb", "01010101");
	exactly(&m, 4, "5 7 6 4");
	/* GPUs of the island that are on one node. */
	exactly(&m, 2, "5 7");
	exactly(&m, 1, "5");
	exactly(&m, 8, "5 1 7 6 4 3 2 0");
	/* As many as are linked, when the number is not given. */
	wanted.topology = true;
	chosen(&m, &wanted, "5 7 6 4");
	wanted.least = 5;
	chosen(&m, &wanted, "5 1 7 6 4 3 2 0");
}

static void without_links_one_node_is_preferred(void **state)
{
	struct gk_select wanted = GK_SELECT_ANY;
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	wire(&m, "abcdefgh", "00001111");
	exactly(&m, 4, "5 7 6 4");
	wire(&m, "abcdefgh", "01010101");
	exactly(&m, 3, "5 1 7");
	exactly(&m, 5, "5 1 7 6 3");
	wanted.topology = true;
	chosen(&m, &wanted, "5 1 7 6 4 3 2 0");
}

static void pairs_stay_together(void **state)
{
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	wire(&m, "aabbccdd", "00001111");
	exactly(&m, 4, "5 7 6 4");
	exactly(&m, 2, "5 4");
	wire(&m, "abcdabcd", "00000000");
	exactly(&m, 4, "5 1 7 3");
}

static void a_way_that_is_not_known_is_no_near_one(void **state)
{
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	wire(&m, "abcdefgh", "00000000");
	exactly(&m, 2, "5 1");
	m.peers[5 * 8 + 1].path = m.peers[1 * 8 + 5].path = GK_PATH_UNKNOWN;
	exactly(&m, 2, "5 7");
}

/* Some boards connect all GPUs of both nodes to one bridge. */
static void where_all_ways_are_equal_nodes_decide(void **state)
{
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	wire(&m, "abcdefgh", "00001111");
	for (size_t i = 0; i < COUNT(eight) * COUNT(eight); i++)
		m.peers[i].path = GK_PATH_NODE;
	exactly(&m, 2, "5 7");
	exactly(&m, 4, "5 7 6 4");
}

/* It was made before the last GPUs were added. */
static void a_topology_of_fewer_gpus_changes_nothing(void **state)
{
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	wire(&m, "aabbaabb", "00000000");
	exactly(&m, 4, "5 1 4 0");
	m.topology.count = 7;
	exactly(&m, 4, "5 1 7 6");
}

static void without_topology_nothing_changes(void **state)
{
	struct machine m;

	(void)state;
	make(&m, eight, COUNT(eight));
	exactly(&m, 3, "5 1 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gpu_0_is_kept_free),
	    cmocka_unit_test(among_equals_the_highest_index_is_first),
	    cmocka_unit_test(refusals_have_their_reason),
	    cmocka_unit_test(what_is_missed_is_counted),
	    cmocka_unit_test(of_equally_free_ones_the_largest_then_the_idlest),
	    cmocka_unit_test(the_emptiest_then_the_idlest_come_first),
	    cmocka_unit_test(each_constraint_refuses),
	    cmocka_unit_test(who_needs_the_tolerance_comes_last),
	    cmocka_unit_test(what_is_unknown_meets_no_constraint),
	    cmocka_unit_test(memory_of_some_users_counts_as_free),
	    cmocka_unit_test(one_mig_device_or_whole_gpus),
	    cmocka_unit_test(a_pool_keeps_its_order),
	    cmocka_unit_test(one_island_is_preferred),
	    cmocka_unit_test(without_links_one_node_is_preferred),
	    cmocka_unit_test(pairs_stay_together),
	    cmocka_unit_test(a_way_that_is_not_known_is_no_near_one),
	    cmocka_unit_test(where_all_ways_are_equal_nodes_decide),
	    cmocka_unit_test(a_topology_of_fewer_gpus_changes_nothing),
	    cmocka_unit_test(without_topology_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
