/* SPDX-License-Identifier: Apache-2.0 */
/* context_test.c - checks contexts and the ledger's figures of them. */
#include "base/units.h"
#include "fronts/cuda/alone.h"
#include "machine/file/file.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/trouble/fault.h"

#include <pthread.h>
#include <sys/resource.h>

static CUcontext created(CUdevice device)
{
	CUcontext ctx = NULL;

	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, device), SUCCESS);
	return ctx;
}

static CUcontext current(void)
{
	CUcontext ctx = (CUcontext)1;

	assert_cuda(CU(cuCtxGetCurrent)(&ctx), SUCCESS);
	return ctx;
}

/* The current result of calls that need a context. */
static CUresult usable(void)
{
	CUdevice device;

	return CU(cuCtxGetDevice)(&device);
}

static void init(void)
{
	assert_cuda(CU(cuInit)(0), SUCCESS);
}

static void nothing_works_before_init(struct fixture *fx)
{
	CUcontext ctx = NULL;
	int n = 7;

	(void)fx;
	assert_cuda(CU(cuDeviceGetCount)(&n), ERROR_NOT_INITIALIZED);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_NOT_INITIALIZED);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0),
		    ERROR_NOT_INITIALIZED);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_NOT_INITIALIZED);
	assert_cuda(CU(cuCtxGetCurrent)(&ctx), ERROR_NOT_INITIALIZED);
	assert_int_equal(n, 7);
	assert_null(ctx);
}

static void the_last_one_pushed_is_current(struct fixture *fx)
{
	CUcontext a, b, popped;

	(void)fx;
	init();
	assert_null(current());
	assert_cuda(usable(), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), ERROR_INVALID_CONTEXT);
	a = created(0);
	b = created(1);
	assert_ptr_equal(current(), b);
	assert_cuda(CU(cuCtxPushCurrent_v2)(a), SUCCESS);
	assert_cuda(CU(cuCtxPushCurrent_v2)(a), SUCCESS);
	assert_ptr_equal(current(), a);
	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), SUCCESS);
	assert_ptr_equal(popped, a);
	assert_cuda(CU(cuCtxPopCurrent_v2)(NULL), SUCCESS);
	assert_ptr_equal(current(), b);
	assert_cuda(CU(cuCtxSetCurrent)(a), SUCCESS); /* in b's place */
	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), SUCCESS);
	assert_ptr_equal(popped, a);
	assert_ptr_equal(current(), a);
	assert_cuda(CU(cuCtxSetCurrent)(NULL), SUCCESS);
	assert_null(current());
	assert_cuda(CU(cuCtxSetCurrent)(NULL), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(b), SUCCESS);
	assert_ptr_equal(current(), b);
}

static void what_is_no_context_is_told(struct fixture *fx)
{
	CUcontext ctx, out;
	unsigned version;
	long here;

	(void)fx;
	init();
	ctx = created(0);
	const uintptr_t none[] = {
	    1,
	    8,
	    UINTPTR_MAX,
	    (uintptr_t)&here,
	    (uintptr_t)ctx + 8,
	    (uintptr_t)ctx - 16,
	    (uintptr_t)ctx + (1 << 20),
	};
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		out = (CUcontext)none[i];
		assert_cuda(CU(cuCtxPushCurrent_v2)(out),
			    ERROR_INVALID_CONTEXT);
		assert_cuda(CU(cuCtxSetCurrent)(out), ERROR_INVALID_CONTEXT);
		assert_cuda(CU(cuCtxDestroy_v2)(out), ERROR_INVALID_CONTEXT);
		assert_cuda(CU(cuCtxGetApiVersion)(out, &version),
			    ERROR_INVALID_CONTEXT);
	}
	assert_cuda(CU(cuCtxPushCurrent_v2)(NULL), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxDestroy_v2)(NULL), ERROR_INVALID_CONTEXT);
	assert_ptr_equal(current(), ctx);
	assert_cuda(usable(), SUCCESS);
}

static void destroying_the_current_one_pops_it(struct fixture *fx)
{
	CUcontext a, b;

	(void)fx;
	init();
	a = created(0);
	b = created(0);
	assert_cuda(CU(cuCtxDestroy_v2)(b), SUCCESS);
	assert_ptr_equal(current(), a);
	assert_cuda(CU(cuCtxDestroy_v2)(b), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxPushCurrent_v2)(b), ERROR_INVALID_CONTEXT);
	b = created(0);
	assert_cuda(CU(cuCtxDestroy_v2)(a), SUCCESS); /* below b */
	assert_cuda(usable(), SUCCESS);
	assert_cuda(CU(cuCtxPopCurrent_v2)(NULL), SUCCESS);
	assert_ptr_equal(current(), a);
	assert_cuda(usable(), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuCtxPopCurrent_v2)(NULL), SUCCESS);
	assert_cuda(usable(), ERROR_INVALID_CONTEXT);
}

