/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newer_test.c - checks what drivers of CUDA 13.1 to 13.3 have in addition to
 * those of 13.0.
 */
#define CUDA_DRIVER "610.57.04"
#define CUDA_FRONT  FAKE_DIR "/610/libcuda.so.1"
#include "abi/cuda/cuda_newer.h"
#include "fronts/cuda/loaded.h"

#include <sys/mman.h>

static CUcontext start(struct fixture *fx)
{
	fixture_set_driver(fx, CUDA_DRIVER);
	return begin();
}

static CUdeviceptr words(void)
{
	CUdeviceptr at;

	assert_cuda(CU(cuMemAlloc_v2)(&at, 64), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(at, 0, 64), SUCCESS);
	return at;
}

/* CUstreamBatchMemOpParams.atomicReduction. */
struct reduction {
	CUstreamBatchMemOpType operation;
	unsigned int flags;
	CUstreamAtomicReductionOpType reductionOp;
	CUstreamAtomicReductionDataType dataType;
	CUdeviceptr address;
	cuuint64_t value;
	CUdeviceptr alias;
};

static CUresult reduce(CUdeviceptr at, int op, int type, uint64_t value,
		       unsigned flags)
{
	struct reduction params = {
	    .operation =
		(CUstreamBatchMemOpType)CU_STREAM_MEM_OP_ATOMIC_REDUCTION,
	    .flags = flags,
	    .reductionOp = (CUstreamAtomicReductionOpType)op,
	    .dataType = (CUstreamAtomicReductionDataType)type,
	    .address = at,
	    .value = value};
	CUstreamBatchMemOpParams given = {0};

	memcpy(&given, &params, sizeof params);
	return CU(cuStreamBatchMemOp_v2)(NULL, 1, &given, 0);
}

#define U32 CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32
#define U64 CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64
#define ADD CU_STREAM_ATOMIC_REDUCTION_OP_ADD
#define AND CU_STREAM_ATOMIC_REDUCTION_OP_AND
#define OR  CU_STREAM_ATOMIC_REDUCTION_OP_OR

static void streams_reduce_words(struct fixture *fx)
{
	CUdeviceptr at;
	uint64_t now = 0;

	start(fx);
	at = words();
	/* 32 bits wrap around and leave the next word alone. */
	assert_cuda(reduce(at, ADD, U32, 0xffffffff, 0), SUCCESS);
	assert_cuda(reduce(at, ADD, U32, 0x11, 0), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&now, at, 8), SUCCESS);
	assert_int_equal(now, 0x10);
	assert_cuda(reduce(at, ADD, U64, 0xfffffffff0, 0), SUCCESS);
	assert_cuda(reduce(at, OR, U64, 0x8000000000000000, 0), SUCCESS);
	assert_cuda(reduce(at, AND, U64, 0xff00000000ff00ff, 0), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&now, at, 8), SUCCESS);
	/*
	 * 10 + fffffffff0 = 10000000000, without the bits that the mask lacks
	 */
	assert_int_equal(now, 0x8000000000000000);
	assert_cuda(reduce(at, OR, U32, 5, 1), ERROR_INVALID_VALUE);
	assert_cuda(reduce(at, 7, U32, 5, 0), ERROR_INVALID_VALUE);
	assert_cuda(reduce(at, OR, 9, 5, 0), ERROR_INVALID_VALUE);
	assert_cuda(reduce(at + 2, OR, U32, 5, 0), ERROR_INVALID_VALUE);
	assert_cuda(reduce(at + 4, OR, U64, 5, 0), ERROR_INVALID_VALUE);
	assert_cuda(reduce(4096, OR, U32, 5, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&now, at, 8), SUCCESS);
	assert_int_equal(now, 0x8000000000000000);
}

/* Attributes and operations of 13.1 and of 13.3, by driver. */
static void older_drivers_know_less(struct fixture *fx)
{
	static const struct {
		const char *driver, *version;
		CUresult of_13_1, of_13_3;
	} told[] = {
	    {"610", "610.57.04", CUDA_SUCCESS, CUDA_SUCCESS},
	    {"590", "590.48.01", CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE},
	    {"580", "580.95.05", CUDA_ERROR_INVALID_VALUE,
	     CUDA_ERROR_INVALID_VALUE},
	};
	char path[512];
	int value;

	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		CUfunction f;

		snprintf(path, sizeof path, FAKE_DIR "/%s/libcuda.so.1",
			 told[i].driver);
		fixture_set_driver(fx, told[i].version);
		cuda_load(path);
		begin();
		f = function_in(module_of("vector_add_13.ptx"), "vector_add");
		assert_int_equal(
		    CU(cuDeviceGetAttribute)(
			&value,
			(CUdevice_attribute)
			    CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED,
			0),
		    told[i].of_13_1);
		assert_int_equal(
		    CU(cuDeviceGetAttribute)(
			&value,
			(CUdevice_attribute)
			    CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED,
			0),
		    told[i].of_13_3);
		assert_int_equal(
		    CU(cuFuncGetAttribute)(
			&value,
			(CUfunction_attribute)
			    CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED,
			f),
		    told[i].of_13_3);
		assert_int_equal(reduce(words(), ADD, U32, 1, 0),
				 told[i].of_13_1);
	}
}

