/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency_test.c - checks how long calls take under the latency model and with
 * latency added to one function: lower bounds, and the order of magnitude
 * without the model.
 */
#include "base/clock.h"
#include "fronts/nvml/front.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"

#include <pthread.h>

enum what { PCIE, LIST, FAN, MEMORY, PLAIN, FAILING };

static void call_once(enum what what)
{
	nvmlDevice_t device = device_at(0);
	nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
	nvmlProcessInfo_t infos[4];
	unsigned n = 4;

	switch (what) {
	case PCIE:
		NV(nvmlDeviceGetPcieThroughput)
		(device, NVML_PCIE_UTIL_TX_BYTES, &n);
		break;
	case LIST:
		NV(nvmlDeviceGetComputeRunningProcesses_v3)(device, &n, infos);
		break;
	case FAN:
		NV(nvmlDeviceGetFanSpeed)(device, &n);
		break;
	case MEMORY:
		NV(nvmlDeviceGetMemoryInfo_v2)(device, &memory);
		break;
	case PLAIN:
		NV(nvmlDeviceGetIndex)(device, &n);
		break;
	case FAILING:
		NV(nvmlDeviceGetPcieThroughput)
		(NULL, NVML_PCIE_UTIL_TX_BYTES, &n);
		break;
	}
}

/*
 * Makes calls, each with the handle that it needs: none is faster than `from`,
 * and the fastest is no slower than `to`, though a loaded host may need many
 * tries.
 */
static void takes(enum what what, uint64_t from, uint64_t to)
{
	uint64_t end = gk_mono_ns() + 20 * GK_NS_PER_S, began, took;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5 || (least > to && gk_mono_ns() < end); i++) {
		began = gk_mono_ns();
		call_once(what);
		took = gk_mono_ns() - began;
		least = took < least ? took : least;
	}
	assert_in_range(least, from, to);
}

static void each_class_takes_its_time(void **state)
{
	struct fixture *fx = *state;

	atomic_store(&fx->file->latency, GKF_LATENCY_REAL);
	takes(PCIE, 20000000, 40000000);
	takes(LIST, 4500000, 15000000);
	takes(FAN, 137000, 1000000);
	takes(MEMORY, 12000, 137000);
	takes(PLAIN, 3000, 100000);
	/* A bad handle is found before the driver is asked. */
	takes(FAILING, 0, 1000000);
}

static void nothing_takes_long_without_it(void **state)
{
	(void)state;
	for (enum what what = PCIE; what <= FAILING; what++)
		takes(what, 0, 1000000);
}

static void added_latency_of_one_function(void **state)
{
	struct fixture *fx = *state;

	atomic_store(&fx->file->extra_ns[ROW_nvmlDeviceGetFanSpeed], 50000000);
	takes(FAN, 50000000, 90000000);
	takes(MEMORY, 0, 1000000);
	atomic_store(&fx->file->extra_ns[ROW_nvmlDeviceGetFanSpeed], 0);
	takes(FAN, 0, 1000000);
}

static void *call_pcie(void *arg)
{
	call_once(PCIE);
	return arg;
}

/* There is one driver: four calls at once take as long as four in a row. */
static void calls_wait_for_each_other(void **state)
{
	struct fixture *fx = *state;
	pthread_t thread[4];
	uint64_t began;

	atomic_store(&fx->file->latency, GKF_LATENCY_REAL);
	began = gk_mono_ns();
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, call_pcie, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_in_range(gk_mono_ns() - began, 80000000, 20 * GK_NS_PER_S);
}

/* A process that is killed or stopped within a call delays nobody. */
static void a_dead_or_stopped_caller(void **state)
{
	struct fixture *fx = *state;
	uint64_t began;
	pid_t pid;

	atomic_store(&fx->file->latency, GKF_LATENCY_REAL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			call_once(PCIE);
	}
	usleep(50000);
	for (int i = 0; i < 2; i++) {
		kill(pid, i ? SIGKILL : SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
		began = gk_mono_ns();
		call_once(MEMORY);
		call_once(MEMORY);
		assert_in_range(gk_mono_ns() - began, 24000, 10 * GK_NS_PER_S);
	}
}

/* Until when calls are booked after another one is made. */
static uint64_t booked_after(struct fixture *fx, uint64_t busy)
{
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S, now;
	pid_t pid;

	atomic_store(&fx->file->driver_busy_ns, busy);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		call_once(MEMORY);
		_exit(0);
	}
	do {
		now = atomic_load(&fx->file->driver_busy_ns);
		usleep(1000);
	} while (now == busy && gk_mono_ns() < end);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* Otherwise a failing test would wait until then to end. */
	atomic_store(&fx->file->driver_busy_ns, 0);
	return now;
}

/* Ten minutes are accepted; a larger value was overwritten. */
static void nobody_books_for_ever(void **state)
{
	struct fixture *fx = *state;
	uint64_t soon, late;

	atomic_store(&fx->file->latency, GKF_LATENCY_REAL);
	soon = gk_mono_ns() + 560 * GK_NS_PER_S;
	assert_in_range(booked_after(fx, soon), soon + 1, soon + GK_NS_PER_S);
	late = gk_mono_ns() + 700 * GK_NS_PER_S;
	assert_in_range(booked_after(fx, late), gk_mono_ns() - 60 * GK_NS_PER_S,
			gk_mono_ns() + 60 * GK_NS_PER_S);
	assert_in_range(booked_after(fx, UINT64_MAX), 1,
			gk_mono_ns() + 60 * GK_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(each_class_takes_its_time),
	    FRONT_TEST(nothing_takes_long_without_it),
	    FRONT_TEST(added_latency_of_one_function),
	    FRONT_TEST(calls_wait_for_each_other),
	    FRONT_TEST(a_dead_or_stopped_caller),
	    FRONT_TEST(nobody_books_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
