/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_rules_test.c - checks which instances fit where, by the rules alone,
 * without a machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/mig/mig_rules.h"

#include <string.h>

static const struct gkf_profile h100 = {
    .mig = 0, .compute_major = 9, .sm_count = 132, .memory_mib = 81559};
static const struct gkf_profile a100 = {
    .mig = 0, .compute_major = 8, .sm_count = 108, .memory_mib = 40960};

/* Places one where the driver would; returns its GPU instance id or -1. */
static int put(const struct gkf_profile *gpu, struct gkf_mig_use *use,
	       const char *name)
{
	const struct gkf_mig_board *board = gkf_mig_board(gpu);
	const struct gkf_mig_profile *p =
	    gkf_mig_profile_by_name(board, name, strlen(name));
	int start;

	assert_non_null(p);
	start = gkf_mig_choose(board, p, use);
	if (start < 0)
		return -1;
	use->taken |= ((1u << p->memory_slices) - 1) << start;
	use->count[p->profile]++;
	return (int)gkf_mig_gi_id((unsigned)start, p->memory_slices);
}

/* The ids of these instances in the H100 capture with MIG. */
static void instances_get_the_ids_of_the_capture(void **state)
{
	struct gkf_mig_use use = {0};

	(void)state;
	assert_int_equal(put(&h100, &use, "3g.40gb"), 2);
	assert_int_equal(put(&h100, &use, "2g.20gb"), 3);
	assert_int_equal(put(&h100, &use, "1g.10gb"), 9);
	assert_int_equal(put(&h100, &use, "1g.10gb"), 10);
	assert_int_equal(put(&h100, &use, "1g.10gb"), -1);
}

/* The order in which the MIG User Guide shows seven. */
static void seven_of_the_least_fill_a_gpu(void **state)
{
	static const int ids[] = {13, 11, 12, 7, 8, 9, 10, -1};
	struct gkf_mig_use use = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
		assert_int_equal(put(&a100, &use, "1g.5gb"), ids[i]);
}

static void two_halves_leave_nothing(void **state)
{
	struct gkf_mig_use use = {0};

	(void)state;
	assert_int_equal(put(&a100, &use, "3g.20gb"), 2);
	assert_int_equal(put(&a100, &use, "3g.20gb"), 1);
	assert_int_equal(put(&a100, &use, "1g.5gb"), -1);
	assert_int_equal(put(&a100, &use, "4g.20gb"), -1);
}

static void only_one_has_the_media_engines(void **state)
{
	struct gkf_mig_use use = {0};

	(void)state;
	assert_int_not_equal(put(&a100, &use, "1g.5gb+me"), -1);
	assert_int_equal(put(&a100, &use, "1g.5gb+me"), -1);
	assert_int_not_equal(put(&a100, &use, "1g.5gb"), -1);
}

/* Every set of instances that can be made: no overlap, seven at most. */
static void make_all(const struct gkf_mig_board *board,
		     const struct gkf_mig_use *use, unsigned slices,
		     unsigned *sets)
{
	const struct gkf_mig_profile *p;

	++*sets;
	assert_in_range(slices, 0, 7);
	for (unsigned i = 0; (p = gkf_mig_profile_at(board, i)); i++) {
		unsigned places = gkf_mig_free_places(p, use);

		assert_in_range(gkf_mig_capacity(p, use), 0, p->instances);
		assert_int_equal(!places, !gkf_mig_capacity(p, use));
		for (unsigned s = 0; s < GKF_MIG_SLICES; s++) {
			unsigned span = ((1u << p->memory_slices) - 1) << s;
			struct gkf_mig_use then = *use;

			/* In ascending order, so each set is made once. */
			if (!(places >> s & 1) || use->taken >> s)
				continue;
			assert_int_equal(span & ~0xffu, 0);
			then.taken |= span;
			then.count[p->profile]++;
			make_all(board, &then, slices + p->slices, sets);
		}
	}
}

static void no_set_of_instances_is_more_than_the_gpu(void **state)
{
	struct gkf_mig_use use = {0};
	unsigned sets = 0;

	(void)state;
	make_all(gkf_mig_board(&h100), &use, 0, &sets);
	assert_true(sets > 100);
}

