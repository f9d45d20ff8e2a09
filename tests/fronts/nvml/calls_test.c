/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_test.c - makes random calls of every entry point of NVML: random
 * handles, versions, counts, texts and NULLs, from two threads at once, on GPUs
 * that are lost, split, reset and repaired meanwhile. Every buffer is as long
 * as its caller says and touches a page without access; what a refusal must not
 * write is compared afterwards.
 *
 * GPUKIT_CALLS is the number of calls (default 10^7 in all; a tenth with a
 * sanitizer), GPUKIT_SEED the first seed.
 */
/* The driver that has every function. */
#define FRONT_DRIVER "610.57.04"
#define FRONT        FAKE_DIR "/610/libnvidia-ml.so.1"
#include "base/clock.h"
#include "base/mix.h"
#include "fronts/nvml/calls.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/trouble/fault.h"
#include "machine/words/profile_yaml.h"

#include <pthread.h>
#include <sys/mman.h>

#define THREADS 2
#define CALLS   10000000ULL
#define CHAOS_EVERY                                                            \
	8192 /* calls of a thread between changes to the machine               \
	      */
#define HUNG_S       60
#define WORKED_LEAST 150 /* functions that succeed at least once */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOWER 10
#endif
#endif
#ifndef SLOWER
#define SLOWER 1
#endif

static struct fixture fx;

static struct caller callers[THREADS];

/* Prints the call from a signal handler. */
static void crashed(int number)
{
	for (int i = 0; i < THREADS; i++)
		dprintf(2, "thread %d: seed %llu, call %llu: %s\n", i,
			(unsigned long long)callers[i].seed,
			(unsigned long long)callers[i].done,
			calls_name(callers[i].row));
	signal(number, SIG_DFL);
	raise(number);
}

/* Changes the machine while others make calls. */
static void chaos(struct caller *c)
{
	unsigned device = calls_below(c, gkf_device_count(fx.m));
	enum gkf_value value = calls_below(c, GKF_V_COUNT);
	enum gkf_fault fault = calls_below(c, GKF_FAULT_COUNT);
	int64_t min, max;

	switch (calls_below(c, 4)) {
	case 0:
		if (fault != GKF_FAULT_HANG && fault != GKF_FAULT_TIMEOUT)
			gkf_fault_begin(fx.m, device, fault,
					gkf_faults[fault].usual);
		break;
	case 1:
		if (gkf_value_range(fx.m, device, value, &min, &max))
			gkf_value_set(fx.m, device, value,
				      calls_below(c, 2) ? min : max);
		break;
	case 2:
		gkf_value_set(fx.m, device, value, GKF_UNSET);
		break;
	default:
		for (unsigned i = 0; i < gkf_device_count(fx.m); i++)
			gkf_fault_end(fx.m, i, ~0ULL);
		gkf_machine_age(fx.m, GKF_BIN_NS);
	}
}

static void *call_on(void *arg)
{
	struct caller *c = arg;

	while (c->done < c->wanted) {
		calls_once(c);
		if (c->done % CHAOS_EVERY == 0)
			chaos(c);
	}
	return NULL;
}

/* Ends the test when no call has returned for a minute. */
static void await(pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++) {
		uint64_t before;

		do {
			struct timespec until =
			    gk_timespec(gk_wall_ns() + HUNG_S * GK_NS_PER_S);

			before =
			    __atomic_load_n(&callers[i].done, __ATOMIC_RELAXED);
			if (!pthread_timedjoin_np(threads[i], NULL, &until))
				break;
			if (before ==
			    __atomic_load_n(&callers[i].done, __ATOMIC_RELAXED))
				fail_msg("%s does not return",
					 calls_name(callers[i].row));
		} while (true);
	}
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void no_call_does_harm(void **state)
{
	uint64_t calls = from_environment("GPUKIT_CALLS", CALLS / SLOWER);
	uint64_t seed = from_environment("GPUKIT_SEED", 1);
	uint64_t begin = gk_mono_ns(), passed = 0;
	pthread_t threads[THREADS];

	(void)state;
	for (int s = 0; s < 2; s++)
		signal(s ? SIGSEGV : SIGBUS, crashed);
	front_load();
	calls_prepare(front_library);
	for (int i = 0; i < THREADS; i++) {
		callers[i].wanted = calls / THREADS;
		callers[i].seed = seed;
		callers[i].dice = gkf_mix(seed * THREADS + (unsigned)i);
		calls_buffers(&callers[i]);
		assert_int_equal(
		    pthread_create(&threads[i], NULL, call_on, &callers[i]), 0);
	}
	await(threads);
	for (int i = 0; i < THREADS; i++) {
		if (*callers[i].wrong)
			fail_msg("%s", callers[i].wrong);
		passed += callers[i].succeeded;
	}
	print_message(
	    "%llu calls in %.1f s, %.1f %% of them successful; "
	    "%u functions worked\n",
	    (unsigned long long)calls, (double)(gk_mono_ns() - begin) / 1e9,
	    100.0 * (double)passed / (double)calls, calls_that_worked());
	/* Dice that never hit would prove nothing. */
	assert_true(passed > calls / 10);
	assert_true(calls_that_worked() >= WORKED_LEAST);
}

/* A GPU of every kind: with and without ECC, fans, links, MIG, GPM. */
static int setup(void **state)
{
	static const char *const kinds[] = {"h200",           "a100-sxm4-80gb",
					    "rtx-3090",       "b200",
					    "v100-sxm2-32gb", "t4"};
	struct gkf_profile profiles[sizeof kinds / sizeof *kinds];
	char message[GKF_PROFILE_MESSAGE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (gkf_profile_load(TEST_DATA "/../../profiles", kinds[i],
				     &profiles[i], message, sizeof message))
			fail_msg("%s", message);
	fixture_open_of(&fx, profiles, sizeof kinds / sizeof *kinds);
	gk_str_copy(fx.file->driver_version, sizeof fx.file->driver_version,
		    FRONT_DRIVER);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_call_does_harm),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
