/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_test.c - checks mapped memory: grown piece by piece as by allocators,
 * rights by device, charges, and refusals.
 */
#include "fronts/cuda/peer.h"
#include "machine/store/coverage.h"
#include "machine/store/process/ledger.h"

#define STEP    (2 * MIB)
#define SEGMENT (20 * MIB)
#define READ    CU_MEM_ACCESS_FLAGS_PROT_READ
#define BOTH    CU_MEM_ACCESS_FLAGS_PROT_READWRITE

static CUmemAllocationProp prop_of(CUdevice device)
{
	return (CUmemAllocationProp){
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static CUmemGenericAllocationHandle create(CUdevice device, size_t size)
{
	CUmemAllocationProp prop = prop_of(device);
	CUmemGenericAllocationHandle h;

	assert_cuda(CU(cuMemCreate)(&h, size, &prop, 0), SUCCESS);
	return h;
}

static CUdeviceptr reserve(size_t size)
{
	CUdeviceptr at;

	assert_cuda(CU(cuMemAddressReserve)(&at, size, 0, 0, 0), SUCCESS);
	return at;
}

static CUresult allow(CUdeviceptr at, size_t size, CUdevice device,
		      CUmemAccess_flags flags)
{
	CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};

	return CU(cuMemSetAccess)(at, size, &desc, 1);
}

/* Maps memory at an address and releases the handle. */
static void grow(CUdeviceptr at, size_t size)
{
	CUmemGenericAllocationHandle h = create(0, size);

	assert_cuda(CU(cuMemMap)(at, size, 0, h, 0), SUCCESS);
	assert_cuda(allow(at, size, 0, BOTH), SUCCESS);
	assert_cuda(CU(cuMemRelease)(h), SUCCESS);
}

static uint32_t word_at(CUdeviceptr at)
{
	uint32_t word = 0;

	assert_cuda(CU(cuMemcpyDtoH_v2)(&word, at, 4), SUCCESS);
	return word;
}

static void a_segment_grows_and_has_holes(struct fixture *fx)
{
	CUdeviceptr at, copy;
	uint64_t before;

	begin_cuda(0);
	before = gkf_held_bytes(fx->m, 0);
	at = reserve(64 * SEGMENT);
	for (unsigned i = 0; i < 6; i++) {
		grow(at + i * SEGMENT, SEGMENT);
		assert_cuda(CU(cuMemsetD32_v2)(at, i, (i + 1) * SEGMENT / 4),
			    SUCCESS);
		assert_int_equal(word_at(at + (i + 1) * SEGMENT - 4), i);
	}
	assert_int_equal(gkf_held_bytes(fx->m, 0), before + 6 * SEGMENT);
	assert_cuda(CU(cuMemAlloc_v2)(&copy, 6 * SEGMENT), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoD_v2)(copy, at, 6 * SEGMENT), SUCCESS);
	assert_int_equal(word_at(copy + 5 * SEGMENT), 5);
	assert_cuda(CU(cuMemUnmap)(at + 2 * SEGMENT, SEGMENT), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoD_v2)(copy, at, 6 * SEGMENT),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoD_v2)(copy, at, 2 * SEGMENT), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoD_v2)(copy, at + 3 * SEGMENT, 3 * SEGMENT),
		    SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(at + 2 * SEGMENT, 1, 1),
		    ERROR_INVALID_VALUE);
	grow(at + 2 * SEGMENT, SEGMENT);
	assert_cuda(CU(cuMemcpyDtoD_v2)(at, copy, 6 * SEGMENT), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(copy), SUCCESS);
	assert_cuda(CU(cuMemUnmap)(at, 6 * SEGMENT), SUCCESS);
	assert_cuda(CU(cuMemAddressFree)(at, 64 * SEGMENT), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), before);
}

/* As a vector grows: after the old reservation, if that is free. */
static void reservations_side_by_side_are_one(struct fixture *fx)
{
	CUdeviceptr at, more;

	(void)fx;
	begin_cuda(0);
	at = reserve(2 * STEP);
	assert_cuda(
	    CU(cuMemAddressReserve)(&more, 2 * STEP, 0, at + 2 * STEP, 0),
	    SUCCESS);
	assert_int_equal(more, at + 2 * STEP);
	grow(at, 2 * STEP);
	grow(more, 2 * STEP);
	assert_cuda(CU(cuMemsetD32_v2)(at, 3, 4 * STEP / 4), SUCCESS);
	assert_int_equal(word_at(more + STEP), 3);
}

