/* Splitting a GPU by layouts and one by one, and what its instances did. */
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/mig_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/model/demand.h"
#include "machine/model/mig.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/ledger.h"
#include "machine/store/machine.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

enum { ID_1G = 19, ID_1G_ME = 20, ID_2G = 14, ID_3G = 9, ID_4G = 5, ID_7G = 0 };

static struct fixture fx;

/* Two A100 with 80 GB; time stands. */
static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	gkf_clock_speed(fx.m, 0);
	gkf_event_interest(fx.m, UINT64_MAX);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* "2:3g.40gb@4(0#1 2c.3g.40gb@0)": GPU instances, theirs by id and index. */
static const char *instances(struct gkf_machine *m, unsigned device)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < GKF_MIG_GIS; i++) {
		struct gkf_mig_gi gi;
		struct gkf_mig_ci ci;

		if (gkf_mig_gi_read(m, device, i, &gi))
			continue;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%u:%s@%u",
				      n ? " " : "", gi.id, gi.profile->name,
				      gi.start);
		for (unsigned c = 0; c < GKF_MIG_CIS; c++)
			if (!gkf_mig_ci_read(m, device, i, c, &ci))
				n += (size_t)snprintf(
				    text + n, sizeof text - n, "(%u#%u %s@%u)",
				    ci.id, ci.index, ci.profile.name, ci.start);
	}
	return text;
}

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
	    /* Indices of MIG devices by id, in whatever order they came. */
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

		/* Two slices do not fit behind one: they begin at even ones. */
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
	split.compute_major = 7; /* there was none such */
	m = new_machine(&split);
	assert_int_equal(gkf_mig_mode(m, 0), 0);
	gkf_machine_close(m);
}

/* ---- one by one ---- */

static uint64_t changes(void)
{
	return gkf_event_last(fx.m);
}

static void split(void)
{
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
}

static unsigned create(unsigned id, int start)
{
	unsigned gi;

	assert_int_equal(gkf_mig_gi_create(fx.m, 0, id, start, &gi), 0);
	return gi;
}

static void an_instance_is_made_where_it_may_be(void **state)
{
	uint64_t before;
	unsigned gi = 77;

	(void)state;
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, 0, &gi),
			 GK_ERR_NOT_SUPPORTED); /* not split */
	split();
	before = changes();
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, 99, 0, &gi), GK_ERR_RANGE);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, -2, &gi),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, 8, &gi),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, 2, &gi),
			 GK_ERR_RANGE);
	assert_int_equal(gi, 77);
	assert_int_equal(changes(), before);
	assert_int_equal(create(ID_3G, 0), 1);
	assert_int_equal(changes(), before + 1);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_4G, 0, &gi),
			 GK_ERR_NO_SPACE);
	assert_int_equal(
	    gkf_mig_gi_create(fx.m, 0, ID_7G, GKF_MIG_ANYWHERE, &gi),
	    GK_ERR_NO_SPACE);
	assert_int_equal(gi, 77);
	assert_string_equal(instances(fx.m, 0), "1:3g.40gb@0");
	assert_string_equal(instances(fx.m, 1), "");
}

static void what_is_taken_is_told(void **state)
{
	struct gkf_mig_use use;

	(void)state;
	split();
	gkf_mig_use(fx.m, 0, &use);
	assert_int_equal(use.taken, 0);
	create(ID_3G, 4);
	create(ID_1G, 1);
	create(ID_1G, 3);
	gkf_mig_use(fx.m, 0, &use);
	assert_int_equal(use.taken, 0xfa);
	assert_int_equal(use.count[0], 2); /* 1 slice */
	assert_int_equal(use.count[2], 1); /* 3 slices */
	assert_int_equal(use.count[1], 0);
}

