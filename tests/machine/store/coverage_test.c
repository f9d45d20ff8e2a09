/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage_test.c - checks that refusals of programs are counted by function,
 * name and caller.
 */
#include "machine/file/file.h"
#include "machine/fixture.h"
#include "machine/store/coverage.h"
#include "machine/store/view.h"

static struct fixture fx;

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/*
 * How often a name was refused, found by a scan of all places; *ret_place is
 * the one it was found in.
 */
static uint64_t count_of(enum gkf_named kind, const char *name,
			 unsigned *ret_place)
{
	uint64_t count = 0;
	unsigned found = 0;

	for (unsigned i = 0; i < GKF_NAMES_MAX; i++) {
		struct gkf_named_count n;

		if (!gkf_named_read(fx.m, i, &n) || n.kind != kind ||
		    strcmp(n.name, name) != 0)
			continue;
		count = n.count;
		*ret_place = i;
		found++;
	}
	assert_in_range(found, 0, 1);
	return count;
}

/*
 * How often a function was refused to a program, found by a scan of all rows.
 */
static uint64_t refused(unsigned function, const char *caller)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++) {
		struct gkf_refused r;

		if (!gkf_refusal_read(fx.m, i, &r) || r.function != function ||
		    strcmp(r.caller, caller) != 0)
			continue;
		assert_int_equal(count, 0);
		count = r.count;
	}
	return count;
}

static unsigned rows(void)
{
	struct gkf_refused r;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++)
		n += gkf_refusal_read(fx.m, i, &r);
	return n;
}

static uint64_t lost(void)
{
	return atomic_load(&fx.file->refusals.lost);
}

static void a_name_is_counted_for_each_of_its_kinds(void **state)
{
	unsigned place[3];

	(void)state;
	gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, "both");
	gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, "both");
	gkf_refuse_named(fx.m, GKF_NAMED_CUBLAS, "both");
	gkf_refuse_named(fx.m, GKF_NAMED_KERNEL, "ptx: wgmma");
	assert_int_equal(count_of(GKF_NAMED_RUNTIME, "both", &place[0]), 2);
	assert_int_equal(count_of(GKF_NAMED_CUBLAS, "both", &place[1]), 1);
	assert_int_equal(count_of(GKF_NAMED_KERNEL, "ptx: wgmma", &place[2]),
			 1);
	assert_int_equal(count_of(GKF_NAMED_KERNEL, "both", place), 0);
	/* Each is also counted under its caller, by the place of the name. */
	assert_int_equal(refused(GKF_REFUSED_NAMED + place[0], gkf_caller()),
			 2);
	assert_int_equal(refused(GKF_REFUSED_NAMED + place[1], gkf_caller()),
			 1);
	assert_int_equal(refused(GKF_REFUSED_NAMED + place[2], gkf_caller()),
			 1);
	assert_int_equal(rows(), 3);
	assert_int_equal(lost(), 0);
}

static void a_long_name_is_cut(void **state)
{
	char name[GKF_REFUSED_MAX + 36], cut[GKF_REFUSED_MAX];
	unsigned place;

	(void)state;
	memset(name, 'n', sizeof name);
	name[sizeof name - 1] = '\0';
	memset(cut, 'n', sizeof cut);
	cut[sizeof cut - 1] = '\0';
	gkf_refuse_named(fx.m, GKF_NAMED_KERNEL, name);
	gkf_refuse_named(fx.m, GKF_NAMED_KERNEL, cut);
	cut[sizeof cut - 2] = '\0';
	gkf_refuse_named(fx.m, GKF_NAMED_KERNEL, cut);
	assert_int_equal(count_of(GKF_NAMED_KERNEL, cut, &place), 1);
	cut[sizeof cut - 2] = 'n';
	assert_int_equal(count_of(GKF_NAMED_KERNEL, cut, &place), 2);
}

static void names_without_room_are_lost(void **state)
{
	char name[16];
	unsigned place;

	(void)state;
	for (unsigned i = 0; i < GKF_NAMES_MAX; i++) {
		snprintf(name, sizeof name, "name %u", i);
		gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, name);
	}
	assert_int_equal(lost(), 0);
	gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, "one more");
	gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, "one more");
	assert_int_equal(lost(), 2);
	assert_int_equal(count_of(GKF_NAMED_RUNTIME, "one more", &place), 0);
	for (unsigned i = 0; i < GKF_NAMES_MAX; i++) {
		snprintf(name, sizeof name, "name %u", i);
		gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, name);
		assert_int_equal(count_of(GKF_NAMED_RUNTIME, name, &place), 2);
	}
	assert_int_equal(lost(), 2);
	/* The next ones are counted from 0, in the known places. */
	gkf_refusals_forget(fx.m);
	assert_int_equal(lost(), 0);
	assert_int_equal(rows(), 0);
	assert_int_equal(count_of(GKF_NAMED_RUNTIME, "name 7", &place), 0);
	gkf_refuse_named(fx.m, GKF_NAMED_RUNTIME, "name 7");
	assert_int_equal(count_of(GKF_NAMED_RUNTIME, "name 7", &place), 1);
	assert_int_equal(rows(), 1);
}

