/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_test.c - checks device memory of the driver API: allocating, freeing,
 * who sees it.
 */
#include "abi/nvml/nvml_abi.h"
#include "fronts/cuda/memory_fixture.h"
#include "machine/store/process/ledger.h"

#include <pthread.h>
#include <fcntl.h>
#include <spawn.h>

static void what_is_taken_is_there(void **state)
{
	unsigned char bytes[3000];
	CUdeviceptr p = device_alloc(sizeof(bytes));

	(void)state;
	assert_int_equal(p % 512, 0);
	fill_random(bytes, sizeof(bytes), 1);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, bytes, sizeof(bytes)), SUCCESS);
	device_holds(p, bytes, sizeof(bytes));
	device_holds(p + 1000, bytes + 1000, 2000);
	device_free(p);
}

static void wrong_frees_are_told(void **state)
{
	CUdeviceptr p = device_alloc(MIB), small = device_alloc(100);
	static char foreign[100];

	(void)state;
	assert_cuda(CU(cuMemFree_v2)(p + 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)(small + 512), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)((uintptr_t)foreign), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)(UINT64_MAX), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeHost)((void *)(uintptr_t)p),
		    ERROR_INVALID_VALUE);
	device_free(p);
	assert_cuda(CU(cuMemFree_v2)(p), ERROR_INVALID_VALUE);
	device_free(small);
}

/* Like free(NULL); drivers answer so, though no document says it. */
static void nothing_may_be_freed(void **state)
{
	void *none = state;

	assert_cuda(CU(cuMemFree_v2)(0), SUCCESS);
	assert_cuda(CU(cuMemFree)(0), SUCCESS);
	assert_cuda(CU(cuMemFreeHost)(NULL), SUCCESS);
	assert_cuda(CU(cuMemHostAlloc)(&none, 0, 0), SUCCESS);
	assert_null(none);
	none = state;
	assert_cuda(CU(cuMemAllocHost_v2)(&none, 0), SUCCESS);
	assert_null(none);
	assert_cuda(CU(cuMemHostUnregister)(NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeAsync)(0, NULL), ERROR_INVALID_VALUE);
}

static void wrong_sizes_are_told(void **state)
{
	CUdeviceptr p = 7;
	CUdeviceptr_v1 old = 7;
	size_t pitch = 7;

	(void)state;
	assert_cuda(CU(cuMemAlloc_v2)(&p, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAlloc_v2)(NULL, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAlloc_v2)(&p, SIZE_MAX), ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAlloc_v2)(&p, 1ULL << 40), ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAlloc)(&old, 100), ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAllocPitch_v2)(&p, &pitch, 100, 10, 5),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocPitch_v2)(&p, &pitch, 0, 10, 4),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocPitch_v2)(&p, &pitch, 1ULL << 31, 1, 4),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocPitch_v2)(&p, &pitch, 100, SIZE_MAX, 4),
		    ERROR_OUT_OF_MEMORY);
	assert_int_equal(p, 7);
	assert_int_equal(old, 7);
	assert_int_equal(pitch, 7);
}

static void pitched_rows_are_aligned(void **state)
{
	CUdeviceptr p;
	size_t pitch, size;

	(void)state;
	assert_cuda(CU(cuMemAllocPitch_v2)(&p, &pitch, 1000, 30, 16), SUCCESS);
	assert_int_equal(pitch, 1024);
	assert_cuda(CU(cuMemGetAddressRange_v2)(NULL, &size, p), SUCCESS);
	assert_int_equal(size, 1024 * 30);
	device_free(p);
	assert_cuda(CU(cuMemAllocPitch_v2)(&p, &pitch, 1024, 2, 16), SUCCESS);
	assert_int_equal(pitch, 1024);
	device_free(p);
}

struct later {
	CUdeviceptr at;
	_Atomic bool freed;
};

static void *free_later(void *data)
{
	struct later *l = data;

	if (CU(cuCtxSetCurrent)(context) || CU(cuMemFree_v2)(l->at))
		return data;
	atomic_store(&l->freed, true);
	return NULL;
}