static void parameters_are_counted(struct fixture *fx)
{
	CUlibrary library;
	CUkernel kernel;
	size_t count = 0;
	void *image;

	start(fx);
	assert_cuda(
	    CU(cuFuncGetParamCount)(
		function_in(module_of("vector_add_13.ptx"), "vector_add"),
		&count),
	    SUCCESS);
	assert_int_equal(count, 4);
	image = data_file("vector_add_13.ptx");
	assert_cuda(CU(cuLibraryLoadData)(&library, image, NULL, NULL, 0, NULL,
					  NULL, 0),
		    SUCCESS);
	assert_cuda(CU(cuLibraryGetKernel)(&kernel, library, "vector_add"),
		    SUCCESS);
	count = 0;
	assert_cuda(CU(cuKernelGetParamCount)(kernel, &count), SUCCESS);
	assert_int_equal(count, 4);
	assert_cuda(CU(cuKernelGetParamCount)(kernel, NULL),
		    ERROR_INVALID_VALUE);
	free(image);
}

/* Unlike batches, also in the legacy stream. */
static void copies_take_attributes(struct fixture *fx)
{
	CUmemcpyAttributes order = {.srcAccessOrder =
					CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUDA_MEMCPY3D_BATCH_OP op = {
	    .src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
	    .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
	    .extent = {8, 2, 1},
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	unsigned char back[64];
	CUdeviceptr at;

	start(fx);
	at = words();
	assert_cuda(CU(cuMemsetD8_v2)(at, 7, 16), SUCCESS);
	assert_cuda(
	    CU(cuMemcpyWithAttributesAsync)(at + 16, at, 8, &order, NULL),
	    SUCCESS);
	op.src.op.ptr.ptr = at;
	op.dst.op.ptr.ptr = at + 32;
	assert_cuda(CU(cuMemcpy3DWithAttributesAsync)(&op, 0, NULL), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(back, at, 64), SUCCESS);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(back[i],
				 i < 24 || (i >= 32 && i < 48) ? 7 : 0);
	order.srcAccessOrder = (CUmemcpySrcAccessOrder)9;
	assert_cuda(CU(cuMemcpyWithAttributesAsync)(at, at, 8, &order, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyWithAttributesAsync)(at, at, 8, NULL, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpy3DWithAttributesAsync)(&op, 1, NULL),
		    ERROR_INVALID_VALUE);
}

static void count(void *data)
{
	++*(unsigned *)data;
}

static void host_functions_have_a_mode(struct fixture *fx)
{
	unsigned calls = 0;

	start(fx);
	assert_cuda(
	    CU(cuLaunchHostFunc_v2)(NULL, count, &calls, CU_HOST_TASK_BLOCKING),
	    SUCCESS);
	assert_cuda(
	    CU(cuLaunchHostFunc_v2)(NULL, count, &calls, CU_HOST_TASK_SPINWAIT),
	    SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc_v2)(NULL, count, &calls, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_int_equal(calls, 2);
}

/*
 * A kernel of a library, in a stream of another context than the current one.
 */
static void a_kernel_runs_where_its_stream_is(struct fixture *fx)
{
	CUcontext here, there;
	CUlibrary library;
	CUkernel kernel;
	CUstream stream;
	CUdeviceptr none = 0;
	int n = 0;
	void *image = data_file("vector_add_13.ptx"),
	     *params[] = {&none, &none, &none, &n};

	here = start(fx);
	assert_cuda(CU(cuCtxCreate_v2)(&there, 0, 1), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(here), SUCCESS);
	assert_cuda(CU(cuLibraryLoadData)(&library, image, NULL, NULL, 0, NULL,
					  NULL, 0),
		    SUCCESS);
	assert_cuda(CU(cuLibraryGetKernel)(&kernel, library, "vector_add"),
		    SUCCESS);
	assert_cuda(CU(cuLaunchKernel)((CUfunction)(void *)kernel, 1, 1, 1, 1,
				       1, 1, 0, stream, params, NULL),
		    SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	free(image);
}

static CUgraphNode memset_added(CUgraph graph, const CUgraphNode *after,
				CUcontext ctx, CUdeviceptr at)
{
	const CUDA_MEMSET_NODE_PARAMS params = {.dst = at,
						.value = 0x1234,
						.elementSize = 4,
						.width = 3,
						.height = 1};
	CUgraphNode node = NULL;

	assert_cuda(CU(cuGraphAddMemsetNode)(&node, graph, after, !!after,
					     &params, ctx),
		    SUCCESS);
	return node;
}

/* The picture that is drawn of a graph; the caller frees it. */
static char *drawn(CUgraph graph)
{
	int file = memfd_create("dot", 0);
	char path[64], *text = calloc(1, 8192);

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	assert_cuda(CU(cuGraphDebugDotPrint)(graph, path, 0), SUCCESS);
	assert_true(pread(file, text, 8191, 0) > 0);
	close(file);
	return text;
}

static void
graphs_and_nodes_have_the_numbers_of_their_picture(struct fixture *fx)
{
	CUcontext ctx = start(fx);
	CUdeviceptr at = words();
	unsigned graphs[3], locals[2];
	unsigned long long tools[2];
	CUgraph one, two, found = NULL;
	CUgraphExec exec = NULL;
	CUgraphNode a, b;
	char *text, wanted[128];

	assert_cuda(CU(cuGraphCreate)(&one, 0), SUCCESS);
	assert_cuda(CU(cuGraphCreate)(&two, 0), SUCCESS);
	a = memset_added(two, NULL, ctx, at);
	b = memset_added(two, &a, ctx, at);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, two, 0), SUCCESS);
	assert_cuda(CU(cuGraphGetId)(one, &graphs[0]), SUCCESS);
	assert_cuda(CU(cuGraphGetId)(two, &graphs[1]), SUCCESS);
	assert_cuda(CU(cuGraphExecGetId)(exec, &graphs[2]), SUCCESS);
	assert_true(graphs[0] != graphs[1] && graphs[1] != graphs[2] &&
		    graphs[0] != graphs[2]);
	assert_cuda(CU(cuGraphNodeGetLocalId)(a, &locals[0]), SUCCESS);
	assert_cuda(CU(cuGraphNodeGetLocalId)(b, &locals[1]), SUCCESS);
	assert_cuda(CU(cuGraphNodeGetToolsId)(a, &tools[0]), SUCCESS);
	assert_cuda(CU(cuGraphNodeGetToolsId)(b, &tools[1]), SUCCESS);
	assert_true(tools[0] != tools[1]);
	assert_cuda(CU(cuGraphNodeGetContainingGraph)(b, &found), SUCCESS);
	assert_ptr_equal(found, two);

	text = drawn(two);
	snprintf(wanted, sizeof wanted,
		 "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"", graphs[1],
		 locals[0], graphs[1], locals[1]);
	assert_non_null(strstr(text, wanted));
	free(text);

	/* The number of a node stays when another one is destroyed. */
	assert_cuda(CU(cuGraphDestroyNode)(a), SUCCESS);
	assert_cuda(CU(cuGraphNodeGetLocalId)(b, &locals[0]), SUCCESS);
	assert_int_equal(locals[0], locals[1]);
	assert_cuda(CU(cuGraphNodeGetLocalId)(a, &locals[0]),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphGetId)(one, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphExecGetId)((CUgraphExec)two, &graphs[0]),
		    ERROR_INVALID_VALUE);
}

static void nodes_tell_their_parameters(struct fixture *fx)
{
	CUcontext ctx = start(fx);
	CUdeviceptr at = words();
	CUgraphNodeParams params = {0};
	CUgraph graph;
	CUgraphNode node;

	assert_cuda(CU(cuGraphCreate)(&graph, 0), SUCCESS);
	node = memset_added(graph, NULL, ctx, at);
	assert_cuda(CU(cuGraphNodeGetParams)(node, &params), SUCCESS);
	assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_MEMSET);
	assert_int_equal(params.memset.dst, at);
	assert_int_equal(params.memset.value, 0x1234);
	assert_int_equal(params.memset.width, 3);
	assert_cuda(CU(cuGraphNodeGetParams)(node, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphNodeGetParams)((CUgraphNode)graph, &params),
		    ERROR_INVALID_VALUE);
}

static const struct alone tests[] = {
    ALONE(streams_reduce_words),
    ALONE(older_drivers_know_less),
    ALONE(parameters_are_counted),
    ALONE(copies_take_attributes),
    ALONE(host_functions_have_a_mode),
    ALONE(a_kernel_runs_where_its_stream_is),
    ALONE(graphs_and_nodes_have_the_numbers_of_their_picture),
    ALONE(nodes_tell_their_parameters),
};

ALONE_MAIN(tests)
