/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle_test.c - checks shares of a GPU's time in simulated time: what the
 * real throttle lets simulated processes do on simulated GPUs.
 */
#include "sim.h"
#include "unit.h"

#include <pthread.h>

#define MS 1000000ULL
#define S  (1000 * MS)

/* A program that launches as fast as it may. */
struct load {
	uint64_t least_ns, most_ns;
	unsigned streams, meeting, functions;
};

static void keep_busy(const void *arg)
{
	const struct load *l = arg;

	for (uint64_t n = 0;; n++) {
		uint64_t more = l->most_ns - l->least_ns;
		struct sim_kernel kernel = {
		    .stream = (unsigned)(n % (l->streams ? l->streams : 1)),
		    .function = 0x1000 + n % (l->functions ? l->functions : 1),
		    .ns = l->least_ns + (more ? sim_random(more) : 0),
		    .meeting = l->meeting,
		};

		sim_launch(&kernel);
		if (n % 256 == 255)
			sim_wait(kernel.stream);
	}
}

/*
 * The largest difference between the share of a second and the granted
 * percentage, from that moment on; in points.
 */
static double find_distance(unsigned gpu, uint64_t at, unsigned percent,
			    unsigned seconds)
{
	uint64_t before;
	double most = 0;

	sim_run(at);
	for (unsigned i = 0; i < seconds; i++) {
		double off;

		before = sim_busy(gpu);
		sim_run(at += S);
		off = (double)(sim_busy(gpu) - before) * 100 / (double)S -
		      percent;
		if (__builtin_fabs(off) > __builtin_fabs(most))
			most = off;
	}
	return most;
}

static const unsigned percents[] = {10, 30, 50, 80};

static void check_load(const struct load *load, unsigned processes,
		       const char *what)
{
	double off[4];

	for (unsigned i = 0; i < 4; i++) {
		sim_begin(processes * 100 + i);
		sim_limit(0, percents[i]);
		for (unsigned p = 0; p < processes; p++)
			sim_process(0, keep_busy, load);
		off[i] = find_distance(0, 2 * S, percents[i], 3);
		sim_end();
	}
	for (unsigned i = 0; i < 4; i++) {
		print_message("%s, %u us: %u %% %+.2f\n", what,
			      (unsigned)(load->most_ns / 1000), percents[i],
			      off[i]);
		assert_near(off[i], 0, 3);
	}
}

static void one_process_has_its_share_of_each_second(void **state)
{
	static const struct load loads[] = {
	    {.least_ns = 20000, .most_ns = 20000},
	    {.least_ns = 200000, .most_ns = 200000},
	    {.least_ns = MS, .most_ns = MS},
	    {.least_ns = 20 * MS, .most_ns = 20 * MS},
	};

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		check_load(&loads[i], 1, "one process");
}

