/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_test.c - checks real work of one process, seen through NVML in another:
 * memory to the byte, utilization, traffic; and nothing is left when it is
 * killed.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/numbers.h"
#include "machine/file/work_state.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/turn.h"

#define HELD (3 * GIB + 12345)

/* What a worker does until it is killed. */
enum task { REST, SPIN, COPY };

static void do_work(struct fixture *fx, unsigned slot, enum task task)
{
	for (;;)
		switch (task) {
		case REST:
			pause();
			break;
		case SPIN:
			if (gkf_turn_take(fx->m, slot, NULL))
				_exit(1);
			gkf_busy_begin(fx->m, slot);
			do
				usleep(200);
			while (!gkf_turn_due(fx->m, slot));
			gkf_busy_end(fx->m, slot);
			gkf_turn_give(fx->m, slot);
			break;
		case COPY: /* 1 GB/s in, half of it out */
			gkf_busy_moved(fx->m, slot, GKF_IN, 10000000);
			gkf_busy_moved(fx->m, slot, GKF_OUT, 5000000);
			usleep(10000);
			break;
		}
}

/* A process with a context and HELD bytes on GPU 0. */
static struct resident worker(struct fixture *fx, enum task task)
{
	pid_t parent = getpid();
	struct resident r;
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	r.pid = fork();
	if (!r.pid) {
		uint64_t context = gkf_books_context(fx->m, 0, 0);
		unsigned slot;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent ||
		    gkf_books_attach(fx->m, 0, GKF_NO_INSTANCE, &slot) ||
		    gkf_books_charge(fx->m, slot, context) ||
		    gkf_books_charge(fx->m, slot, HELD) ||
		    write(ready[1], "y", 1) != 1)
			_exit(1);
		do_work(fx, slot, task);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return r;
}

static nvmlMemory_v2_t memory(void)
{
	nvmlMemory_v2_t m = {.version = nvmlMemory_v2};

	assert_nvml(NV(nvmlDeviceGetMemoryInfo_v2)(device_at(0), &m), SUCCESS);
	assert_int_equal(m.total, m.reserved + m.used + m.free);
	return m;
}

static unsigned processes(nvmlProcessInfo_t list[8])
{
	unsigned n = 8;

	assert_nvml(
	    NV(nvmlDeviceGetComputeRunningProcesses_v3)(device_at(0), &n, list),
	    SUCCESS);
	return n;
}

static unsigned power(void)
{
	unsigned mw;

	assert_nvml(NV(nvmlDeviceGetPowerUsage)(device_at(0), &mw), SUCCESS);
	return mw;
}

static unsigned samples(nvmlProcessUtilizationSample_t list[8])
{
	unsigned n = 8;

	return NV(nvmlDeviceGetProcessUtilization)(device_at(0), list, &n, 0)
		   ? 0
		   : n;
}

/* Work disappears from the counters when its bins have passed. */
static void await_idle(void)
{
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;
	nvmlProcessUtilizationSample_t list[8];

	while (gpu_utilization() || samples(list)) {
		assert_true(gk_mono_ns() < end);
		usleep(10000);
	}
}

static void memory_is_seen_to_the_byte(void **state)
{
	uint64_t context =
	    gkf_books_context(((struct fixture *)*state)->m, 0, 0);
	nvmlMemory_v2_t empty = memory(), m;
	struct resident r = worker(*state, REST);
	nvmlProcessInfo_t list[8];

	m = memory();
	assert_int_equal(m.used, empty.used + context + HELD);
	assert_int_equal(processes(list), 1);
	assert_int_equal(list[0].pid, r.pid);
	assert_int_equal(list[0].usedGpuMemory, context + HELD);
	assert_int_equal(gpu_utilization(), 0);
	fixture_end(&r);
	/* A reader finds out, at the latest at the next look for the dead. */
	for (int i = 0; memory().used != empty.used; i++) {
		assert_in_range(i, 0, 5000);
		usleep(1000);
	}
	assert_int_equal(processes(list), 0);
}

static bool is_within(unsigned value, unsigned least, unsigned most)
{
	return value >= least && value <= most;
}

/* Whether the device is busy with processes that have equal shares. */
static bool is_shared_by(unsigned count)
{
	nvmlProcessUtilizationSample_t list[8];
	unsigned share = 100 / count, sum = 0, busy = gpu_utilization();
	unsigned n = samples(list);

	for (unsigned i = 0; i < n; i++) {
		if (!is_within(list[i].smUtil, share - 15, share + 15))
			return false;
		sum += list[i].smUtil;
	}
	return n == count && busy >= 90 && is_within(sum, 85, 100);
}

/* A busy host lets one run more than the other for a while. */
static void await_share(unsigned count)
{
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;

	while (!is_shared_by(count)) {
		assert_true(gk_mono_ns() < end);
		usleep(50000);
	}
}

static void two_that_spin_share_the_device(void **state)
{
	nvmlProcessUtilizationSample_t list[8];
	unsigned idle = power();
	struct resident a, b;

	a = worker(*state, SPIN);
	await_share(1);
	assert_int_equal(samples(list), 1);
	assert_int_equal(list[0].pid, a.pid);
	assert_true(power() > idle * 2);
	b = worker(*state, SPIN);
	await_share(2);
	/* The other has all of it when one is killed. */
	fixture_end(&a);
	await_share(1);
	assert_int_equal(samples(list), 1);
	assert_int_equal(list[0].pid, b.pid);
	fixture_end(&b);
	await_idle();
}

/* It is as fast as it says, or slower when the host delays it. */
static void copies_are_seen_on_the_link(void **state)
{
	struct resident r = worker(*state, COPY);
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;
	unsigned rx, tx;

	do {
		assert_true(gk_mono_ns() < end);
		usleep(10000);
		rx = traffic(NVML_PCIE_UTIL_RX_BYTES);
		tx = traffic(NVML_PCIE_UTIL_TX_BYTES);
		assert_in_range(rx, 0, 1200000);
		assert_in_range(tx, 0, 600000);
	} while (rx < 300000 || tx < 150000);
	assert_int_equal(gpu_utilization(), 0);
	fixture_end(&r);
}

/* Many come and are killed at any moment, while another process watches. */
static void a_storm_is_watched(void **state)
{
	enum { VICTIMS = 150, AT_ONCE = 6 };
	struct resident r[AT_ONCE] = {{0}};
	nvmlMemory_v2_t empty = memory();
	nvmlProcessInfo_t list[8];
	unsigned seed = 11;

	for (int i = 0; i < VICTIMS + AT_ONCE; i++) {
		struct resident *at = &r[i % AT_ONCE];

		if (at->pid)
			fixture_end(at);
		at->pid = 0;
		if (i < VICTIMS)
			*at = worker(*state, i % 2 ? SPIN : COPY);
		usleep((unsigned)rand_r(&seed) % 10000);
		/* The dead count until the next look for them. */
		assert_true(memory().used >= empty.used);
		assert_in_range(gpu_utilization(), 0, 100);
	}
	gkf_reap(((struct fixture *)*state)->m, true);
	assert_int_equal(memory().used, empty.used);
	assert_int_equal(processes(list), 0);
	await_idle();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(memory_is_seen_to_the_byte),
	    FRONT_TEST(two_that_spin_share_the_device),
	    FRONT_TEST(copies_are_seen_on_the_link),
	    FRONT_TEST(a_storm_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