static void a_place_that_was_written_over_is_none(void **state)
{
	struct gkf_named_count n;
	struct gkf_name *at;
	unsigned place;

	(void)state;
	gkf_refuse_named(fx.m, GKF_NAMED_CUBLAS, "last kind");
	count_of(GKF_NAMED_CUBLAS, "last kind", &place);
	at = &fx.file->named[place];
	assert_true(gkf_named_read(fx.m, place + GKF_NAMES_MAX, &n));
	assert_string_equal(n.name, "last kind");
	atomic_store(&at->kind, GKF_NAMED_KINDS + 1);
	assert_false(gkf_named_read(fx.m, place, &n));
	atomic_store(&at->kind, 0);
	assert_false(gkf_named_read(fx.m, place, &n));
	atomic_store(&at->kind, 1);
	for (int i = 0; i < GKF_REFUSED_MAX / 8; i++)
		atomic_store(&at->name[i], UINT64_MAX);
	assert_true(gkf_named_read(fx.m, place, &n));
	assert_int_equal(n.kind, GKF_NAMED_RUNTIME);
	assert_int_equal(strlen(n.name), GKF_REFUSED_MAX - 1);
}

static void rows_of_the_driver_are_counted_with_their_caller(void **state)
{
	const unsigned last = GKF_CUDA_FUNCTIONS_MAX - 1;

	(void)state;
	gkf_cuda_refuse(fx.m, 0);
	gkf_cuda_refuse(fx.m, last);
	gkf_cuda_refuse(fx.m, last);
	gkf_cuda_refuse(fx.m, last + 1); /* no row */
	assert_int_equal(atomic_load(&fx.file->cuda_refused[0]), 1);
	assert_int_equal(atomic_load(&fx.file->cuda_refused[last]), 2);
	assert_int_equal(refused(GKF_REFUSED_CUDA, gkf_caller()), 1);
	assert_int_equal(refused(GKF_REFUSED_CUDA + last, gkf_caller()), 2);
	assert_int_equal(rows(), 2);
}

static void a_function_is_counted_for_each_of_its_callers(void **state)
{
	(void)state;
	gkf_refusal_count(fx.m, 0, "a");
	gkf_refusal_count(fx.m, 3, "a");
	gkf_refusal_count(fx.m, 3, "b");
	gkf_refusal_count(fx.m, 3, "b");
	gkf_refusal_count(fx.m, GKF_REFUSED_END - 1, "a name of 15 is whole");
	assert_int_equal(refused(0, "a"), 1);
	assert_int_equal(refused(3, "a"), 1);
	assert_int_equal(refused(3, "b"), 2);
	assert_int_equal(refused(GKF_REFUSED_END - 1, "a name of 15 is"), 1);
	assert_int_equal(rows(), 4);
	/* Names that differ only in the part cut off are one caller. */
	gkf_refusal_count(fx.m, GKF_REFUSED_END - 1, "a name of 15 is too");
	assert_int_equal(refused(GKF_REFUSED_END - 1, "a name of 15 is"), 2);
	assert_int_equal(rows(), 4);
	/* There is no such function. */
	gkf_refusal_count(fx.m, GKF_REFUSED_END, "a");
	assert_int_equal(rows(), 4);
}

static void refusals_without_room_are_lost(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++)
		gkf_refusal_count(fx.m, i, "a");
	assert_int_equal(rows(), GKF_REFUSALS_MAX);
	assert_int_equal(lost(), 0);
	gkf_refusal_count(fx.m, 1, "b");
	assert_int_equal(lost(), 1);
	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++)
		gkf_refusal_count(fx.m, i, "a");
	assert_int_equal(lost(), 1);
	assert_int_equal(refused(5, "a"), 2);
}

static void a_caller_is_called_as_its_process(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		int next = dup(0);

		close(next);
		prctl(PR_SET_NAME, "fifteen letters");
		if (strcmp(gkf_caller(), "fifteen letters") != 0)
			_exit(1);
		if (dup(0) != next) /* it leaves no descriptor open */
			_exit(3);
		/*
		 * It keeps the name under which it was first refused something.
		 */
		prctl(PR_SET_NAME, "other");
		_exit(strcmp(gkf_caller(), "fifteen letters") != 0 ? 2 : 0);
	}
	fixture_await(pid, 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "");
		_exit(strcmp(gkf_caller(), "?") != 0 ? 1 : 0);
	}
	fixture_await(pid, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_caller_is_called_as_its_process), /* before this process asks
						     for its name */
	    T(a_name_is_counted_for_each_of_its_kinds),
	    T(a_long_name_is_cut),
	    T(names_without_room_are_lost),
	    T(a_place_that_was_written_over_is_none),
	    T(rows_of_the_driver_are_counted_with_their_caller),
	    T(a_function_is_counted_for_each_of_its_callers),
	    T(refusals_without_room_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
