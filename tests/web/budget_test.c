/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_test.c - checks for how long a peer that sends too much is not read.
 */
#include "web/budget.h"

#include "base/clock.h"
#include "unit.h"

#define NOW (1000 * GK_NS_PER_S)

static void a_burst_is_free(void **state)
{
	struct gk_budget b = {0};

	(void)state;
	gk_budget_spend(&b, NOW, GK_BUDGET_BURST);
	assert_int_equal(gk_budget_wait(&b, NOW), 0);
	gk_budget_spend(&b, NOW, 1);
	assert_true(gk_budget_wait(&b, NOW) > 0);
}

static void what_is_beyond_takes_its_time(void **state)
{
	struct gk_budget b = {0};

	(void)state;
	gk_budget_spend(&b, NOW, GK_BUDGET_BURST + 2 * GK_BUDGET_RATE);
	assert_int_equal(gk_budget_wait(&b, NOW), 2 * GK_NS_PER_S);
	assert_int_equal(gk_budget_wait(&b, NOW + GK_NS_PER_S), GK_NS_PER_S);
	assert_int_equal(gk_budget_wait(&b, NOW + 2 * GK_NS_PER_S), 0);
}

/* In the long run nobody can send faster, however it is distributed. */
static void a_day_has_so_many_bytes(void **state)
{
	struct gk_budget b = {0};
	uint64_t now = NOW, sent = 0;

	(void)state;
	while (now < NOW + 86400 * GK_NS_PER_S) {
		uint64_t wait = gk_budget_wait(&b, now);

		now += wait ? wait : GK_NS_PER_MS;
		gk_budget_spend(&b, now, 16384 + GK_BUDGET_EVENT);
		sent += 16384 + GK_BUDGET_EVENT;
	}
	assert_true(sent <= 86401 * GK_BUDGET_RATE + GK_BUDGET_BURST);
	assert_true(sent >= 86000 * GK_BUDGET_RATE);
}

static void a_clock_that_has_just_begun_does_no_harm(void **state)
{
	struct gk_budget b = {0};

	(void)state;
	gk_budget_spend(&b, 5, 1);
	assert_true(gk_budget_wait(&b, 5) < GK_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_burst_is_free),
	    cmocka_unit_test(what_is_beyond_takes_its_time),
	    cmocka_unit_test(a_day_has_so_many_bytes),
	    cmocka_unit_test(a_clock_that_has_just_begun_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