/* Work in progress may still use it. */
static void memory_is_freed_when_the_work_is_done(void **state)
{
	struct later l = {.at = device_alloc(MIB)};
	bool early;
	pthread_t thread;
	CUstream s;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	hold(s);
	assert_cuda(CU(cuMemsetD8Async)(l.at, 1, MIB, s), SUCCESS);
	assert_int_equal(pthread_create(&thread, NULL, free_later, &l), 0);
	usleep(50000);
	early = atomic_load(&l.freed);
	let_go(
	    NULL); /* before anything else, because the thread waits for it */
	pthread_join(thread, NULL);
	assert_false(early);
	assert_true(atomic_load(&l.freed));
	assert_cuda(CU(cuStreamQuery)(s), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
}

static void a_range_is_told_of_any_of_its_addresses(void **state)
{
	CUdeviceptr p = device_alloc(5000), base;
	size_t size;

	(void)state;
	assert_cuda(CU(cuMemGetAddressRange_v2)(&base, &size, p + 4999),
		    SUCCESS);
	assert_int_equal(base, p);
	assert_int_equal(size, 5000);
	assert_cuda(CU(cuMemGetAddressRange_v2)(&base, NULL, p + 5000),
		    ERROR_NOT_FOUND);
	assert_cuda(CU(cuMemGetAddressRange_v2)(&base, NULL, (uintptr_t)&size),
		    ERROR_NOT_FOUND);
	device_free(p);
}

static void the_host_faults_there(void **state)
{
	volatile char *p = (char *)(uintptr_t)device_alloc(4096);
	int status;
	pid_t pid;

	(void)state;
	for (int write = 0; write < 2; write++) {
		pid = fork();
		if (!pid) {
			signal(SIGSEGV, SIG_DFL);
			if (write)
				p[5] = 1;
			_exit(p[5]);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
#ifdef __SANITIZE_ADDRESS__
		assert_int_not_equal(status, 0);
#else
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSEGV);
#endif
	}
	device_free((uintptr_t)p);
}

/* cuMemGetInfo, NVML and the ledger agree to the byte. */
static void all_see_the_same_bytes(void **state)
{
	struct fixture *fx = *state;
	struct gkf_memory memory;
	size_t left, total, step;
	CUdeviceptr p;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t before = free_now(), size = (BLOCK << i) - 100;

		p = device_alloc(size);
		assert_cuda(CU(cuMemGetInfo_v2)(&left, &total), SUCCESS);
		gkf_memory(fx->m, 0, &memory);
		assert_int_equal(left, memory.free);
		assert_int_equal(total, memory.total - memory.reserved);
		step = (size + BLOCK - 1) / BLOCK * BLOCK;
		assert_int_equal(before - left, step);
		device_free(p);
		assert_int_equal(free_now(), before);
	}
	assert_cuda(CU(cuMemGetInfo_v2)(NULL, NULL), SUCCESS);
}

static void memory_ends_where_it_is_said_to_end(void **state)
{
	uint64_t left = free_now() / BLOCK * BLOCK;
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuMemAlloc_v2)(&p, left + 1), ERROR_OUT_OF_MEMORY);
	p = device_alloc(left);
	assert_true(free_now() < BLOCK);
	assert_cuda(CU(cuMemsetD8_v2)(p + left - 10, 9, 10), SUCCESS);
	device_holds(p + left - 10, "\t\t\t\t\t\t\t\t\t\t", 10);
	device_free(p);
	assert_int_equal(free_now() / BLOCK * BLOCK, left);
}

static void a_context_takes_its_memory_along(void **state)
{
	uint64_t before = free_now();
	CUcontext other;
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 0), SUCCESS);
	p = device_alloc(100 * MIB);
	assert_true(free_now() < before - 100 * MIB);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	assert_int_equal(free_now(), before);
	assert_cuda(CU(cuMemFree_v2)(p), ERROR_INVALID_VALUE);
}

static void without_a_context_there_is_no_memory(void **state)
{
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuCtxSetCurrent)(NULL), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&p, 1), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuMemGetInfo_v2)(NULL, NULL), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
}

