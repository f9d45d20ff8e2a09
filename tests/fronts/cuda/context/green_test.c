/* SPDX-License-Identifier: Apache-2.0 */
/*
 * green_test.c - checks rarely used parts of green contexts: how SMs are split
 * by architecture, streams that outlive their context, errors, the primary
 * context's reset.
 */
#define CUDA_DRIVER "610.57.04"
#define CUDA_FRONT  FAKE_DIR "/610/libcuda.so.1"
#include "abi/cuda/cuda_newer.h"
#include "fronts/cuda/loaded.h"
#include "machine/file/profile.h"

#include <sched.h>
#include <stdatomic.h>

#define SM CU_DEV_RESOURCE_TYPE_SM

/* Writes to an unmapped address. */
static const char bad[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
			  ".visible .entry bad()\n{\n\t.reg .b64 %d<2>;\n"
			  "\tmov.u64 %d1, 4096;\n"
			  "\tst.global.u32 [%d1], 1;\n\tret;\n}\n";

static CUcontext start(struct fixture *fx)
{
	fixture_set_driver(fx, CUDA_DRIVER);
	return begin();
}

static CUdevResource whole(CUdevice device)
{
	CUdevResource r;

	assert_cuda(CU(cuDeviceGetDevResource)(device, &r, SM), SUCCESS);
	return r;
}

/* How many SMs a part gets for a requested number. */
static unsigned part_of(CUdevResource from, unsigned flags, unsigned asked)
{
	CUdevResource part;
	unsigned one = 1;

	if (CU(cuDevSmResourceSplitByCount)(&part, &one, &from, NULL, flags,
					    asked))
		return 0;
	return part.sm.smCount;
}

static CUgreenCtx green(CUdevResource r)
{
	CUdevResourceDesc desc;
	CUgreenCtx g;

	assert_cuda(CU(cuDevResourceGenerateDesc)(&desc, &r, 1), SUCCESS);
	assert_cuda(
	    CU(cuGreenCtxCreate)(&g, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM),
	    SUCCESS);
	return g;
}

static CUgreenCtx small_green(void)
{
	CUdevResource all = whole(0), part;
	unsigned one = 1;

	assert_cuda(
	    CU(cuDevSmResourceSplitByCount)(&part, &one, &all, NULL, 0, 8),
	    SUCCESS);
	return green(part);
}

static CUstream stream_in(CUgreenCtx g)
{
	CUstream s;

	assert_cuda(
	    CU(cuGreenCtxStreamCreate)(&s, g, CU_STREAM_NON_BLOCKING, 0),
	    SUCCESS);
	return s;
}

/* A machine with one GPU of this architecture. */
static void open_architecture(struct fixture *fx, int major, int sms)
{
	struct gkf_profile p = gkf_profile_default;

	p.compute_major = major;
	p.compute_minor = 0;
	p.sm_count = sms;
	fixture_close(fx);
	fixture_open_of(fx, &p, 1);
	start(fx);
}

static void pairs_of_sms_on_ampere(struct fixture *fx)
{
	open_architecture(fx, 8, 108);
	assert_int_equal(whole(0).sm.smCount, 108);
	assert_int_equal(whole(0).sm.smCoscheduledAlignment, 2);
	assert_int_equal(part_of(whole(0), 0, 5), 6);
	assert_int_equal(part_of(whole(0), 0, 108), 108);
	assert_int_equal(part_of(whole(0), 0, 109), 0);
}

static void eights_of_sms_on_hopper(struct fixture *fx)
{
	CUdevResource all, rest, parts[20];
	unsigned groups = 20;

	open_architecture(fx, 9, 132);
	all = whole(0);
	assert_int_equal(all.sm.smCoscheduledAlignment, 8);
	assert_int_equal(part_of(all, 0, 1), 8);
	assert_int_equal(part_of(all, 0, 9), 16);
	assert_int_equal(
	    part_of(all, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 9),
	    10);
	/* 132 is sixteen times eight, plus four. */
	assert_cuda(
	    CU(cuDevSmResourceSplitByCount)(parts, &groups, &all, &rest, 0, 8),
	    SUCCESS);
	assert_int_equal(groups, 16);
	assert_int_equal(rest.sm.smCount, 4);
	assert_cuda(CU(cuDevSmResourceSplitByCount)(parts, &groups, &parts[0],
						    NULL, 0, 8),
		    ERROR_INVALID_RESOURCE_CONFIGURATION);
}

static CUresult split(CUdevResource *parts, unsigned count, CUdevResource *rest,
		      CU_DEV_SM_RESOURCE_GROUP_PARAMS *params)
{
	CUdevResource all = whole(0);

	return CU(cuDevSmResourceSplit)(parts, count, &all, rest, 0, params);
}

/* The examples of NVIDIA's documentation, on 132 SMs of Hopper. */
static void groups_of_unequal_sizes(struct fixture *fx)
{
	CU_DEV_SM_RESOURCE_GROUP_PARAMS
	found = {0}, ten = {10, 2, 0, 0, {0}}, odd = {7, 2, 0, 0, {0}},
	catch_all[2] = {{8, 4, 0, 0, {0}},
			{0, 2, 0, CU_DEV_SM_RESOURCE_GROUP_BACKFILL, {0}}};
	CUdevResource parts[2], rest;

	open_architecture(fx, 9, 132);
	assert_cuda(split(parts, 1, &rest, &found), SUCCESS);
	assert_int_equal(found.smCount, 128);
	assert_int_equal(parts[0].sm.smCount, 128);
	assert_int_equal(rest.sm.smCount, 4);

	assert_cuda(split(parts, 1, &rest, &ten), SUCCESS);
	assert_int_equal(parts[0].sm.smCount, 10);
	assert_int_equal(parts[0].sm.smCoscheduledAlignment, 2);
	assert_int_equal(rest.sm.smCount, 122);

	assert_cuda(split(parts, 2, &rest, catch_all), SUCCESS);
	assert_int_equal(parts[0].sm.smCount, 8);
	assert_int_equal(parts[1].sm.smCount, 124);
	assert_int_equal(catch_all[1].smCount, 124);
	assert_int_equal(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);

	assert_cuda(split(parts, 1, NULL, &odd), ERROR_INVALID_VALUE);
	ten.smCount = 200;
	assert_cuda(split(parts, 1, NULL, &ten), ERROR_INVALID_VALUE);
}

/* A failed split writes nothing. */
static void a_split_that_fails_leaves_everything(struct fixture *fx)
{
	CU_DEV_SM_RESOURCE_GROUP_PARAMS params[2] = {{0}, {0}};
	CUdevResource parts[2], rest;

	open_architecture(fx, 9, 132);
	memset(parts, 0x5a, sizeof parts);
	memset(&rest, 0x5a, sizeof rest);
	params[1].coscheduledSmCount =
	    8; /* the first takes all groups of eight */
	assert_cuda(split(parts, 2, &rest, params),
		    ERROR_INVALID_RESOURCE_CONFIGURATION);
	assert_int_equal(params[0].smCount, 0);
	assert_int_equal(parts[0].type, 0x5a5a5a5a);
	assert_int_equal(rest.type, 0x5a5a5a5a);
	/* A query is allowed. */
	assert_cuda(split(NULL, 2, NULL, params), SUCCESS);
	assert_int_equal(params[0].smCount, 128);
	assert_int_equal(params[1].smCount, 0);
}

static void a_stream_outlives_its_context(struct fixture *fx)
{
	CUgreenCtx g;
	CUcontext of;
	CUstream s, extra;

	start(fx);
	g = small_green();
	s = stream_in(g);
	assert_cuda(CU(cuCtxFromGreenCtx)(&of, g), SUCCESS);
	assert_cuda(CU(cuCtxPushCurrent_v2)(of), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&extra, CU_STREAM_DEFAULT), SUCCESS);
	assert_cuda(CU(cuGreenCtxDestroy)(g), SUCCESS);
	assert_cuda(CU(cuGreenCtxDestroy)(g), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuCtxPopCurrent_v2)(NULL), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), ERROR_STREAM_DETACHED);
	assert_cuda(CU(cuMemsetD8Async)(4096, 0, 1, s), ERROR_STREAM_DETACHED);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuStreamDestroy_v2)(extra), SUCCESS);
}