static void *destroy_it(void *ctx)
{
	return CU(cuCtxDestroy_v2)(ctx) ? ctx : NULL;
}

/* Also when its memory has become a new context. */
static void a_destroyed_one_stays_destroyed(struct fixture *fx)
{
	CUcontext a, other;
	pthread_t thread;
	void *wrong;

	(void)fx;
	init();
	a = created(0);
	pthread_create(&thread, NULL, destroy_it, a);
	pthread_join(thread, &wrong);
	assert_null(wrong);
	for (int i = 0; i < 1500; i++) {
		assert_cuda(usable(), ERROR_CONTEXT_IS_DESTROYED);
		other = created(0);
		assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	}
	assert_ptr_equal(current(), a);
}

static void flags_are_kept_and_checked(struct fixture *fx)
{
	static const unsigned bad[] = {3, 5, 6, 7, 0x100, 1u << 31};
	CUcontext ctx = NULL;
	unsigned flags;

	(void)fx;
	init();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_cuda(CU(cuCtxCreate_v2)(&ctx, bad[i], 0),
			    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxCreate_v2)(NULL, 0, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 2), ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, -1), ERROR_INVALID_DEVICE);
	assert_null(ctx);
	assert_cuda(
	    CU(cuCtxCreate_v2)(&ctx, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST, 1),
	    SUCCESS);
	assert_cuda(CU(cuCtxGetFlags)(&flags), SUCCESS);
	assert_int_equal(flags, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST);
	assert_cuda(CU(cuCtxSetFlags)(CU_CTX_SCHED_SPIN), SUCCESS);
	assert_cuda(CU(cuCtxGetFlags)(&flags), SUCCESS);
	assert_int_equal(flags, CU_CTX_SCHED_SPIN);
	assert_cuda(CU(cuCtxSetFlags)(0x100), ERROR_INVALID_VALUE);
}