static void rights_are_each_devices_own(struct fixture *fx)
{
	CUmemGenericAllocationHandle h;
	CUmemLocation second = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
	unsigned long long flags;
	unsigned told;
	CUcontext other;
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	h = create(0, STEP);
	at = reserve(STEP);
	assert_cuda(CU(cuMemMap)(at, STEP, 0, h, 0), SUCCESS);
	assert_cuda(allow(at, STEP, 1, READ), SUCCESS);
	assert_cuda(CU(cuMemGetAccess)(&flags, &second, at), SUCCESS);
	assert_int_equal(flags, READ);
	assert_cuda(CU(cuPointerGetAttribute)(
			&told, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at),
		    SUCCESS);
	assert_int_equal(told, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
	assert_cuda(CU(cuPointerGetAttribute)(
			&told, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_cuda(CU(cuPointerGetAttribute)(
			&told, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at),
		    SUCCESS);
	assert_int_equal(told, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
	assert_cuda(CU(cuPointerGetAttribute)(
			&told, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at),
		    SUCCESS);
	assert_int_equal(told, 0);
	assert_cuda(allow(at, STEP, 1, BOTH), SUCCESS);
	assert_cuda(allow(at, STEP, 0, READ), SUCCESS);
	assert_cuda(CU(cuMemGetAccess)(&flags, &second, at), SUCCESS);
	assert_int_equal(flags, BOTH);
	assert_cuda(allow(at, STEP, 2, READ), ERROR_INVALID_DEVICE);
	assert_cuda(allow(at, STEP, 0, 2), ERROR_INVALID_VALUE);
}

static void what_is_written_where_one_may_read_is_a_fault(struct fixture *fx)
{
	CUmemGenericAllocationHandle h;
	CUdeviceptr at, p;

	(void)fx;
	begin_cuda(0);
	h = create(0, STEP);
	at = reserve(STEP);
	assert_cuda(CU(cuMemMap)(at, STEP, 0, h, 0), SUCCESS);
	assert_cuda(allow(at, STEP, 0, READ), SUCCESS);
	assert_int_equal(word_at(at), 0);
	assert_cuda(CU(cuMemsetD32_v2)(at, 1, 1), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuMemAlloc_v2)(&p, 1), ERROR_ILLEGAL_ADDRESS);
}

static const char kernels[] = ".version 7.0\n"
			      ".target sm_50\n"
			      ".address_size 64\n"
			      ".visible .entry copies(.param .u64 from,\n"
			      "	.param .u64 to)\n"
			      "{\n"
			      "	.reg .b64 %a, %b;\n"
			      "	.reg .b32 %v;\n"
			      "	ld.param.u64 %a, [from];\n"
			      "	ld.param.u64 %b, [to];\n"
			      "	ld.global.u32 %v, [%a];\n"
			      "	st.global.u32 [%b], %v;\n"
			      "	ret;\n"
			      "}\n"
			      ".visible .entry adds(.param .u64 from,\n"
			      "	.param .u64 to)\n"
			      "{\n"
			      "	.reg .b64 %b;\n"
			      "	ld.param.u64 %b, [to];\n"
			      "	red.global.add.u32 [%b], 1;\n"
			      "	ret;\n"
			      "}\n";

static CUresult run(const char *name, CUdeviceptr from, CUdeviceptr to)
{
	void *args[] = {&from, &to};
	CUfunction f;
	CUmodule m;

	assert_cuda(CU(cuModuleLoadData)(&m, kernels), SUCCESS);
	assert_cuda(CU(cuModuleGetFunction)(&f, m, name), SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL),
	    SUCCESS);
	return CU(cuCtxSynchronize)();
}

/* One memory at two addresses, of which one is writable. */
static void show_both(CUdeviceptr at)
{
	CUmemGenericAllocationHandle h = create(0, STEP);

	assert_cuda(CU(cuMemMap)(at, STEP, 0, h, 0), SUCCESS);
	assert_cuda(CU(cuMemMap)(at + STEP, STEP, 0, h, 0), SUCCESS);
	assert_cuda(allow(at, STEP, 0, BOTH), SUCCESS);
	assert_cuda(allow(at + STEP, STEP, 0, READ), SUCCESS);
}

static void kernels_write_where_they_may(struct fixture *fx)
{
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	at = reserve(2 * STEP);
	show_both(at);
	assert_cuda(CU(cuMemsetD32_v2)(at, 41, 1), SUCCESS);
	assert_cuda(run("adds", 0, at), SUCCESS);
	assert_cuda(run("copies", at + STEP, at + 8), SUCCESS);
	assert_int_equal(word_at(at + STEP + 8), 42);
	assert_cuda(run("adds", 0, at + STEP), ERROR_ILLEGAL_ADDRESS);
}

static void kernels_write_nowhere_else(struct fixture *fx)
{
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	at = reserve(2 * STEP);
	show_both(at);
	assert_cuda(run("copies", at, at + STEP), ERROR_ILLEGAL_ADDRESS);
}

static void it_belongs_to_no_context(struct fixture *fx)
{
	CUmemGenericAllocationHandle h;
	CUcontext ctx;
	CUdeviceptr at;
	uint64_t held;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	h = create(0, STEP);
	at = reserve(STEP);
	assert_cuda(CU(cuMemMap)(at, STEP, 0, h, 0), SUCCESS);
	assert_cuda(allow(at, STEP, 0, BOTH), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), STEP);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(at, 6, 1), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(ctx), SUCCESS);
	held = gkf_held_bytes(fx->m, 0);
	assert_int_equal(held, STEP);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	assert_int_equal(word_at(at), 6);
	assert_cuda(CU(cuCtxDestroy_v2)(ctx), SUCCESS);
	assert_cuda(CU(cuMemUnmap)(at, STEP), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), STEP);
	assert_cuda(CU(cuMemRelease)(h), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), 0);
}