static void an_id_says_where_it_lies(void **state)
{
	unsigned seen = 0;

	(void)state;
	for (unsigned size = 1; size <= 8; size *= 2)
		for (unsigned s = 0; s < 8; s += size) {
			unsigned id = gkf_mig_gi_id(s, size);

			assert_in_range(id, 0, GKF_MIG_GIS - 1);
			assert_int_equal(gkf_mig_gi_start(id), s);
			assert_int_equal(gkf_mig_gi_size(id), size);
			seen |= 1u << id;
		}
	assert_int_equal(seen, 0x7fff);
}

static void compute_instances_share_a_gpu_instance(void **state)
{
	const struct gkf_mig_board *board = gkf_mig_board(&a100);
	const struct gkf_mig_profile *gi =
	    gkf_mig_profile_by_name(board, "3g.20gb", 7);
	struct gkf_mig_ci_profile p;

	(void)state;
	assert_true(gkf_mig_ci_profile(board, gi, 0, &p));
	assert_string_equal(p.name, "1c.3g.20gb");
	assert_int_equal(p.instances, 3);
	assert_int_equal(p.sms, 14);
	assert_true(gkf_mig_ci_profile(board, gi, 1, &p));
	assert_int_equal(p.instances, 1);
	assert_true(gkf_mig_ci_profile(board, gi, 2, &p));
	assert_string_equal(p.name, "3g.20gb");
	assert_int_equal(p.sms, 42);
	assert_false(gkf_mig_ci_profile(board, gi, 3, &p));
	assert_false(gkf_mig_ci_profile(board, gi, 200, &p));
	assert_int_equal(gkf_mig_ci_whole(gi), 2);
}

static void other_gpus_cannot_be_split(void **state)
{
	struct gkf_profile p = h100;

	(void)state;
	p.mig = -1;
	assert_null(gkf_mig_board(&p));
	p = h100;
	p.compute_minor = 6;
	assert_null(gkf_mig_board(&p));
	p = h100;
	p.memory_mib = 16384;
	assert_null(gkf_mig_board(&p));
	p = h100;
	p.sm_count = 114; /* an H100 PCIe: its profiles are not known */
	assert_null(gkf_mig_board(&p));
}

/* Parts of a table that must not contradict one another. */
static void the_table_is_sound(void **state)
{
	struct gkf_profile gpus[] = {h100, a100, h100, h100,
				     h100, h100, h100, h100};

	(void)state;
	gpus[2].memory_mib = 143771;
	gpus[3].compute_major = 8;
	gpus[4].compute_major = 10;
	gpus[4].memory_mib = 183359;
	gpus[4].sm_count = 148;
	gpus[5].memory_mib = 95830;
	gpus[6].memory_mib = 97871;
	gpus[7].compute_major = 10;
	gpus[7].memory_mib = 189471;
	gpus[7].sm_count = 152;
	for (unsigned k = 0; k < sizeof gpus / sizeof *gpus; k++) {
		const struct gkf_mig_board *board = gkf_mig_board(&gpus[k]);
		const struct gkf_mig_profile *p;
		unsigned i;

		assert_non_null(board);
		for (i = 0; (p = gkf_mig_profile_at(board, i)); i++) {
			unsigned most =
			    gkf_mig_capacity(p, &(struct gkf_mig_use){0});

			assert_int_equal(most, p->instances);
			assert_true(p->memory_mib * p->instances <
				    gpus[k].memory_mib);
			assert_ptr_equal(gkf_mig_profile_by_id(board, p->id),
					 p);
			assert_ptr_equal(
			    gkf_mig_profile_by_number(board, p->profile), p);
		}
		assert_int_equal(i, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(instances_get_the_ids_of_the_capture),
	    cmocka_unit_test(seven_of_the_least_fill_a_gpu),
	    cmocka_unit_test(two_halves_leave_nothing),
	    cmocka_unit_test(only_one_has_the_media_engines),
	    cmocka_unit_test(no_set_of_instances_is_more_than_the_gpu),
	    cmocka_unit_test(an_id_says_where_it_lies),
	    cmocka_unit_test(compute_instances_share_a_gpu_instance),
	    cmocka_unit_test(other_gpus_cannot_be_split),
	    cmocka_unit_test(the_table_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
