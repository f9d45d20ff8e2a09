/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_test.c - checks CUDA programs as others see them: what they hold, how
 * busy they are, what they copy, through NVML in another process; and when they
 * are killed.
 */
#include "base/clock.h"
#include "fronts/cuda/cuda_test.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

/* What a program does until it is killed. */
enum task { REST, LONG, SHORT, COPY };

#define HELD (GIB + 12345)

static const char spin[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func gpukit_spin_us(.param .b32 us);\n"
    ".visible .entry gpukit_spin(.param .u32 us)\n"
    "{ .reg .b32 %r<2>; ld.param.u32 %r1, [us];\n"
    "{ .param .b32 p; st.param.b32 [p], %r1; call gpukit_spin_us, (p); }\n"
    "ret; }\n";

#define NEED(call)                                                             \
	do {                                                                   \
		if ((call) != CUDA_SUCCESS)                                    \
			_exit(__LINE__ & 0x7f);                                \
	} while (0)

static void spin_on(unsigned us)
{
	void *params[] = {&us};
	CUfunction function;
	CUmodule module;

	NEED(CU(cuModuleLoadData)(&module, spin));
	NEED(CU(cuModuleGetFunction)(&function, module, "gpukit_spin"));
	for (;;) {
		for (int i = 0; i < 16; i++)
			NEED(CU(cuLaunchKernel)(function, 1, 1, 1, 32, 1, 1, 0,
						NULL, params, NULL));
		NEED(CU(cuCtxSynchronize)());
	}
}

static void copy_on(CUdeviceptr to)
{
	static char from[10000000];

	for (;;) { /* about 1 GB/s */
		NEED(CU(cuMemcpyHtoD_v2)(to, from, sizeof from));
		usleep(10000);
	}
}

static void be_program(enum task task, int ready)
{
	CUdeviceptr memory;
	size_t left, all;
	CUcontext ctx;

	cuda_load(CUDA_FRONT);
	NEED(CU(cuInit)(0));
	NEED(CU(cuCtxCreate_v2)(&ctx, 0, 0));
	NEED(CU(cuMemAlloc_v2)(&memory, HELD));
	NEED(CU(cuMemGetInfo_v2)(&left, &all));
	if (write(ready, &left, sizeof left) != sizeof left)
		_exit(1);
	if (task == COPY)
		copy_on(memory);
	if (task == LONG)
		spin_on(60000000);
	if (task == SHORT)
		spin_on(300);
	for (;;)
		pause();
}

/* *ret_left: the free memory that its cuMemGetInfo reports. */
static struct resident program(enum task task, size_t *ret_left)
{
	pid_t parent = getpid();
	struct resident r;
	size_t left = 0;
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	r.pid = fork();
	if (!r.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		if (getppid() != parent)
			_exit(1);
		be_program(task, ready[1]);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &left, sizeof left), sizeof left);
	close(ready[0]);
	if (ret_left)
		*ret_left = left;
	return r;
}

