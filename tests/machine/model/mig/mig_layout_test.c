/* SPDX-License-Identifier: Apache-2.0 */
/* mig_layout_test.c - checks how a line of text splits a GPU. */
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_text.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

enum { ID_1G = 19 };

static struct gkf_machine *new_machine(const struct gkf_profile *profile)
{
	struct gkf_machine_spec spec = {.device_count = 1, .profiles = profile};
	struct gkf_machine *m;

	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	return m;
}

static void a_layout_says_what_is_made_and_where(void **state)
{
	static const struct {
		const char *layout, *made;
	} cases[] = {
	    {"", ""},
	    {"7g.80gb", "0:7g.80gb@0(0#0 7g.80gb@0)"},
	    {"3g.40gb+2g.20gb+1g.10gb",
	     "2:3g.40gb@4(0#0 3g.40gb@0) 3:2g.20gb@0(0#1 2g.20gb@0) "
	     "9:1g.10gb@2(0#2 1g.10gb@0)"},
	    /*
	     * MIG devices are indexed by id, in whatever order they were made.
	     */
	    {"1g.10gb@6,3g.40gb@0",
	     "1:3g.40gb@0(0#0 3g.40gb@0) 13:1g.10gb@6(0#1 1g.10gb@0)"},
	    {"1g.10gb@0+1g.20gb@4",
	     "5:1g.20gb@4(0#0 1g.20gb@0) 7:1g.10gb@0(0#1 1g.10gb@0)"},
	    {"1g.10gb+me@3+1g.10gb@0",
	     "7:1g.10gb@0(0#0 1g.10gb@0) 10:1g.10gb+me@3(0#1 1g.10gb+me@0)"},
	    {"3g.40gb(2c+1c)",
	     "2:3g.40gb@4(0#0 2c.3g.40gb@0)(1#1 1c.3g.40gb@2)"},
	    {"3g.40gb@0(1c,2c),3g.40gb",
	     "1:3g.40gb@0(0#0 1c.3g.40gb@0) 2:3g.40gb@4"},
	    {"3g.40gb()+1g.10gb@0", "2:3g.40gb@4 7:1g.10gb@0(0#0 1g.10gb@0)"},
	    {"7g.80gb(4c,3c)",
	     "0:7g.80gb@0(0#0 4c.7g.80gb@0)(1#1 3c.7g.80gb@4)"},
	    {"7g.80gb(7c)", "0:7g.80gb@0(0#0 7g.80gb@0)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gkf_machine *m = new_machine(&gkf_profile_default);
		const char *part;
		int r = gkf_mig_layout(m, 0, cases[i].layout, &part);

		/*
		 * Two slices do not fit behind one: they begin at an even
		 * slice.
		 */
		assert_int_equal(r, i == 7 ? GK_ERR_NO_SPACE : 0);
		assert_string_equal(instances(m, 0), cases[i].made);
		assert_int_equal(gkf_mig_mode(m, 0),
				 GKF_MIG_CURRENT | GKF_MIG_PENDING);
		gkf_machine_close(m);
	}
}

static void a_wrong_layout_is_refused_where_it_is_wrong(void **state)
{
	static const struct {
		const char *layout;
		int r;
		unsigned at;
		const char *made;
	} cases[] = {
	    {"5g.40gb", GK_ERR_INVALID, 0, ""},
	    {"3g.40g", GK_ERR_INVALID, 0, ""},
	    {"+1g.10gb", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb)", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb(", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb(1c", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb@", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb@/", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb@8", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb@4x", GK_ERR_INVALID, 0, ""},
	    {"3g.40gb@1", GK_ERR_RANGE, 0, ""},
	    {"1g.10gb@7", GK_ERR_RANGE, 0, ""},
	    {"1g.10gb@0+4g.40gb", GK_ERR_NO_SPACE, 10, "7:1g.10gb@0"},
	    {"1g.10gb@0+1g.10gb@0", GK_ERR_NO_SPACE, 10, "7:1g.10gb@0"},
	    {"7g.80gb,1g.10gb", GK_ERR_NO_SPACE, 8, "0:7g.80gb@0"},
	    {"1g.10gb@6+2g.2", GK_ERR_INVALID, 10, "13:1g.10gb@6"},
	    {"3g.40gb(5c)", GK_ERR_INVALID, 0, "2:3g.40gb@4"},
	    {"3g.40gb(5c)+1g.10gb@0", GK_ERR_INVALID, 0,
	     "2:3g.40gb@4 7:1g.10gb@0"},
	    {"3g.40gb(1x)", GK_ERR_INVALID, 0, "2:3g.40gb@4"},
	    {"3g.40gb(c)", GK_ERR_INVALID, 0, "2:3g.40gb@4"},
	    {"3g.40gb(4c)", GK_ERR_RANGE, 0, "2:3g.40gb@4"},
	    {"1g.10gb@0+3g.40gb(1c1c)", GK_ERR_INVALID, 10,
	     "2:3g.40gb@4(0#0 1c.3g.40gb@0) 7:1g.10gb@0"},
	    {"3g.40gb(2c+2c)", GK_ERR_NO_SPACE, 0,
	     "2:3g.40gb@4(0#0 2c.3g.40gb@0)"},
	    {"1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb",
	     GK_ERR_NO_SPACE, 56,
	     "7:1g.10gb@0 8:1g.10gb@1 9:1g.10gb@2 10:1g.10gb@3 11:1g.10gb@4 "
	     "12:1g.10gb@5 13:1g.10gb@6"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gkf_machine *m = new_machine(&gkf_profile_default);
		const char *part = NULL;

		assert_int_equal(gkf_mig_layout(m, 0, cases[i].layout, &part),
				 cases[i].r);
		assert_int_equal(part - cases[i].layout, cases[i].at);
		assert_string_equal(instances(m, 0), cases[i].made);
		gkf_machine_close(m);
	}
}

static void a_gpu_that_cannot_be_split_stays_whole(void **state)
{
	struct gkf_profile whole = gkf_profile_default;
	const char *text = "1g.10gb", *part;
	struct gkf_machine *m;
	unsigned gi = 77;

	(void)state;
	whole.mig = -1;
	m = new_machine(&whole);
	assert_int_equal(gkf_mig_layout(m, 0, text, &part),
			 GK_ERR_NOT_SUPPORTED);
	assert_ptr_equal(part, text);
	assert_int_equal(gkf_mig_mode_set(m, 0, false), GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_mig_mode(m, 0), 0);
	atomic_store(&gkf_machine_file(m)->device[0].mig.mode, 3);
	assert_int_equal(gkf_mig_gi_create(m, 0, ID_1G, GKF_MIG_ANYWHERE, &gi),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_mig_mode_set(m, 1, true), GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gi, 77);
	gkf_machine_close(m);
}

static void a_gpu_may_be_split_from_the_start(void **state)
{
	struct gkf_profile split = gkf_profile_default;
	struct gkf_machine *m;

	(void)state;
	split.mig = 1;
	m = new_machine(&split);
	assert_int_equal(gkf_mig_mode(m, 0), GKF_MIG_CURRENT | GKF_MIG_PENDING);
	gkf_machine_close(m);
	split.compute_major = 7; /* no such board has MIG */
	m = new_machine(&split);
	assert_int_equal(gkf_mig_mode(m, 0), 0);
	gkf_machine_close(m);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
	    T(a_layout_says_what_is_made_and_where),
	    T(a_wrong_layout_is_refused_where_it_is_wrong),
	    T(a_gpu_that_cannot_be_split_stays_whole),
	    T(a_gpu_may_be_split_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