static void unmapping_waits_for_who_uses_it(struct fixture *fx)
{
	CUdeviceptr at;
	CUstream s;
	uint32_t *host;

	(void)fx;
	begin_cuda(0);
	at = reserve(SEGMENT);
	grow(at, SEGMENT);
	assert_cuda(CU(cuMemHostAlloc)((void **)&host, SEGMENT, 0), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuMemsetD32Async)(at, 8, SEGMENT / 4, s), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(host, at, SEGMENT, s), SUCCESS);
	assert_cuda(CU(cuMemUnmap)(at, SEGMENT), SUCCESS);
	assert_int_equal(host[SEGMENT / 4 - 1], 8);
}

static void there_is_no_more_than_there_is(struct fixture *fx)
{
	CUmemAllocationProp prop = prop_of(0);
	CUmemGenericAllocationHandle h = 5, all;
	size_t left, total;
	uint64_t held;

	begin_cuda(0);
	assert_cuda(CU(cuMemGetInfo_v2)(&left, &total), SUCCESS);
	held = gkf_held_bytes(fx->m, 0);
	assert_cuda(CU(cuMemCreate)(&h, 2 * total & -STEP, &prop, 0),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemCreate)(&all, left & -STEP, &prop, 0), SUCCESS);
	assert_cuda(CU(cuMemCreate)(&h, STEP, &prop, 0), ERROR_OUT_OF_MEMORY);
	assert_int_equal(h, 5);
	assert_cuda(CU(cuMemRelease)(all), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), held);
}

static void hold_much(struct orders *o)
{
	CUdeviceptr at;
	char what;

	begin_cuda(0);
	at = reserve(SEGMENT);
	grow(at, SEGMENT);
	while (read(o->in, &what, 1) == 1)
		peer_write(o->out, &what, 1);
}

static void a_killed_process_leaves_nothing_charged(struct fixture *fx)
{
	struct peer p = peer_start(hold_much);

	peer_do(&p, 'x');
	assert_true(gkf_held_bytes(fx->m, 0) > SEGMENT);
	peer_kill(&p);
	gkf_reap(fx->m, true);
	assert_int_equal(gkf_held_bytes(fx->m, 0), 0);
}

static void properties_that_make_no_sense(struct fixture *fx)
{
	static const struct {
		CUmemAllocationProp prop;
		CUresult says;
	} rows[] = {
#define D {CU_MEM_LOCATION_TYPE_DEVICE, 0}
	    {{.type = CU_MEM_ALLOCATION_TYPE_MANAGED, .location = D},
	     CUDA_ERROR_INVALID_VALUE},
	    {{.type = CU_MEM_ALLOCATION_TYPE_INVALID, .location = D},
	     CUDA_ERROR_INVALID_VALUE},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED}, CUDA_ERROR_INVALID_VALUE},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 2}},
	     CUDA_ERROR_INVALID_DEVICE},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}},
	     CUDA_ERROR_NOT_SUPPORTED},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = D,
	      .requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC},
	     CUDA_ERROR_NOT_SUPPORTED},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = D,
	      .requestedHandleTypes = (CUmemAllocationHandleType)64},
	     CUDA_ERROR_INVALID_VALUE},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = D,
	      .allocFlags = {.gpuDirectRDMACapable = 1}},
	     CUDA_ERROR_NOT_SUPPORTED},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = D,
	      .allocFlags = {.usage = CU_MEM_CREATE_USAGE_TILE_POOL}},
	     CUDA_ERROR_NOT_SUPPORTED},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = D,
	      .allocFlags = {.reserved = {0, 0, 1, 0}}},
	     CUDA_ERROR_INVALID_VALUE},
	    {{.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	      .location = D,
	      .allocFlags = {.compressionType = 2}},
	     CUDA_ERROR_INVALID_VALUE},
	};
	CUmemAllocationProp wish = prop_of(0), told;
	CUmemGenericAllocationHandle h = 5;
	size_t step = 5;

	(void)fx;
	begin_cuda(0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(CU(cuMemCreate)(&h, STEP, &rows[i].prop, 0),
				 rows[i].says);
		assert_int_equal(
		    CU(cuMemGetAllocationGranularity)(&step, &rows[i].prop, 0),
		    rows[i].says);
	}
	assert_int_equal(h, 5);
	assert_int_equal(step, 5);
	/* It reports that nothing was compressed. */
	wish.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
	assert_cuda(CU(cuMemCreate)(&h, STEP, &wish, 0), SUCCESS);
	assert_cuda(CU(cuMemGetAllocationPropertiesFromHandle)(&told, h),
		    SUCCESS);
	assert_int_equal(told.allocFlags.compressionType,
			 CU_MEM_ALLOCATION_COMP_NONE);
	assert_cuda(CU(cuMemGetAllocationGranularity)(&step, &wish, 1),
		    SUCCESS);
	assert_int_equal(step, STEP);
	assert_cuda(CU(cuMemGetAllocationGranularity)(&step, &wish, 2),
		    ERROR_INVALID_VALUE);
}