static void compute_instances_fill_an_instance(void **state)
{
	struct gkf_mig_ci_profile one, two;
	struct gkf_mig_gi gi;
	unsigned ci = 77, id;

	(void)state;
	split();
	id = create(ID_4G, 0);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &gi), 0);
	assert_true(gkf_mig_ci_profile(
	    gkf_mig_board(&gkf_board(fx.m, 0)->profile), gi.profile, 0, &one));
	assert_true(gkf_mig_ci_profile(
	    gkf_mig_board(&gkf_board(fx.m, 0)->profile), gi.profile, 1, &two));
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &one), 4);
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &two), 2);
	/* Number 0 is one slice, 1 two of them, 3 all four. */
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 0, 1, &ci), 0);
	assert_int_equal(ci, 0);
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &one), 3);
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &two), 1);
	ci = 77;
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, 0, &ci),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, 1, &ci),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, -2, &ci),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, 8, &ci),
			 GK_ERR_RANGE);
	assert_int_equal(
	    gkf_mig_ci_create(fx.m, 0, id, gi.life, 2, GKF_MIG_ANYWHERE, &ci),
	    GK_ERR_RANGE);
	assert_int_equal(
	    gkf_mig_ci_create(fx.m, 0, id, gi.life, 3, GKF_MIG_ANYWHERE, &ci),
	    GK_ERR_NO_SPACE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life + 1, 0,
					   GKF_MIG_ANYWHERE, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id + 1, gi.life, 0,
					   GKF_MIG_ANYWHERE, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(ci, 77);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, GKF_MIG_ANY_LIFE, 1,
					   GKF_MIG_ANYWHERE, &ci),
			 0);
	assert_int_equal(ci, 1);
	assert_string_equal(instances(fx.m, 0),
			    "1:4g.40gb@0(0#0 1c.4g.40gb@1)(1#1 2c.4g.40gb@2)");
}

static void the_least_free_index_is_taken(void **state)
{
	struct gkf_mig_ci ci;
	unsigned id;

	(void)state;
	split();
	assert_int_equal(create(ID_1G, 0), 7);
	assert_int_equal(create(ID_1G, 6), 13);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 13, 0, 0, -1, &id), 0);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 7, 0, 0, -1, &id), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	assert_int_equal(ci.gi, 13);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 1, &ci), 0);
	assert_int_equal(ci.gi, 7);
	assert_int_equal(ci.id, 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 2, &ci), GK_ERR_NOT_FOUND);
	assert_int_equal(ci.gi, 7);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, 13, 0, 0), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 1, &ci), 0);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 13, 0, 0, -1, &id), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	assert_int_equal(ci.gi, 13);
}

/* Worked out apart from this code, of the GPU's UUID: see mig.h. */
static void each_life_has_a_uuid_of_its_own(void **state)
{
	char uuid[GKF_MIG_UUID_MAX];
	struct gkf_mig_ci ci = {.gi = 2, .id = 0, .life = 1};

	(void)state;
	gkf_mig_uuid(fx.m, 0, &ci, uuid);
	assert_string_equal(uuid, "MIG-c9d2639c-29e0-5cc5-98e4-fde5aad3e6f0");
	ci.life = 2;
	gkf_mig_uuid(fx.m, 0, &ci, uuid);
	assert_string_equal(uuid, "MIG-ebdb6216-75df-570f-8c06-0fd569e1fa0a");
	ci = (struct gkf_mig_ci){.gi = 9, .id = 3, .life = 1};
	gkf_mig_uuid(fx.m, 0, &ci, uuid);
	assert_string_equal(uuid, "MIG-ed7791f7-7c2c-549b-b9d4-21d2cfa931ba");
}

static void what_is_gone_is_not_what_comes_there_next(void **state)
{
	struct gkf_mig_gi gi, next;
	struct gkf_mig_ci ci;
	unsigned id;

	(void)state;
	split();
	id = create(ID_2G, 2);
	assert_int_equal(id, 4);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &gi), 0);
	assert_int_equal(gi.life, 1);
	assert_int_equal(gi.start, 2);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 2), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 1), 0);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 1), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &next), GK_ERR_NOT_FOUND);
	assert_int_equal(create(ID_2G, 2), id);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &next), 0);
	assert_int_equal(next.life, 2);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 1), GK_ERR_NOT_FOUND);
	/* Any life is nobody's: it is left out. */
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 2), 0);
	atomic_store(&fx.file->device[0].mig.gi[id], 0xffffffffULL << 32);
	assert_int_equal(create(ID_2G, 2), id);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &next), 0);
	assert_int_equal(next.life, 1);
	assert_int_equal(gkf_mig_ci_read(fx.m, 0, id, 0, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_ci_read(fx.m, 0, id, GKF_MIG_CIS, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, GKF_MIG_GIS, &gi),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_read(fx.m, 2, 0, &gi), GK_ERR_NOT_FOUND);
}

/* Left there by whoever wrote into the file: it is in no new instance. */
static void nothing_comes_with_a_new_instance(void **state)
{
	(void)state;
	split();
	for (unsigned i = 0; i < GKF_MIG_CIS; i++)
		atomic_store(&fx.file->device[0].mig.ci[2][i], 1);
	create(ID_3G, 4);
	assert_string_equal(instances(fx.m, 0), "2:3g.40gb@4");
}