static void three_processes_have_one_share(void **state)
{
	static const struct load loads[] = {
	    {.least_ns = 200000, .most_ns = 200000},
	    {.least_ns = MS, .most_ns = 3 * MS},
	    {.least_ns = 20 * MS, .most_ns = 20 * MS},
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		check_load(&loads[i], 3, "three processes");
}

static void streams_share_what_their_process_has(void **state)
{
	static const struct load load = {
	    .least_ns = MS, .most_ns = 2 * MS, .streams = 4};

	(void)state;
	check_load(&load, 1, "four streams");
}

static void the_length_of_a_kernel_may_change(void **state)
{
	static const struct load load = {.least_ns = 10000, .most_ns = 8 * MS};

	(void)state;
	check_load(&load, 1, "lengths of chance");
}

/*
 * One function: *many short launches, then as many long ones; 0: one in eight
 * is long, at random.
 */
static void launch_short_and_long(const void *arg)
{
	const unsigned *many = arg;

	for (uint64_t n = 0;; n++) {
		bool is_long = *many ? n / *many % 2 : sim_random(8) == 0;

		sim_launch(&(struct sim_kernel){.function = 0x1000,
						.ns = is_long ? MS : 10000});
		if (n % 256 == 255)
			sim_wait(0);
	}
}

static void work_that_swings_keeps_its_share(void **state)
{
	static const unsigned many[] = {64, 1000, 0};

	(void)state;
	for (unsigned m = 0; m < 3; m++)
		for (unsigned i = 0; i < 4; i++) {
			double off;

			sim_begin(50 + i);
			sim_limit(0, percents[i]);
			sim_process(0, launch_short_and_long, &many[m]);
			off = find_distance(0, 4 * S, percents[i], 3);
			sim_end();
			print_message("swings each %u: %u %% %+.2f\n", many[m],
				      percents[i], off);
			assert_near(off, 0, 3);
		}
}

static void a_killed_process_holds_up_nobody(void **state)
{
	static const struct load load = {.least_ns = 20 * MS,
					 .most_ns = 20 * MS};
	uint64_t ended;
	bool goes_on;
	double off;

	(void)state;
	sim_begin(7);
	sim_limit(0, 50);
	for (unsigned p = 0; p < 3; p++)
		sim_process(0, keep_busy, &load);
	sim_run(2 * S);
	sim_kill(0);
	sim_kill(1);
	ended = sim_ended(2);
	sim_run(2 * S + 150 * MS);
	goes_on = sim_ended(2) > ended;
	off = find_distance(0, 2 * S + 500 * MS, 50, 2);
	sim_end();
	assert_true(goes_on);
	assert_near(off, 0, 3);
}

static void a_changed_limit_counts_at_once(void **state)
{
	static const struct load load = {.least_ns = MS, .most_ns = MS};
	double more, less;

	(void)state;
	sim_begin(8);
	sim_limit(0, 10);
	sim_process(0, keep_busy, &load);
	sim_run(2 * S);
	sim_limit(0, 80);
	more = sim_share(2 * S + 100 * MS, 3 * S);
	sim_limit(0, 10);
	less = sim_share(3 * S + 100 * MS, 4 * S);
	sim_end();
	assert_near(more, 80, 3);
	assert_near(less, 10, 3);
}

/* A kernel of 20 us each ms, which is 2 %, under a limit of 10 %. */
static uint64_t longest_ns;

static void launch_now_and_then(const void *arg)
{
	struct sim_kernel kernel = {.function = 0x3000, .ns = 20000};

	(void)arg;
	for (;;) {
		uint64_t begin = sim_now();

		sim_launch(&kernel);
		if (begin > S + 100 * MS && sim_now() - begin > longest_ns)
			longest_ns = sim_now() - begin;
		sim_wait(0);
		sim_rest(MS);
	}
}

static void a_short_kernel_within_its_share_does_not_wait(void **state)
{
	(void)state;
	longest_ns = 0;
	sim_begin(9);
	sim_limit(0, 10);
	sim_process(0, launch_now_and_then, NULL);
	sim_run(3 * S);
	sim_end();
	assert_in_range(longest_ns, 1, 10000);
}

/* Short kernels with copies or host functions between them. */
static void launch_and_pause(const void *arg)
{
	const struct sim_kernel kernel = {.function = 0x1000, .ns = 10000};

	(void)arg;
	for (uint64_t n = 1;; n++) {
		sim_launch(&kernel);
		sim_pause(0, MS);
		if (n % 64 == 0)
			sim_wait(0);
	}
}

static void what_is_between_kernels_is_no_work(void **state)
{
	uint64_t ended;

	(void)state;
	sim_begin(30);
	sim_limit(0, 10);
	sim_process(0, launch_and_pause, NULL);
	sim_run(4 * S);
	ended = sim_ended(0);
	sim_end();
	print_message("%u kernels in four seconds\n", (unsigned)ended);
	assert_in_range(ended, 2800, 3000); /* 2970 without a limit */
}

static void *launch_one(void *kernel)
{
	sim_launch(kernel);
	return kernel;
}

/* Each kernel is launched by a thread that then ends. */
static void launch_by_threads(const void *arg)
{
	struct sim_kernel kernel = {.function = 0x1000,
				    .ns = *(const uint64_t *)arg};
	pthread_t thread;
	void *done = &kernel;

	for (uint64_t n = 1; done; n++) {
		assert_int_equal(
		    pthread_create(&thread, NULL, launch_one, &kernel), 0);
		pthread_join(thread, &done);
		if (done && n % 256 == 0)
			sim_wait(0);
	}
	pthread_exit(NULL); /* the test is over */
}

static void threads_that_end_take_nothing_along(void **state)
{
	static const uint64_t ns[] = {20000, 100000};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		double off;

		sim_begin(20 + i);
		sim_limit(0, 30);
		sim_process(0, launch_by_threads, &ns[i]);
		off = find_distance(0, 2 * S, 30, 2);
		sim_end();
		print_message("threads, %u us: %+.2f\n",
			      (unsigned)(ns[i] / 1000), off);
		assert_near(off, 0, 3);
	}
}