static uint64_t count_refusals(struct gkf_machine *m)
{
	struct gkf_refused refused;
	uint64_t count = 0;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++)
		if (gkf_refusal_read(m, i, &refused))
			count += refused.count;
	return count;
}

static void what_the_gpu_says_it_has_not_is_no_gap(struct fixture *fx)
{
	CUmemAllocationProp fabric = prop_of(0), rdma = prop_of(0),
			    host = prop_of(0);
	CUmemGenericAllocationHandle h;

	begin_cuda(0);
	fabric.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
	rdma.allocFlags.gpuDirectRDMACapable = 1;
	host.location.type = CU_MEM_LOCATION_TYPE_HOST;
	assert_cuda(CU(cuMemCreate)(&h, STEP, &fabric, 0), ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuMemCreate)(&h, STEP, &rdma, 0), ERROR_NOT_SUPPORTED);
	assert_int_equal(count_refusals(fx->m), 0);
	assert_cuda(CU(cuMemCreate)(&h, STEP, &host, 0), ERROR_NOT_SUPPORTED);
	assert_int_equal(count_refusals(fx->m), 1);
}

static void calls_that_make_no_sense(struct fixture *fx)
{
	CUmemGenericAllocationHandle h;
	CUdeviceptr at, other, p = 5;

	(void)fx;
	begin_cuda(0);
	h = create(0, 2 * STEP);
	at = reserve(4 * STEP);
	assert_cuda(CU(cuMemAddressReserve)(&p, 0, 0, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAddressReserve)(&p, STEP, 3, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAddressReserve)(&p, STEP, 0, 0, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAddressReserve)(&p, 100, 0, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAddressReserve)(&p, 1ULL << 46, 0, 0, 0),
		    ERROR_OUT_OF_MEMORY);
	assert_int_equal(p, 5);
	assert_cuda(CU(cuMemMap)(at, STEP, 2 * STEP, h, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemMap)(at, STEP, 100, h, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemMap)(at, STEP, 0, h, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemMap)(at, STEP, 0, h + 64, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemMap)(at, STEP, 0, 0, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAlloc_v2)(&other, STEP), SUCCESS);
	assert_cuda(CU(cuMemMap)(other, STEP, 0, h, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemRetainAllocationHandle)(&h, (void *)other),
		    ERROR_INVALID_VALUE);
	/* A part of a handle, from its middle. */
	assert_cuda(CU(cuMemMap)(at, STEP, STEP, h, 0), SUCCESS);
	assert_cuda(CU(cuMemSetAccess)(at, STEP, NULL, 1), ERROR_INVALID_VALUE);
	assert_cuda(allow(at, STEP, 0, BOTH), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(at), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeAsync)(at, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemUnmap)(at, 100), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemUnmap)(at, STEP), SUCCESS);
	assert_cuda(CU(cuMemUnmap)(at, STEP), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAddressFree)(at + STEP, 3 * STEP),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAddressFree)(at, 4 * STEP), SUCCESS);
}

int main(int argc, char **argv)
{
	static const struct alone tests[] = {
	    ALONE(a_segment_grows_and_has_holes),
	    ALONE(reservations_side_by_side_are_one),
	    ALONE(rights_are_each_devices_own),
	    ALONE(what_is_written_where_one_may_read_is_a_fault),
	    ALONE(kernels_write_where_they_may),
	    ALONE(kernels_write_nowhere_else),
	    ALONE(it_belongs_to_no_context),
	    ALONE(unmapping_waits_for_who_uses_it),
	    ALONE(there_is_no_more_than_there_is),
	    ALONE(a_killed_process_leaves_nothing_charged),
	    ALONE(properties_that_make_no_sense),
	    ALONE(what_the_gpu_says_it_has_not_is_no_gap),
	    ALONE(calls_that_make_no_sense),
	};

	return alone_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