static void threads_have_no_streams_in_it(struct fixture *fx)
{
	CUgreenCtx g;
	CUcontext of;

	start(fx);
	g = small_green();
	assert_cuda(CU(cuCtxFromGreenCtx)(&of, g), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(of), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(NULL), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuStreamSynchronize_ptsz)(NULL), ERROR_INVALID_HANDLE);
}

/* Memory belongs to the primary context, and stays. */
static void what_it_allocates_stays(struct fixture *fx)
{
	CUgreenCtx g;
	CUcontext primary, of, told;
	CUdeviceptr memory;
	unsigned char byte = 0;

	primary = start(fx);
	g = small_green();
	assert_cuda(CU(cuCtxFromGreenCtx)(&of, g), SUCCESS);
	assert_cuda(CU(cuCtxPushCurrent_v2)(of), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&memory, 4096), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(memory, 7, 4096), SUCCESS);
	assert_cuda(CU(cuPointerGetAttribute)(
			&told, CU_POINTER_ATTRIBUTE_CONTEXT, memory),
		    SUCCESS);
	assert_ptr_equal(told, primary);
	assert_cuda(CU(cuCtxPopCurrent_v2)(NULL), SUCCESS);
	assert_cuda(CU(cuGreenCtxDestroy)(g), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&byte, memory + 4095, 1), SUCCESS);
	assert_int_equal(byte, 7);
	assert_cuda(CU(cuMemFree_v2)(memory), SUCCESS);
}