static void each_version_of_create(struct fixture *fx)
{
	CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT,
					.param.smCount.val = 4};
	CUctxCigParam cig = {.sharedDataType =
				 CIG_DATA_TYPE_D3D12_COMMAND_QUEUE};
	CUctxCreateParams params = {.execAffinityParams = &affinity,
				    .numExecAffinityParams = 1};
	unsigned version = 0;
	CUcontext ctx;

	(void)fx;
	init();
	assert_cuda(CU(cuCtxCreate)(&ctx, 0, 0), SUCCESS);
	assert_cuda(CU(cuCtxGetApiVersion)(ctx, &version), SUCCESS);
	assert_int_equal(version, 3010);
	assert_cuda(CU(cuCtxCreate_v3)(&ctx, NULL, 0, 0, 0), SUCCESS);
	assert_cuda(CU(cuCtxGetApiVersion)(NULL, &version), SUCCESS);
	assert_int_equal(version, 3020);
	assert_cuda(CU(cuCtxCreate_v3)(&ctx, &affinity, 1, 0, 0),
		    ERROR_UNSUPPORTED_EXEC_AFFINITY);
	assert_cuda(CU(cuCtxCreate_v3)(&ctx, &affinity, 0, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxCreate_v4)(&ctx, NULL, 0, 1), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v4)(&ctx, &params, 0, 1),
		    ERROR_UNSUPPORTED_EXEC_AFFINITY);
	params = (CUctxCreateParams){.cigParams = &cig};
	assert_cuda(CU(cuCtxCreate_v4)(&ctx, &params, 0, 1),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(
	    CU(cuCtxGetExecAffinity)(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
	    ERROR_UNSUPPORTED_EXEC_AFFINITY);
}

static void attach_and_detach_count(struct fixture *fx)
{
	CUcontext ctx, same = NULL;

	(void)fx;
	init();
	assert_cuda(CU(cuCtxAttach)(&same, 0), ERROR_INVALID_CONTEXT);
	ctx = created(0);
	assert_cuda(CU(cuCtxAttach)(&same, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxAttach)(&same, 0), SUCCESS);
	assert_ptr_equal(same, ctx);
	assert_cuda(CU(cuCtxDetach)(ctx), SUCCESS);
	assert_cuda(usable(), SUCCESS);
	assert_cuda(CU(cuCtxDetach)(ctx), SUCCESS);
	assert_null(current());
	assert_cuda(CU(cuCtxDetach)(ctx), ERROR_INVALID_CONTEXT);
}

static void each_has_an_id_for_ever(struct fixture *fx)
{
	unsigned long long last = 0, id;
	CUcontext ctx;

	(void)fx;
	init();
	for (int i = 0; i < 100; i++) {
		ctx = created(0);
		assert_cuda(CU(cuCtxGetId)(i % 2 ? ctx : NULL, &id), SUCCESS);
		assert_true(id > last);
		last = id;
		assert_cuda(CU(cuCtxDestroy_v2)(ctx), SUCCESS);
		assert_cuda(CU(cuCtxGetId)(ctx, &id), ERROR_INVALID_CONTEXT);
	}
}

static void limits_have_their_ranges(struct fixture *fx)
{
	static const struct {
		CUlimit limit;
		size_t starts, set, becomes;
	} rows[] = {
	    {CU_LIMIT_STACK_SIZE, 1024, 4000, 4000},
	    {CU_LIMIT_STACK_SIZE, 4000, 4001, 4016},
	    {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20, 1 << 22, 1 << 22},
	    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20, 64 << 20, 64 << 20},
	    {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2, 24, 24},
	    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048, 4096, 4096},
	    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64, 128, 128},
	    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, 26214400, 26214400},
	};
	size_t value;

	(void)fx;
	init();
	assert_cuda(CU(cuCtxGetLimit)(&value, CU_LIMIT_STACK_SIZE),
		    ERROR_INVALID_CONTEXT);
	created(0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_cuda(CU(cuCtxGetLimit)(&value, rows[i].limit), SUCCESS);
		assert_int_equal(value, rows[i].starts);
		assert_cuda(CU(cuCtxSetLimit)(rows[i].limit, rows[i].set),
			    SUCCESS);
		assert_cuda(CU(cuCtxGetLimit)(&value, rows[i].limit), SUCCESS);
		assert_int_equal(value, rows[i].becomes);
	}
	assert_cuda(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 1 << 20),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxSetLimit)(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 25),
		    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuCtxSetLimit)(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 26214401),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxSetLimit)(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxSetLimit)(CU_LIMIT_CIG_ENABLED, 1),
		    ERROR_UNSUPPORTED_LIMIT);
	assert_cuda(CU(cuCtxSetLimit)(CU_LIMIT_MAX, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxGetLimit)(NULL, CU_LIMIT_STACK_SIZE),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxResetPersistingL2Cache)(), SUCCESS);
}

static void preferences_are_kept(struct fixture *fx)
{
	int least = 9, greatest = 9;
	CUsharedconfig banks;
	CUfunc_cache cache;

	(void)fx;
	init();
	created(0);
	assert_cuda(CU(cuCtxGetCacheConfig)(&cache), SUCCESS);
	assert_int_equal(cache, CU_FUNC_CACHE_PREFER_NONE);
	assert_cuda(CU(cuCtxSetCacheConfig)(CU_FUNC_CACHE_PREFER_L1), SUCCESS);
	assert_cuda(CU(cuCtxGetCacheConfig)(&cache), SUCCESS);
	assert_int_equal(cache, CU_FUNC_CACHE_PREFER_L1);
	assert_cuda(CU(cuCtxSetCacheConfig)(4), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxSetSharedMemConfig)(
			CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE),
		    SUCCESS);
	assert_cuda(CU(cuCtxGetSharedMemConfig)(&banks), SUCCESS);
	assert_int_equal(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
	assert_cuda(CU(cuCtxSetSharedMemConfig)(3), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxGetStreamPriorityRange)(&least, &greatest),
		    SUCCESS);
	assert_int_equal(least, 0);
	assert_int_equal(greatest, -5);
	assert_cuda(CU(cuCtxGetStreamPriorityRange)(NULL, NULL), SUCCESS);
	assert_cuda(CU(cuProfilerStart)(), SUCCESS);
	assert_cuda(CU(cuProfilerStop)(), SUCCESS);
}

static void check_primary(CUdevice device, unsigned flags, int active)
{
	unsigned found;
	int is;

	assert_cuda(CU(cuDevicePrimaryCtxGetState)(device, &found, &is),
		    SUCCESS);
	assert_int_equal(found, flags);
	assert_int_equal(is, active);
}