static void no_handle_of_a_range_is_given(void **state)
{
	CUdeviceptr p = device_alloc(BLOCK);
	int fd = -5;

	(void)state;
	assert_cuda(CU(cuMemGetHandleForAddressRange)(
			&fd, p, BLOCK, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuMemGetHandleForAddressRange)(
			NULL, p, BLOCK, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
		    ERROR_INVALID_VALUE);
	assert_int_equal(fd, -5);
	device_free(p);
}

#define LIVE 100000

static void many_live_beside_each_other(void **state)
{
	CUdeviceptr *p = calloc(LIVE, sizeof(*p));
	uint64_t before = free_now();

	(void)state;
	for (unsigned i = 0; i < LIVE; i++)
		assert_cuda(CU(cuMemAlloc_v2)(&p[i], 1 + i % 2000), SUCCESS);
	for (unsigned i = 0; i < LIVE; i++)
		assert_cuda(CU(cuMemFree_v2)(p[i * 7919UL % LIVE]), SUCCESS);
	assert_int_equal(free_now(), before);
	free(p);
}

/* ---- threads ---- */

static void *churn(void *data)
{
	uint64_t seed = (uintptr_t)data * 77 + 1;
	unsigned char bytes[600], back[600];
	CUdeviceptr p[8] = {0};

	if (CU(cuCtxSetCurrent)(context))
		return (void *)(uintptr_t) "no context";
	for (unsigned n = 0; n < 600; n++) {
		unsigned i = n % 8;
		size_t size = 600 + next_random(&seed) % (n % 9 ? 9000 : MIB);

		if (p[i] && CU(cuMemFree_v2)(p[i]))
			return (void *)(uintptr_t) "not freed";
		if (CU(cuMemAlloc_v2)(&p[i], size))
			return (void *)(uintptr_t) "not taken";
		fill_random(bytes, sizeof(bytes), n);
		if (CU(cuMemcpyHtoD_v2)(p[i] + size - 600, bytes, 600) ||
		    CU(cuMemcpyDtoH_v2)(back, p[i] + size - 600, 600) ||
		    memcmp(bytes, back, 600))
			return (void *)(uintptr_t) "not copied";
	}
	for (unsigned i = 0; i < 8; i++)
		if (CU(cuMemFree_v2)(p[i]))
			return (void *)(uintptr_t) "not freed at the end";
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	uint64_t before = free_now();
	pthread_t thread[4];
	void *trouble;

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(
		    pthread_create(&thread[i], NULL, churn, (void *)i), 0);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(thread[i], &trouble);
		if (trouble)
			fail_msg("%s", (char *)trouble);
	}
	assert_int_equal(free_now(), before);
}

/* ---- what others see through NVML ---- */

static void *nvml_library;
#define NV(symbol) ((__typeof__(&symbol))dlsym(nvml_library, #symbol))

static uint64_t nvml_used(void)
{
	nvmlDevice_t device;
	nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};

	assert_int_equal(NV(nvmlDeviceGetHandleByIndex_v2)(1, &device), 0);
	assert_int_equal(NV(nvmlDeviceGetMemoryInfo_v2)(device, &memory), 0);
	return memory.used;
}

/* The bytes of a process, or 0 if NVML does not list it. */
static uint64_t nvml_used_by(pid_t pid)
{
	nvmlProcessInfo_t list[64];
	unsigned count = 64;
	nvmlDevice_t device;

	assert_int_equal(NV(nvmlDeviceGetHandleByIndex_v2)(1, &device), 0);
	assert_int_equal(
	    NV(nvmlDeviceGetComputeRunningProcesses_v3)(device, &count, list),
	    0);
	for (unsigned i = 0; i < count; i++)
		if (list[i].pid == (unsigned)pid)
			return list[i].usedGpuMemory;
	return 0;
}

/* A reader removes dead processes, but not at every read. */
static void await_used(uint64_t bytes)
{
	for (unsigned i = 0; i < 500 && nvml_used() != bytes; i++)
		usleep(10000);
	assert_int_equal(nvml_used(), bytes);
}

/* The other process: a context on device 1, then what stdin says. */
static int be_holder(void)
{
	CUcontext ctx;
	CUdeviceptr p;
	unsigned long size;

	cuda_load(CUDA_FRONT);
	if (CU(cuInit)(0) || CU(cuCtxCreate_v2)(&ctx, 0, 1))
		return 1;
	puts("ready");
	fflush(stdout);
	while (scanf("%lu", &size) == 1) {
		if (CU(cuMemAlloc_v2)(&p, size))
			return 2;
		printf("%lu\n", size);
		fflush(stdout);
	}
	return 0;
}

/* Allocates and frees until it is killed. */
static int storm(void)
{
	uint64_t seed = (uint64_t)getpid() * 7919;
	CUdeviceptr p[16] = {0};
	CUcontext ctx;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cuda_load(CUDA_FRONT);
	if (CU(cuInit)(0) || CU(cuCtxCreate_v2)(&ctx, 0, 1))
		return 1;
	puts("ready");
	fflush(stdout);
	for (unsigned i = 0;; i = (i + 1) % 16) {
		CUresult r = p[i] ? CU(cuMemFree_v2)(p[i]) : CUDA_SUCCESS;

		if (!r)
			r = CU(cuMemAlloc_v2)(&p[i],
					      1 + next_random(&seed) % GIB);
		if (r)
			return fprintf(stderr, "storm: CUDA error %d\n",
				       (int)r);
	}
}