static nvmlMemory_v2_t memory(void)
{
	nvmlMemory_v2_t m = {.version = nvmlMemory_v2};

	assert_nvml(NV(nvmlDeviceGetMemoryInfo_v2)(device_at(0), &m), SUCCESS);
	assert_int_equal(m.total, m.reserved + m.used + m.free);
	return m;
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

static void memory_is_the_same_for_all_who_ask(void **state)
{
	struct fixture *fx = *state;
	uint64_t context = gkf_books_context(fx->m, 0, 0), block = 2 << 20;
	nvmlMemory_v2_t empty = memory();
	nvmlProcessInfo_t list[2];
	struct gkf_memory core;
	unsigned n = 2;
	size_t left;
	struct resident r = program(REST, &left);

	assert_int_equal(memory().free, left);
	gkf_memory(fx->m, 0, &core);
	assert_int_equal(core.free, left);
	assert_int_equal(empty.free - left,
			 context + (HELD + block - 1) / block * block);
	assert_nvml(
	    NV(nvmlDeviceGetComputeRunningProcesses_v3)(device_at(0), &n, list),
	    SUCCESS);
	assert_int_equal(n, 1);
	assert_int_equal(list[0].pid, r.pid);
	assert_int_equal(list[0].usedGpuMemory, empty.free - left);
	fixture_end(&r);
	for (int i = 0; memory().used != empty.used; i++) {
		assert_in_range(i, 0, 5000);
		usleep(1000);
	}
}

/*
 * Whether a device is busy for at least this much, with one program or with two
 * that share it. A busy host lets one run more than the other for a while.
 */
static bool is_busy(unsigned programs, unsigned least)
{
	nvmlProcessUtilizationSample_t list[8];
	unsigned busy = gpu_utilization(), n = samples(list), sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += list[i].smUtil;
	return n == programs && busy >= least && sum >= least - 5 && sum <= 100;
}

static void await_busy(unsigned programs, unsigned least)
{
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;

	while (!is_busy(programs, least)) {
		assert_true(gk_mono_ns() < end);
		usleep(50000);
	}
}

static void a_long_kernel_is_seen_while_it_runs(void **state)
{
	nvmlProcessUtilizationSample_t list[8];
	struct resident r = program(LONG, NULL);

	(void)state;
	await_busy(1, 95);
	assert_int_equal(samples(list), 1);
	assert_int_equal(list[0].pid, r.pid);
	fixture_end(&r);
	await_idle();
}

/* One with long kernels, one with short ones. */
static void two_programs_share_the_device(void **state)
{
	nvmlProcessUtilizationSample_t list[8];
	struct resident a = program(LONG, NULL), b = program(LONG, NULL), c;
	int tries = 0;

	(void)state;
	do {
		await_busy(2, 90);
		samples(list);
	} while ((list[0].smUtil < 35 || list[0].smUtil > 65) && tries++ < 20);
	print_message("two long: %u %% and %u %%\n", list[0].smUtil,
		      list[1].smUtil);
	assert_in_range(list[0].smUtil, 35, 65);
	fixture_end(&a);
	c = program(SHORT, NULL);
	await_busy(2, 90);
	fixture_end(&b);
	fixture_end(&c);
}

/* It copies as fast as the host allows: many times what an idle one moves. */
static void copies_are_traffic(void **state)
{
	struct resident r = program(COPY, NULL);
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;
	unsigned rx, tx;

	(void)state;
	do {
		assert_true(gk_mono_ns() < end);
		usleep(10000);
		rx = traffic(NVML_PCIE_UTIL_RX_BYTES);
		tx = traffic(NVML_PCIE_UTIL_TX_BYTES);
	} while (rx < 100000);
	assert_true(rx <= 1200000);
	assert_true(tx < 10000);
	assert_int_equal(gpu_utilization(), 0);
	fixture_end(&r);
}

static void a_storm_of_kills_leaves_nothing(void **state)
{
	enum { VICTIMS = 60, AT_ONCE = 4 };
	struct resident r[AT_ONCE] = {{0}};
	nvmlMemory_v2_t empty;
	unsigned seed = 7;

	gkf_reap(((struct fixture *)*state)->m, true);
	empty = memory();
	for (int i = 0; i < VICTIMS + AT_ONCE; i++) {
		struct resident *at = &r[i % AT_ONCE];

		if (at->pid)
			fixture_end(at);
		at->pid = 0;
		if (i < VICTIMS)
			*at = program((enum task)(i % 4), NULL);
		usleep((unsigned)rand_r(&seed) % 10000);
		assert_in_range(gpu_utilization(), 0, 100);
	}
	gkf_reap(((struct fixture *)*state)->m, true);
	assert_int_equal(memory().used, empty.used);
	await_idle();
	r[0] = program(LONG, NULL);
	await_busy(1, 95);
	fixture_end(&r[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(memory_is_the_same_for_all_who_ask),
	    FRONT_TEST(a_long_kernel_is_seen_while_it_runs),
	    FRONT_TEST(two_programs_share_the_device),
	    FRONT_TEST(copies_are_traffic),
	    FRONT_TEST(a_storm_of_kills_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
