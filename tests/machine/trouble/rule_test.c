/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_test.c - checks rules by which single functions fail: which calls they
 * apply to, and how often.
 */
#include "base/array.h"
#include "base/err.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/fixture.h"
#include "machine/trouble/rule.h"

#define ALL     ~0ULL
#define MILLION 1000000

static struct fixture fx;

static int setup(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* A rule that always holds. */
static struct gkf_rule_spec rule(unsigned function, uint64_t gpus, int answer)
{
	return (struct gkf_rule_spec){.function = function,
				      .gpus = gpus,
				      .answer = answer,
				      .seed = 7,
				      .per_million = MILLION};
}

static void add(struct gkf_rule_spec spec)
{
	assert_int_equal(gkf_rule_add(fx.m, &spec), 0);
}

/* The result of a call; 0: it works. */
static int call(unsigned function, int device)
{
	int answer = 0;
	bool applies = gkf_rule_applies(fx.m, function, device, &answer);

	assert_int_equal(applies, answer != 0);
	return answer;
}

static int holds(unsigned function, int device)
{
	int answer = 0;
	bool told = gkf_rule_holds(fx.m, function, device, &answer);

	assert_int_equal(told, answer != 0);
	return answer;
}

/* The number of rules, by both functions that tell it. */
static unsigned count_rules(void)
{
	struct gkf_rule_spec spec;
	uint64_t calls, failed;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		n += gkf_rule_read(fx.m, i, &spec, &calls, &failed);
	assert_int_equal(atomic_load(&fx.file->rules.count), n);
	return n;
}

static void a_rule_meets_calls_of_its_function_and_gpus(void **state)
{
	static const struct {
		uint64_t gpus;
		int of_none, of_0, of_1;
	} cases[] = {
	    {ALL, 5, 5, 5}, {1, 0, 5, 0}, {2, 0, 0, 5},
	    {3, 0, 5, 5},   {4, 0, 0, 0}, {0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		add(rule(30, cases[i].gpus, 5));
		assert_int_equal(call(30, -1), cases[i].of_none);
		assert_int_equal(call(30, 0), cases[i].of_0);
		assert_int_equal(call(30, 1), cases[i].of_1);
		assert_int_equal(holds(30, -1), cases[i].of_none);
		assert_int_equal(holds(30, 0), cases[i].of_0);
		assert_int_equal(holds(30, 1), cases[i].of_1);
		assert_int_equal(call(29, 0), 0);
		assert_int_equal(call(31, 0), 0);
		assert_int_equal(holds(29, 0), 0);
		fx.file->rules.rule[0].gpus = ALL;
		assert_int_equal(gkf_rules_drop(fx.m, 30, ALL), 0);
		assert_int_equal(count_rules(), 0);
	}
}

static void a_rule_is_read_as_it_was_added(void **state)
{
	const struct gkf_rule_spec asked = {.gpus = 2,
					    .function = GKF_FUNCTIONS_MAX - 1,
					    .answer = GKF_RULE_HANGS,
					    .after = 3,
					    .times = 4,
					    .seed = 5,
					    .per_million = 999999};
	struct gkf_rule_spec spec;
	uint64_t calls = 9, failed = 9;

	(void)state;
	assert_int_equal(count_rules(), 0);
	add(asked);
	assert_int_equal(count_rules(), 1);
	assert_true(gkf_rule_read(fx.m, 0, &spec, &calls, &failed));
	assert_int_equal(spec.gpus, 2);
	assert_int_equal(spec.function, GKF_FUNCTIONS_MAX - 1);
	assert_int_equal(spec.answer, -1);
	assert_int_equal(spec.after, 3);
	assert_int_equal(spec.times, 4);
	assert_int_equal(spec.seed, 5);
	assert_int_equal(spec.per_million, 999999);
	assert_int_equal(calls, 0);
	assert_int_equal(failed, 0);
}

static void what_no_rule_can_be_is_refused(void **state)
{
	struct gkf_rule_spec beyond = rule(GKF_FUNCTIONS_MAX, ALL, 5);
	struct gkf_rule_spec too_often = rule(1, ALL, 5);

	(void)state;
	too_often.per_million = MILLION + 1;
	assert_int_equal(gkf_rule_add(fx.m, &beyond), GK_ERR_RANGE);
	assert_int_equal(gkf_rule_add(fx.m, &too_often), GK_ERR_RANGE);
	assert_int_equal(count_rules(), 0);
}

/* The third to the fifth call fail. */
static void calls_work_before_and_after_those_that_fail(void **state)
{
	struct gkf_rule_spec spec = rule(3, ALL, 5);
	uint64_t calls, failed;
	char seen[9] = "";

	(void)state;
	spec.after = 2;
	spec.times = 3;
	add(spec);
	for (int i = 0; i < 8; i++)
		seen[i] = call(3, i % 2) ? 'x' : '.';
	assert_string_equal(seen, "..xxx...");
	assert_true(gkf_rule_read(fx.m, 0, &spec, &calls, &failed));
	assert_int_equal(calls, 8);
	assert_int_equal(failed, 3);
	/* A query is not counted. */
	assert_int_equal(holds(3, 0), 5);
	assert_true(gkf_rule_read(fx.m, 0, &spec, &calls, &failed));
	assert_int_equal(calls, 8);
	assert_int_equal(failed, 3);
}

/* Which of the first 64 calls fail, as bits. */
static uint64_t pattern(unsigned per_million, uint64_t seed)
{
	struct gkf_rule_spec spec = rule(3, ALL, 5);
	uint64_t bits = 0;

	spec.per_million = per_million;
	spec.seed = seed;
	add(spec);
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(call(3, 0) == 5) << i;
	return bits;
}

static void chance_is_the_seeds(void **state)
{
	uint64_t half = pattern(MILLION / 2, 7), quarter = pattern(250000, 7);

	(void)state;
	assert_true(pattern(MILLION, 7) == ALL);
	assert_true(pattern(0, 7) == 0);
	assert_in_range(__builtin_popcountll(half), 20, 44);
	assert_in_range(__builtin_popcountll(quarter), 5, 27);
	assert_true(pattern(MILLION / 2, 7) == half);
	assert_true(pattern(MILLION / 2, 8) != half);
	/*
	 * The calls that fail one time in four are among those that fail one in
	 * two.
	 */
	assert_true((quarter & ~half) == 0);
}

static void as_many_fail_as_is_said(void **state)
{
	struct gkf_rule_spec spec = rule(3, ALL, 5);
	unsigned failed = 0;

	(void)state;
	spec.per_million = 100000;
	add(spec);
	for (unsigned i = 0; i < 10000; i++)
		failed += call(3, 0) == 5;
	assert_in_range(failed, 850, 1150);
}

/* A new rule for the same function and GPUs: counting begins anew. */
static void a_rule_takes_the_place_of_its_like(void **state)
{
	struct gkf_rule_spec spec;
	uint64_t calls, failed;

	(void)state;
	add(rule(3, 1, 5));
	add(rule(3, 2, 6));
	add(rule(4, 1, 7));
	assert_int_equal(call(3, 0), 5);
	assert_int_equal(count_rules(), 3);
	add(rule(3, 1, 8));
	assert_int_equal(count_rules(), 3);
	assert_true(gkf_rule_read(fx.m, 0, &spec, &calls, &failed));
	assert_int_equal(calls, 0);
	assert_int_equal(failed, 0);
	assert_int_equal(call(3, 0), 8);
	assert_int_equal(call(3, 1), 6);
	assert_int_equal(call(4, 0), 7);
}

/* The first rule answers; every rule that applies counts the call. */
static void of_several_rules_the_first_answers(void **state)
{
	struct gkf_rule_spec spec = rule(3, 1, 5), other;
	uint64_t calls, failed;

	(void)state;
	spec.after = 1;
	add(spec);
	add(rule(3, ALL, 6));
	add(rule(3, 3, 7));
	assert_int_equal(call(3, 0), 6);
	assert_int_equal(call(3, 0), 5);
	assert_int_equal(holds(3, 0), 5);
	assert_int_equal(holds(3, 1), 6);
	assert_int_equal(holds(3, -1), 6);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(gkf_rule_read(fx.m, i, &other, &calls, &failed));
		assert_int_equal(calls, 2);
		assert_int_equal(failed, i ? 2 : 1);
	}
}

static void rules_are_dropped_by_function_and_gpu(void **state)
{
	(void)state;
	add(rule(3, 3, 5));
	add(rule(4, 3, 6));
	add(rule(0, 2, 7));
	/* GPU 0 no longer has the rule, GPU 1 still does. */
	assert_int_equal(gkf_rules_drop(fx.m, 3, 1), 0);
	assert_int_equal(count_rules(), 3);
	assert_int_equal(call(3, 0), 0);
	assert_int_equal(call(3, 1), 5);
	assert_int_equal(call(4, 0), 6);
	assert_int_equal(gkf_rules_drop(fx.m, 3, 1), 0);
	assert_int_equal(count_rules(), 3);
	assert_int_equal(gkf_rules_drop(fx.m, 0, 1), 0);
	assert_int_equal(call(0, 1), 7);
	assert_int_equal(gkf_rules_drop(fx.m, 0, ALL), 0);
	assert_int_equal(call(0, 1), 0);
	assert_int_equal(count_rules(), 2);
	assert_int_equal(gkf_rules_drop(fx.m, -1, 2), 0);
	assert_int_equal(count_rules(), 1);
	assert_int_equal(call(4, 0), 6);
	assert_int_equal(call(4, 1), 0);
	assert_int_equal(gkf_rules_drop(fx.m, -1, 1), 0);
	assert_int_equal(count_rules(), 0);
}

static void a_machine_has_room_for_64_rules(void **state)
{
	struct gkf_rule_spec more = rule(GKF_RULES_MAX, ALL, 5);

	(void)state;
	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		add(rule(i, ALL, 5));
	assert_int_equal(gkf_rule_add(fx.m, &more), GK_ERR_TOO_MANY);
	assert_int_equal(count_rules(), 64);
	assert_int_equal(call(63, 0), 5);
	assert_int_equal(holds(63, 0), 5);
	/* A rule like it still finds its place, and another one a gap. */
	add(rule(63, ALL, 6));
	assert_int_equal(call(63, 0), 6);
	assert_int_equal(gkf_rules_drop(fx.m, 63, ALL), 0);
	add(more);
	assert_int_equal(call(GKF_RULES_MAX, 0), 5);
	assert_int_equal(count_rules(), 64);
}

/* A rule overwritten with a function that does not exist is none. */
static void a_vandals_rule_is_none(void **state)
{
	(void)state;
	add(rule(3, ALL, 5));
	add(rule(4, ALL, 6));
	fx.file->rules.rule[0].function = GKF_FUNCTIONS_MAX;
	assert_int_equal(call(3, 0), 0);
	assert_int_equal(call(GKF_FUNCTIONS_MAX, 0), 0);
	add(rule(5, ALL, 7));
	assert_int_equal(fx.file->rules.rule[0].function, 5);
	assert_int_equal(call(5, 0), 7);
	assert_int_equal(call(4, 0), 6);
	assert_int_equal(count_rules(), 2);
}

/* Sleepers wake. */
static void rules_wake_who_sleeps(void **state)
{
	struct gkf_rule_spec spec = rule(3, ALL, 5);
	uint32_t word = atomic_load(&fx.file->events.wake);

	(void)state;
	add(spec);
	assert_int_equal(atomic_load(&fx.file->events.wake), word + 1);
	gkf_rules_drop(fx.m, 3, ALL);
	assert_int_equal(atomic_load(&fx.file->events.wake), word + 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    T(a_rule_meets_calls_of_its_function_and_gpus),
	    T(a_rule_is_read_as_it_was_added),
	    T(what_no_rule_can_be_is_refused),
	    T(calls_work_before_and_after_those_that_fail),
	    T(chance_is_the_seeds),
	    T(as_many_fail_as_is_said),
	    T(a_rule_takes_the_place_of_its_like),
	    T(of_several_rules_the_first_answers),
	    T(rules_are_dropped_by_function_and_gpu),
	    T(a_machine_has_room_for_64_rules),
	    T(a_vandals_rule_is_none),
	    T(rules_wake_who_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