struct other {
	pid_t pid;
	FILE *to, *from;
};

static struct other start_other(char *mode)
{
	posix_spawn_file_actions_t actions;
	char *argv[] = {mode, mode, NULL}, line[64];
	struct other o;
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	assert_int_equal(posix_spawn(&o.pid, "/proc/self/exe", &actions, NULL,
				     argv, environ),
			 0);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	o.to = fdopen(in[1], "w");
	o.from = fdopen(out[0], "r");
	assert_non_null(fgets(line, sizeof(line), o.from));
	return o;
}

static void other_takes(struct other *o, uint64_t size)
{
	char line[64];

	fprintf(o->to, "%lu\n", (unsigned long)size);
	fflush(o->to);
	assert_non_null(fgets(line, sizeof(line), o->from));
}

static void end_other(struct other *o, int signal)
{
	int status;

	if (signal)
		kill(o->pid, signal);
	fclose(o->to);
	assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
	fclose(o->from);
	assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, signal);
}

static void another_process_sees_every_byte(void **state)
{
	static const int ends[] = {0, SIGKILL};
	char mode[] = "hold";
	struct other o;
	uint64_t empty, context_bytes;

	(void)state;
	nvml_library =
	    dlopen(FAKE_DIR "/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(nvml_library);
	assert_int_equal(NV(nvmlInit_v2)(), 0);
	empty = nvml_used();
	for (unsigned i = 0; i < 2; i++) {
		o = start_other(mode);
		context_bytes = nvml_used_by(o.pid);
		assert_true(context_bytes > 0);
		assert_int_equal(nvml_used(), empty + context_bytes);
		other_takes(&o, 1);
		assert_int_equal(nvml_used_by(o.pid), context_bytes + BLOCK);
		other_takes(&o, MIB);
		assert_int_equal(nvml_used_by(o.pid), context_bytes + BLOCK);
		other_takes(&o, 10 * GIB + 1);
		assert_int_equal(nvml_used_by(o.pid),
				 context_bytes + 2 * BLOCK + 10 * GIB);
		assert_int_equal(nvml_used(),
				 empty + context_bytes + 2 * BLOCK + 10 * GIB);
		end_other(&o, ends[i]);
		await_used(empty);
		assert_int_equal(nvml_used_by(o.pid), 0);
	}
	assert_int_equal(NV(nvmlShutdown)(), 0);
}

static void a_storm_of_kills_leaves_nothing(void **state)
{
	char mode[] = "storm";
	struct other o[4];
	uint64_t empty;

	(void)state;
	assert_int_equal(NV(nvmlInit_v2)(), 0);
	empty = nvml_used();
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 4; i++)
			o[i] = start_other(mode);
		assert_true(nvml_used() > empty);
		usleep(round * 1000);
		for (unsigned i = 0; i < 4; i++)
			end_other(&o[i], SIGKILL);
	}
	await_used(empty);
	assert_int_equal(nvml_used_by(o[0].pid), 0);
	assert_int_equal(NV(nvmlShutdown)(), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_taken_is_there),
	    cmocka_unit_test(wrong_frees_are_told),
	    cmocka_unit_test(nothing_may_be_freed),
	    cmocka_unit_test(wrong_sizes_are_told),
	    cmocka_unit_test(pitched_rows_are_aligned),
	    HOLDING_TEST(memory_is_freed_when_the_work_is_done),
	    cmocka_unit_test(a_range_is_told_of_any_of_its_addresses),
	    cmocka_unit_test(the_host_faults_there),
	    cmocka_unit_test(all_see_the_same_bytes),
	    cmocka_unit_test(memory_ends_where_it_is_said_to_end),
	    cmocka_unit_test(a_context_takes_its_memory_along),
	    cmocka_unit_test(without_a_context_there_is_no_memory),
	    cmocka_unit_test(no_handle_of_a_range_is_given),
	    cmocka_unit_test(many_live_beside_each_other),
	    cmocka_unit_test(threads_do_not_disturb_each_other),
	    cmocka_unit_test(another_process_sees_every_byte),
	    cmocka_unit_test(a_storm_of_kills_leaves_nothing),
	};

	if (argc > 1)
		return !strcmp(argv[1], "hold") ? be_holder() : storm();
	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