static void what_is_in_use_stays(void **state)
{
	unsigned gi, ci, slot;
	uint64_t before;

	(void)state;
	split();
	gi = create(ID_3G, 4);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, gi, 0, 2, -1, &ci), 0);
	before = changes();
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, gi, 0), GK_ERR_IN_USE);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 0), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_mode(fx.m, 0), GKF_MIG_CURRENT);
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_mig_reset(fx.m, 0);
	gkf_unlock(fx.m);
	assert_int_equal(changes(), before);
	assert_string_equal(instances(fx.m, 0), "2:3g.40gb@4(0#0 3g.40gb@0)");
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 9),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 1), 0);
	assert_int_equal(changes(), before + 1);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 1),
			 GK_ERR_NOT_FOUND);
	/* An instance without processes keeps the mode all the same. */
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, gi, 1), 0);
	assert_int_equal(changes(), before + 2);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), 0);
	assert_int_equal(changes(), before + 3);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
}

static void the_mode_waits_for_who_is_there(void **state)
{
	uint64_t before = changes();
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_mode(fx.m, 0), GKF_MIG_PENDING);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), GK_ERR_IN_USE);
	assert_int_equal(changes(), before);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	/* Of the other GPU nobody cares. */
	assert_int_equal(gkf_attach(fx.m, 1, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	assert_int_equal(changes(), before + 1);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(changes(), before + 1);
}

static void a_reset_does_what_was_wanted(void **state)
{
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb(1c)+2g.20gb", &part),
			 0);
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_mig_reset(fx.m, 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	assert_string_equal(instances(fx.m, 0), "");
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++)
		for (unsigned ci = 0; ci < GKF_MIG_CIS; ci++)
			assert_false(
			    atomic_load(&fx.file->device[0].mig.ci[gi][ci]) &
			    1);
	atomic_store(&fx.file->device[0].mig.mode, GKF_MIG_CURRENT);
	gkf_mig_reset(fx.m, 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
	atomic_store(&fx.file->device[0].mig.mode, GKF_MIG_PENDING);
	gkf_mig_reset(fx.m, 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	gkf_unlock(fx.m);
}

/* ---- memory, and who comes where ---- */

static void an_empty_instance_holds_a_little_for_each_slice(void **state)
{
	struct gkf_memory memory;
	const char *part;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+1g.10gb", &part), 0);
	assert_int_equal(gkf_memory_gi(fx.m, 0, 2, &memory), 0);
	assert_int_equal(memory.total, 40192 * MIB);
	assert_int_equal(memory.used, 3 * 8600 * KIB);
	assert_int_equal(memory.free, 40192 * MIB - 3 * 8600 * KIB);
	assert_int_equal(memory.reserved, 0);
	assert_int_equal(gkf_memory_gi(fx.m, 0, 1, &memory), GK_ERR_NOT_FOUND);
	gkf_memory(fx.m, 0, &memory);
	assert_int_equal(memory.used, 4 * 8600 * KIB);
	/* A process comes into the first, unless it says where. */
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(fx.file->slot[slot].instance, GKF_INSTANCE(2, 0));
	assert_int_equal(gkf_attach_instance(fx.m, 0, GKF_INSTANCE(8, 0),
					     GKF_COMPUTE, NULL, &slot),
			 GK_ERR_NOT_FOUND);
}

static void without_a_compute_instance_nobody_comes_in(void **state)
{
	unsigned slot = 77;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb()", &part), 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(slot, 77);
}

/* ---- what was done ---- */

static const struct gkf_wave steady = {.kind = GKF_WAVE_STEADY,
				       .util_permille = 500,
				       .mem_permille = 400,
				       .encoder_permille = 100,
				       .decoder_permille = 200,
				       .jpeg_permille = 300,
				       .ofa_permille = 600};

static void attach(unsigned gi, const struct gkf_wave *wave)
{
	unsigned slot;

	assert_int_equal(gkf_attach_instance(fx.m, 0, GKF_INSTANCE(gi, 0),
					     GKF_COMPUTE, wave, &slot),
			 0);
}

static void let_pass(unsigned bins)
{
	assert_int_equal(gkf_machine_age(fx.m, bins * GKF_BIN_NS), 0);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
}

/* Half of the time at work, of which 95 % on all SMs and so on: wave.c. */
static void assert_steady(unsigned gi, uint64_t bins)
{
	struct gkf_mig_sums s;

	gkf_mig_sums(fx.m, 0, gi, &s);
	assert_int_equal(s.gpu, 500 * bins);
	assert_int_equal(s.sm, 475 * bins);
	assert_int_equal(s.occupancy, 225 * bins);
	assert_int_equal(s.tensor, 300 * bins);
	assert_int_equal(s.dram, 200 * bins);
	assert_int_equal(s.enc, 50 * bins);
	assert_int_equal(s.dec, 100 * bins);
	assert_int_equal(s.jpg, 150 * bins);
	assert_int_equal(s.ofa, 300 * bins);
}

static void assert_nothing_done(unsigned gi)
{
	static const struct gkf_mig_sums none;
	struct gkf_mig_sums s;

	gkf_mig_sums(fx.m, 0, gi, &s);
	assert_memory_equal(&s, &none, sizeof s);
}

static void what_is_done_is_summed_by_instance(void **state)
{
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+2g.20gb", &part), 0);
	attach(2, &steady);
	let_pass(7);
	assert_steady(2, 7);
	attach(3, &steady);
	let_pass(5);
	assert_steady(2, 12);
	assert_steady(3, 5);
	assert_nothing_done(0);
	assert_nothing_done(1);
}

static void an_instance_is_busy_all_of_the_time_at_most(void **state)
{
	struct gkf_wave more = steady;
	struct gkf_mig_sums s;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	more.util_permille = 1000;
	more.mem_permille = 1000;
	attach(2, &more);
	attach(2, &more);
	let_pass(3);
	gkf_mig_sums(fx.m, 0, 2, &s);
	/* Each half as much as it wants; of the memory both want all. */
	assert_int_equal(s.gpu, 3000);
	assert_int_equal(s.sm, 2850);
	assert_int_equal(s.tensor, 1800);
	assert_int_equal(s.dram, 3000);
	assert_int_equal(s.ofa, 1800);
}

/* More than are collected for a bin: all slots are looked at. */
static void a_crowd_is_summed_as_well(void **state)
{
	struct gkf_wave little = {
	    .kind = GKF_WAVE_STEADY, .util_permille = 10, .mem_permille = 500};
	struct gkf_mig_sums s;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+2g.20gb", &part), 0);
	for (unsigned i = 0; i < GKF_DEMAND_MAX; i++)
		attach(2, &little);
	attach(3, &steady);
	let_pass(4);
	assert_steady(3, 4);
	gkf_mig_sums(fx.m, 0, 2, &s);
	assert_int_equal(s.gpu, 4 * 10 * GKF_DEMAND_MAX);
	assert_int_equal(s.sm, 4 * 9 * GKF_DEMAND_MAX);
	assert_int_equal(s.dram, 4 * 5 * GKF_DEMAND_MAX);
	assert_nothing_done(0);
}

static void loads_count_while_they_are_there(void **state)
{
	struct gkf_wave wave = steady;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	wave.start_bin = 4;
	wave.stop_bin = 9;
	attach(2, &wave);
	let_pass(20);
	assert_steady(2, 5);
}

/* Bins that a process wrote itself: half of each at work, and copies. */
static void real_work_counts_as_it_was_done(void **state)
{
	struct gkf_wave real = {.kind = GKF_WAVE_REAL};
	struct gkf_mig_sums s;
	const char *part;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &real, &slot), 0);
	for (uint64_t bin = 0; bin < 6; bin++)
		atomic_store(&fx.file->busy[slot].bin[bin].busy,
			     bin << 28 | (bin < 4 ? GKF_BIN_NS / 2 : 0));
	let_pass(10);
	gkf_mig_sums(fx.m, 0, 2, &s);
	assert_int_equal(s.gpu, 4 * 500);
	assert_int_equal(s.sm, 4 * 450);
	assert_int_equal(s.occupancy, 4 * 225);
	assert_int_equal(s.tensor, 0);
	assert_int_equal(s.dram, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_layout_says_what_is_made_and_where),
	    cmocka_unit_test(a_wrong_layout_is_refused_where_it_is_wrong),
	    cmocka_unit_test(a_gpu_that_cannot_be_split_stays_whole),
	    cmocka_unit_test(a_gpu_may_be_split_from_the_start),
	    T(an_instance_is_made_where_it_may_be),
	    T(what_is_taken_is_told),
	    T(compute_instances_fill_an_instance),
	    T(the_least_free_index_is_taken),
	    T(each_life_has_a_uuid_of_its_own),
	    T(what_is_gone_is_not_what_comes_there_next),
	    T(nothing_comes_with_a_new_instance),
	    T(what_is_in_use_stays),
	    T(the_mode_waits_for_who_is_there),
	    T(a_reset_does_what_was_wanted),
	    T(an_empty_instance_holds_a_little_for_each_slice),
	    T(without_a_compute_instance_nobody_comes_in),
	    T(what_is_done_is_summed_by_instance),
	    T(an_instance_is_busy_all_of_the_time_at_most),
	    T(a_crowd_is_summed_as_well),
	    T(loads_count_while_they_are_there),
	    T(real_work_counts_as_it_was_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