static void it_holds_the_primary_context(struct fixture *fx)
{
	unsigned flags;
	CUgreenCtx g;
	int active;

	fixture_set_driver(fx, CUDA_DRIVER);
	assert_cuda(CU(cuInit)(0), SUCCESS);
	g = small_green();
	assert_cuda(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active),
		    SUCCESS);
	assert_int_equal(active, 1);
	assert_cuda(CU(cuGreenCtxDestroy)(g), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active),
		    SUCCESS);
	assert_int_equal(active, 0);
}

static void a_reset_ends_it(struct fixture *fx)
{
	unsigned long long id;
	CUgreenCtx g;
	CUstream s;

	start(fx);
	g = small_green();
	s = stream_in(g);
	assert_cuda(CU(cuDevicePrimaryCtxReset_v2)(0), SUCCESS);
	assert_cuda(CU(cuGreenCtxGetId)(g, &id), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_STREAM_DETACHED);
	assert_cuda(CU(cuGreenCtxDestroy)(g), SUCCESS);
}

/* A failing context takes the others of its device with it. */
static void errors_are_shared(struct fixture *fx)
{
	CUfunction f;
	CUmodule m;
	CUgreenCtx g, other;
	CUstream s;

	start(fx);
	g = small_green();
	other = small_green();
	s = stream_in(g);
	assert_cuda(CU(cuModuleLoadData)(&m, bad), SUCCESS);
	assert_cuda(CU(cuModuleGetFunction)(&f, m, "bad"), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL),
		    SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(
	    CU(cuGreenCtxStreamCreate)(&s, other, CU_STREAM_NON_BLOCKING, 0),
	    ERROR_ILLEGAL_ADDRESS);
}

static void wait_for_word(void *word)
{
	while (!atomic_load((_Atomic int *)word))
		sched_yield();
}

/* Events of the primary context include its green ones, but not the reverse. */
static void the_primary_context_means_all(struct fixture *fx)
{
	_Atomic int first = 0, second = 0;
	CUgreenCtx g;
	CUcontext primary, of;
	CUstream s, outside;
	CUevent all, own;

	primary = start(fx);
	g = small_green();
	s = stream_in(g);
	assert_cuda(CU(cuCtxFromGreenCtx)(&of, g), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&outside, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	assert_cuda(CU(cuEventCreate)(&all, CU_EVENT_DISABLE_TIMING), SUCCESS);
	assert_cuda(CU(cuEventCreate)(&own, CU_EVENT_DISABLE_TIMING), SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc)(s, wait_for_word, &first), SUCCESS);
	assert_cuda(CU(cuCtxRecordEvent)(primary, all), SUCCESS);
	assert_cuda(CU(cuEventQuery)(all), ERROR_NOT_READY);
	atomic_store(&first, 1);
	assert_cuda(CU(cuEventSynchronize)(all), SUCCESS);

	/* The green context is idle; work elsewhere is not its own. */
	assert_cuda(CU(cuLaunchHostFunc)(outside, wait_for_word, &second),
		    SUCCESS);
	assert_cuda(CU(cuGreenCtxRecordEvent)(g, own), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(own), SUCCESS);
	/* When the primary context is told to wait, the green one waits too. */
	assert_cuda(CU(cuEventRecord)(own, outside), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuCtxWaitEvent)(primary, own), SUCCESS);
	assert_cuda(CU(cuEventRecord)(all, s), SUCCESS);
	assert_cuda(CU(cuEventQuery)(all), ERROR_NOT_READY);
	atomic_store(&second, 1);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuEventQuery)(all), SUCCESS);
}