static void the_primary_one_is_counted(struct fixture *fx)
{
	CUcontext a, b;

	(void)fx;
	init();
	check_primary(0, 0, 0);
	assert_cuda(CU(cuDevicePrimaryCtxRelease_v2)(0), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&a, 0), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&b, 0), SUCCESS);
	assert_ptr_equal(a, b);
	assert_null(current());
	check_primary(0, 0, 1);
	check_primary(1, 0, 0);
	assert_cuda(CU(cuCtxDestroy_v2)(a), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxSetCurrent)(a), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRelease_v2)(0), SUCCESS);
	assert_cuda(usable(), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRelease_v2)(0), SUCCESS);
	check_primary(0, 0, 0);
	assert_ptr_equal(current(), a);
	assert_cuda(usable(), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&b, 0), SUCCESS);
	assert_ptr_equal(a, b);
	assert_cuda(usable(), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&b, 5), ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(NULL, 0), ERROR_INVALID_VALUE);
}

static void
a_reset_ends_the_primary_one_but_releases_nothing(struct fixture *fx)
{
	CUcontext ctx;

	(void)fx;
	init();
	assert_cuda(CU(cuDevicePrimaryCtxReset_v2)(0), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(ctx), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxReset_v2)(0), SUCCESS);
	check_primary(0, 0, 0);
	assert_cuda(usable(), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), SUCCESS);
	check_primary(0, 0, 1);
	assert_cuda(CU(cuDevicePrimaryCtxRelease_v2)(0), SUCCESS);
	check_primary(0, 0, 1);
	assert_cuda(CU(cuDevicePrimaryCtxRelease_v2)(0), SUCCESS);
	check_primary(0, 0, 0);
	assert_cuda(CU(cuDevicePrimaryCtxReset_v2)(2), ERROR_INVALID_DEVICE);
}

static void flags_of_the_primary_one(struct fixture *fx)
{
	CUcontext ctx;
	unsigned flags;

	(void)fx;
	init();
	assert_cuda(CU(cuDevicePrimaryCtxSetFlags)(0, CU_CTX_SCHED_SPIN),
		    SUCCESS);
	check_primary(0, CU_CTX_SCHED_SPIN, 0);
	assert_cuda(CU(cuDevicePrimaryCtxSetFlags_v2)(0, 3),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), SUCCESS);
	assert_cuda(CU(cuCtxPushCurrent_v2)(ctx), SUCCESS);
	assert_cuda(CU(cuCtxGetFlags)(&flags), SUCCESS);
	assert_int_equal(flags, CU_CTX_SCHED_SPIN);
	assert_cuda(CU(cuDevicePrimaryCtxSetFlags)(0, CU_CTX_SCHED_YIELD),
		    ERROR_PRIMARY_CONTEXT_ACTIVE);
	assert_cuda(CU(cuDevicePrimaryCtxSetFlags_v2)(0, CU_CTX_SCHED_YIELD),
		    SUCCESS);
	assert_cuda(CU(cuCtxGetFlags)(&flags), SUCCESS);
	assert_int_equal(flags, CU_CTX_SCHED_YIELD);
	check_primary(0, CU_CTX_SCHED_YIELD, 1);
}

/* Processes and bytes of a device, as NVML would report them. */
static unsigned ledger(struct fixture *fx, unsigned device, uint64_t *bytes)
{
	struct gkf_process rows[4];
	unsigned count = 0;

	assert_int_equal(
	    gkf_processes(fx->m, device, GKF_COMPUTE, rows, 4, &count), 0);
	*bytes = count ? rows[0].bytes : 0;
	if (count)
		assert_int_equal(rows[0].pid, getpid());
	return count;
}

static void a_context_costs_what_the_profile_says(struct fixture *fx)
{
	uint64_t bytes, first = gkf_profile_default.context_mib * MIB;
	CUcontext a, b, primary;

	init();
	assert_int_equal(ledger(fx, 0, &bytes), 0);
	a = created(0);
	assert_int_equal(ledger(fx, 0, &bytes), 1);
	assert_int_equal(bytes, first);
	assert_int_equal(ledger(fx, 1, &bytes), 0);
	b = created(0);
	assert_int_equal(ledger(fx, 0, &bytes), 1);
	assert_true(bytes > first && bytes <= 2 * first);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&primary, 1), SUCCESS);
	assert_int_equal(ledger(fx, 1, &bytes), 1);
	assert_cuda(CU(cuCtxDestroy_v2)(b), SUCCESS);
	assert_int_equal(ledger(fx, 0, &bytes), 1);
	assert_int_equal(bytes, first);
	assert_cuda(CU(cuCtxDestroy_v2)(a), SUCCESS);
	assert_int_equal(ledger(fx, 0, &bytes), 0);
	assert_cuda(CU(cuDevicePrimaryCtxReset_v2)(1), SUCCESS);
	assert_int_equal(ledger(fx, 1, &bytes), 0);
}

