/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits_test.c - checks the shares of programs that wait for each of their
 * kernels, in simulated time.
 */
#include "sim.h"
#include "unit.h"

#define MS 1000000ULL
#define S  (1000 * MS)

static const unsigned percents[] = {10, 30, 50, 80};

/* A program that waits for each of its kernels. */
static void launch_and_wait(const void *arg)
{
	struct sim_kernel kernel = {.function = 0x1000,
				    .ns = *(const uint64_t *)arg};

	for (;;) {
		sim_launch(&kernel);
		sim_wait(0);
	}
}

static void long_kernels_that_are_waited_for_have_their_share(void **state)
{
	static const uint64_t ns = 100 * MS;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		double share;

		sim_begin(80 + i);
		sim_limit(0, percents[i]);
		sim_process(0, launch_and_wait, &ns);
		share = sim_share(2 * S, 12 * S);
		sim_end();
		print_message("waits for 100 ms: %u %% %+.2f\n", percents[i],
			      share - percents[i]);
		assert_near(share, percents[i], 3);
	}
}

static void an_elastic_share_is_kept_while_others_want(void **state)
{
	static const uint64_t ns[] = {MS, 100 * MS};
	double alone, beside;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		sim_begin(90 + i);
		sim_limit(0, 30);
		sim_elastic(false);
		sim_process(0, launch_and_wait, &ns[i]);
		alone = sim_share(2 * S, 4 * S);
		sim_elastic(true);
		beside = sim_share(5 * S, 9 * S);
		sim_end();
		print_message("elastic: alone %.1f, beside others %.1f\n",
			      alone, beside);
		assert_true(alone > 95);
		assert_near(beside, 30, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_kernels_that_are_waited_for_have_their_share),
	    cmocka_unit_test(an_elastic_share_is_kept_while_others_want),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