/*
 * Ranks whose kernels wait for each other, and how many rounds they do in four
 * seconds: without a limit 400 on one GPU, where they take turns, 800 on two.
 */
static void check_ranks(unsigned other_gpu, double least, double most,
			uint64_t rounds)
{
	static const struct load load = {
	    .least_ns = 5 * MS, .most_ns = 5 * MS, .meeting = 2};
	uint64_t ended[2];
	double share[4];

	sim_begin(10 + other_gpu);
	sim_limit(0, 40);
	sim_limit(1, 40);
	sim_process(0, keep_busy, &load);
	sim_process(other_gpu, keep_busy, &load);
	sim_run(6 * S);
	ended[0] = sim_ended(0);
	ended[1] = sim_ended(1);
	for (unsigned i = 0; i < 4; i++)
		share[i] = sim_share((6 + i) * S, (7 + i) * S);
	ended[0] = sim_ended(0) - ended[0];
	ended[1] = sim_ended(1) - ended[1];
	sim_end();
	print_message("ended %u, %u; %.1f %.1f %.1f %.1f %%\n",
		      (unsigned)ended[0], (unsigned)ended[1], share[0],
		      share[1], share[2], share[3]);
	for (unsigned i = 0; i < 4; i++)
		assert_near(share[i], (least + most) / 2, (most - least) / 2);
	assert_in_range(ended[0], rounds, 400);
	assert_in_range(ended[1], rounds, 400);
}

static void ranks_on_one_gpu_get_on(void **state)
{
	(void)state;
	check_ranks(0, 36, 44, 25);
}

static void ranks_on_two_gpus_get_on(void **state)
{
	(void)state;
	check_ranks(1, 37, 43, 300);
}

/*
 * Ranks with a GPU each, whose kernels wait for those of all others. Each
 * launches some kernels ahead, then waits for their results. They begin one
 * after the other, and none is always on time.
 */
struct steps {
	unsigned ranks, ahead, percent;
	uint64_t kernel_ns, lateness_ns;
};

struct rank {
	const struct steps *steps;
	uint64_t late_ns;
};

static void work_in_step(const void *arg)
{
	const struct rank *r = arg;
	const struct steps *steps = r->steps;
	struct sim_kernel alone = {.function = 0x1000, .ns = r->late_ns};

	if (r->late_ns) {
		sim_launch(&alone);
		sim_wait(0);
	}
	for (unsigned n = 1;; n++) {
		const struct sim_kernel kernel = {
		    .function = 0x2000,
		    .ns = steps->kernel_ns + sim_random(steps->kernel_ns / 8),
		    .meeting = steps->ranks,
		};

		sim_launch(&kernel);
		if (n % steps->ahead)
			continue;
		sim_wait(0);
		sim_rest(1000 + sim_random(1000 + steps->lateness_ns));
	}
}

/*
 * Checks how busy all GPUs are in two seconds, and how far the ranks get, as a
 * part of what they would do without a limit. Before that, the throttle learns
 * that they wait for each other.
 */
static void check_steps(const struct steps *steps)
{
	struct rank rank[SIM_GPUS];
	uint64_t from = (steps->percent < 20 ? 10 : 3) * S;
	uint64_t ended, busy[SIM_GPUS];
	double got_on, worked[SIM_GPUS];

	sim_begin(40 + steps->kernel_ns / 1000 + steps->percent);
	for (unsigned g = 0; g < steps->ranks; g++) {
		rank[g] = (struct rank){steps, g * 50 * MS};
		sim_limit(g, steps->percent);
		sim_process(g, work_in_step, &rank[g]);
	}
	sim_run(from);
	ended = sim_ended(0);
	for (unsigned g = 0; g < steps->ranks; g++)
		busy[g] = sim_busy(g);
	sim_run(from + 2 * S);
	got_on = (double)((sim_ended(0) - ended) * steps->kernel_ns) * 17 / 16;
	for (unsigned g = 0; g < steps->ranks; g++)
		worked[g] = (double)(sim_busy(g) - busy[g]) * 100 / (2 * S);
	sim_end();
	got_on = got_on * 100 / (2 * S);
	print_message("%u ranks, %u us, %u ahead: %u %% got on %.1f, worked",
		      steps->ranks, (unsigned)(steps->kernel_ns / 1000),
		      steps->ahead, steps->percent, got_on);
	for (unsigned g = 0; g < steps->ranks; g++)
		print_message(" %.1f", worked[g]);
	print_message("\n");
	/* Kernels that wait for a late one are not faster without a limit. */
	assert_true(got_on >
		    steps->percent * (steps->lateness_ns > MS ? 0.8 : 0.875));
	assert_true(got_on < steps->percent + 2);
	for (unsigned g = 0; g < steps->ranks; g++)
		assert_near(worked[g], steps->percent, 3);
}