static void a_full_device_takes_no_context(struct fixture *fx)
{
	struct gkf_memory memory;
	struct resident other;
	CUcontext ctx = NULL;

	init();
	gkf_memory(fx->m, 0, &memory);
	other =
	    fixture_resident(fx, 0, GKF_COMPUTE, memory.free - 100 * MIB, NULL);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), ERROR_OUT_OF_MEMORY);
	assert_null(ctx);
	assert_null(current());
	check_primary(0, 0, 0);
	fixture_end(&other);
	created(0);
}

static void compute_modes_keep_out(struct fixture *fx)
{
	_Atomic int64_t *mode = &fx->file->device[0].set[GKF_V_COMPUTE_MODE];
	struct resident other;
	CUcontext ctx;

	init();
	*mode = GKF_PROHIBITED;
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_DEVICE_UNAVAILABLE);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0),
		    ERROR_DEVICE_UNAVAILABLE);
	*mode = GKF_EXCLUSIVE;
	other = fixture_resident(fx, 0, GKF_COMPUTE, MIB, NULL);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_DEVICE_UNAVAILABLE);
	fixture_end(&other);
	created(0); /* the dead hold nothing */
	created(0);
}

/* Writes to an unmapped address. */
static const char fault[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			    ".visible .entry fault()\n{\n"
			    ".reg .b64 %a;\n.reg .b32 %b;\n"
			    "mov.u64 %a, 64;\nmov.u32 %b, 1;\n"
			    "st.global.u32 [%a], %b;\nret;\n}\n";

/* The context returns it from now on; the process has no other one there. */
static void a_fault_stays(struct fixture *fx)
{
	CUcontext broken, primary, other;
	CUfunction function;
	CUmodule module;
	size_t value;

	(void)fx;
	init();
	broken = created(0);
	assert_cuda(CU(cuModuleLoadData)(&module, fault), SUCCESS);
	assert_cuda(CU(cuModuleGetFunction)(&function, module, "fault"),
		    SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxGetLimit)(&value, CU_LIMIT_STACK_SIZE),
		    ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 0), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&primary, 0),
		    ERROR_ILLEGAL_ADDRESS);
	other = created(1);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(broken), SUCCESS);
}

/* The shadow memory of sanitizers alone takes more addresses than this. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FEW_ADDRESSES 1

/* Where addresses are scarce, handles take few of them. */
static void a_process_with_few_addresses(struct fixture *fx)
{
	const struct rlimit few = {700 * MIB, 700 * MIB};
	CUcontext ctx[50];

	(void)fx;
	assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
	init();
	for (int i = 0; i < 50; i++)
		ctx[i] = created(i % 2);
	for (int i = 0; i < 50; i++)
		assert_cuda(CU(cuCtxDestroy_v2)(ctx[i]), SUCCESS);
}
#endif

static void a_gpu_that_is_gone_takes_no_context(struct fixture *fx)
{
	CUcontext ctx;

	init();
	assert_int_equal(gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0), 0);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 1), ERROR_DEVICE_UNAVAILABLE);
	created(0);
}

static const struct alone tests[] = {
    ALONE(nothing_works_before_init),
    ALONE(the_last_one_pushed_is_current),
    ALONE(what_is_no_context_is_told),
    ALONE(destroying_the_current_one_pops_it),
    ALONE(a_destroyed_one_stays_destroyed),
    ALONE(flags_are_kept_and_checked),
    ALONE(each_version_of_create),
    ALONE(attach_and_detach_count),
    ALONE(each_has_an_id_for_ever),
    ALONE(limits_have_their_ranges),
    ALONE(preferences_are_kept),
    ALONE(the_primary_one_is_counted),
    ALONE(a_reset_ends_the_primary_one_but_releases_nothing),
    ALONE(flags_of_the_primary_one),
    ALONE(a_context_costs_what_the_profile_says),
    ALONE(a_full_device_takes_no_context),
    ALONE(compute_modes_keep_out),
    ALONE(a_gpu_that_is_gone_takes_no_context),
    ALONE(a_fault_stays),
#ifdef FEW_ADDRESSES
    ALONE(a_process_with_few_addresses),
#endif
};

ALONE_MAIN(tests)