/* A cooperative kernel must fit on the available SMs. */
static void cooperative_kernels_have_its_sms_only(struct fixture *fx)
{
	CUfunction f;
	CUmodule m;
	CUstream s;
	int each;

	start(fx);
	s = stream_in(small_green());
	m = module_of("vector_add_13.ptx");
	assert_cuda(CU(cuModuleEnumerateFunctions)(&f, 1, m), SUCCESS);
	assert_cuda(
	    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&each, f, 1024, 0),
	    SUCCESS);
	assert_cuda(CU(cuLaunchCooperativeKernel)(f, 8 * (unsigned)each + 1, 1,
						  1, 1024, 1, 1, 0, s, NULL),
		    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	/* Here the missing parameters are the error. */
	assert_cuda(CU(cuLaunchCooperativeKernel)(f, 8 * (unsigned)each, 1, 1,
						  1024, 1, 1, 0, s, NULL),
		    ERROR_INVALID_VALUE);
}

/* The part belongs to the stream, whichever context is current. */
static void captured_kernels_have_its_sms_only(struct fixture *fx)
{
	CUstream s;
	CUfunction f;
	CUmodule m;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr none = 0;
	unsigned count = 0;
	void *params[] = {&none, &none, &none, &count};
	int each;

	start(fx);
	s = stream_in(small_green());
	m = module_of("vector_add_13.ptx");
	assert_cuda(CU(cuModuleEnumerateFunctions)(&f, 1, m), SUCCESS);
	assert_cuda(
	    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&each, f, 1024, 0),
	    SUCCESS);
	for (unsigned more = 0; more < 2; more++) {
		assert_cuda(CU(cuStreamBeginCapture_v2)(
				s, CU_STREAM_CAPTURE_MODE_RELAXED),
			    SUCCESS);
		assert_cuda(CU(cuLaunchCooperativeKernel)(
				f, 8 * (unsigned)each + more, 1, 1, 1024, 1, 1,
				0, s, params),
			    SUCCESS);
		assert_cuda(CU(cuStreamEndCapture)(s, &graph), SUCCESS);
		assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0),
			    SUCCESS);
		if (more)
			assert_cuda(CU(cuGraphLaunch)(exec, s),
				    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
		else
			assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
		assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
		assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
		assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	}
}

static void queues_are_told_and_taken(struct fixture *fx)
{
	CUdevWorkqueueConfigResource queues;
	CUdevResource both[2] = {{0}, {0}};
	CUdevResourceDesc desc;
	CUgreenCtx g;

	start(fx);
	both[0] = whole(0);
	assert_cuda(
	    CU(cuDeviceGetDevResource)(
		0, &both[1],
		(CUdevResourceType)CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG),
	    SUCCESS);
	memcpy(&queues, &both[1].sm, sizeof queues);
	assert_int_equal(queues.wqConcurrencyLimit, 8);
	assert_int_equal(queues.device, 0);
	queues.wqConcurrencyLimit = 4;
	queues.sharingScope = CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED;
	memcpy(&both[1].sm, &queues, sizeof queues);
	assert_cuda(CU(cuDevResourceGenerateDesc)(&desc, both, 2), SUCCESS);
	assert_cuda(CU(cuGreenCtxCreate)(&g, desc, 0, 0), SUCCESS);
	assert_cuda(
	    CU(cuGreenCtxGetDevResource)(
		g, &both[0],
		(CUdevResourceType)CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG),
	    SUCCESS);
	memcpy(&queues, &both[0].sm, sizeof queues);
	assert_int_equal(queues.wqConcurrencyLimit, 4);
	assert_int_equal(queues.sharingScope,
			 CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED);
	both[0] = both[1];
	assert_cuda(CU(cuDevResourceGenerateDesc)(&desc, both, 2),
		    ERROR_INVALID_RESOURCE_CONFIGURATION);
	assert_cuda(
	    CU(cuDeviceGetDevResource)(
		0, &both[0], (CUdevResourceType)CU_DEV_RESOURCE_TYPE_WORKQUEUE),
	    ERROR_INVALID_RESOURCE_TYPE);
}

static const struct alone tests[] = {
    ALONE(pairs_of_sms_on_ampere),
    ALONE(eights_of_sms_on_hopper),
    ALONE(groups_of_unequal_sizes),
    ALONE(a_split_that_fails_leaves_everything),
    ALONE(a_stream_outlives_its_context),
    ALONE(threads_have_no_streams_in_it),
    ALONE(what_it_allocates_stays),
    ALONE(it_holds_the_primary_context),
    ALONE(a_reset_ends_it),
    ALONE(errors_are_shared),
    ALONE(the_primary_context_means_all),
    ALONE(cooperative_kernels_have_its_sms_only),
    ALONE(captured_kernels_have_its_sms_only),
    ALONE(queues_are_told_and_taken),
};

ALONE_MAIN(tests)