static void check_all_steps(const struct steps *steps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_steps(&steps[i]);
}

static void ranks_that_wait_for_results_stay_in_step(void **state)
{
	static const struct steps steps[] = {
	    {2, 1, 40, 200000, 50000},
	    {2, 1, 10, 3 * MS, 50000},
	    {2, 1, 40, 3 * MS, 50000},
	    {2, 1, 80, 20 * MS, 50000},
	};

	(void)state;
	check_all_steps(steps, 4);
}

static void three_and_four_ranks_stay_in_step(void **state)
{
	static const struct steps steps[] = {
	    {3, 1, 40, 500000, 50000},  {3, 1, 40, 3 * MS, 50000},
	    {4, 1, 40, MS, 50000},      {4, 1, 40, 5 * MS, 50000},
	    {4, 1, 80, 20 * MS, 50000},
	};

	(void)state;
	check_all_steps(steps, 5);
}

static void ranks_may_launch_ahead(void **state)
{
	static const struct steps steps[] = {
	    {2, 8, 40, 500000, 50000},
	    {3, 8, 40, MS, 50000},
	    {4, 8, 40, 3 * MS, 50000},
	};

	(void)state;
	check_all_steps(steps, 3);
}

static void a_rank_may_come_late(void **state)
{
	static const struct steps steps[] = {
	    {2, 1, 40, 3 * MS, 2 * MS},
	    {2, 1, 80, 20 * MS, 2 * MS},
	    {3, 1, 40, 5 * MS, 2 * MS},
	};

	(void)state;
	check_all_steps(steps, 3);
}

/* Programs that are independent of each other, with a GPU each. */
static void check_strangers(const struct load *one, const struct load *two)
{
	double off[2];
	uint64_t busy[2];

	sim_begin(70);
	sim_limit(0, 70);
	sim_limit(1, 15);
	sim_process(0, keep_busy, one);
	sim_process(1, keep_busy, two);
	sim_run(2 * S);
	for (unsigned g = 0; g < 2; g++)
		busy[g] = sim_busy(g);
	sim_run(8 * S);
	for (unsigned g = 0; g < 2; g++)
		off[g] = (double)(sim_busy(g) - busy[g]) * 100 / (6 * S) -
			 (g ? 15 : 70);
	sim_end();
	print_message("strangers, %u and %u us: %+.2f %+.2f\n",
		      (unsigned)(one->most_ns / 1000),
		      (unsigned)(two->most_ns / 1000), off[0], off[1]);
	assert_near(off[0], 0, 3);
	assert_near(off[1], 0, 3);
}

static void strangers_do_not_wait_for_each_other(void **state)
{
	static const struct load load[] = {
	    {.least_ns = MS, .most_ns = MS},
	    {.least_ns = 100000, .most_ns = 2 * MS},
	    {.least_ns = MS, .most_ns = 20 * MS},
	};

	(void)state;
	check_strangers(&load[0], &load[0]);
	check_strangers(&load[0], &load[2]);
	check_strangers(&load[2], &load[1]);
	check_strangers(&load[2], &load[2]);
}

int main(void)
{

	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_process_has_its_share_of_each_second),
	    cmocka_unit_test(three_processes_have_one_share),
	    cmocka_unit_test(streams_share_what_their_process_has),
	    cmocka_unit_test(the_length_of_a_kernel_may_change),
	    cmocka_unit_test(work_that_swings_keeps_its_share),
	    cmocka_unit_test(a_killed_process_holds_up_nobody),
	    cmocka_unit_test(a_changed_limit_counts_at_once),
	    cmocka_unit_test(a_short_kernel_within_its_share_does_not_wait),
	    cmocka_unit_test(what_is_between_kernels_is_no_work),
	    cmocka_unit_test(threads_that_end_take_nothing_along),
	    cmocka_unit_test(ranks_on_one_gpu_get_on),
	    cmocka_unit_test(ranks_on_two_gpus_get_on),
	    cmocka_unit_test(ranks_that_wait_for_results_stay_in_step),
	    cmocka_unit_test(three_and_four_ranks_stay_in_step),
	    cmocka_unit_test(ranks_may_launch_ahead),
	    cmocka_unit_test(a_rank_may_come_late),
	    cmocka_unit_test(strangers_do_not_wait_for_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
