/* SPDX-License-Identifier: Apache-2.0 */
/*
 * right_graph.c - makes correct arguments for functions of graphs; see right.h.
 * The name of a function says which type of node it needs.
 */
#include "fronts/cuda/cuda_test.h"
#include "fronts/cuda/right_graph.h"

static struct {
	CUgraph graph, other, clone, memory;
	CUgraphExec exec;
	CUuserObject object;
	CUgraphNode kernel, second, memcpy, memset, host, values, record, wait,
	    child, alloc, free;
	CUdeviceptr allocated;
	int nothing, one, host_type;
	const char *path;
} things;

static CUstream stream;
static CUcontext ctx;
static CUfunction function;
static CUdeviceptr device_memory;
static CUevent event;

/* By the beginning of a function's name and the name of its parameter. */
static const struct {
	const char *symbol, *name;
	const void *value;
	size_t size;
} rows[] = {
#define ROW(symbol, name, thing)                                               \
	{                                                                      \
		symbol, name, &things.thing, sizeof things.thing               \
	}
    ROW("cuGraphAddChildGraphNode", "childGraph", other),
    ROW("cuGraphAddMemFreeNode", "dptr", allocated),
    ROW("cuGraphAddMemFreeNode", "hGraph", memory),
    ROW("cuGraphAddMemFreeNode", "numDependencies", nothing),
    ROW("cuGraphBatchMemOpNode", "hNode", values),
    ROW("cuGraphChildGraphNode", "hNode", child),
    ROW("cuGraphDebugDotPrint", "path", path),
    ROW("cuGraphDestroy", "hGraph", other),
    ROW("cuGraphDestroyNode", "hNode", second),
    ROW("cuGraphEventRecordNode", "hNode", record),
    ROW("cuGraphEventWaitNode", "hNode", wait),
    ROW("cuGraphExecBatchMemOpNode", "hNode", values),
    ROW("cuGraphExecChildGraphNode", "hNode", child),
    ROW("cuGraphExecChildGraphNode", "childGraph", other),
    ROW("cuGraphExecEventRecordNode", "hNode", record),
    ROW("cuGraphExecEventWaitNode", "hNode", wait),
    ROW("cuGraphExecHostNode", "hNode", host),
    ROW("cuGraphExecMemcpyNode", "hNode", memcpy),
    ROW("cuGraphExecMemsetNode", "hNode", memset),
    ROW("cuGraphExecNode", "hNode", host),
    ROW("cuGraphHostNode", "hNode", host),
    ROW("cuGraphMemAllocNode", "hNode", alloc),
    ROW("cuGraphMemFreeNode", "hNode", free),
    ROW("cuGraphMemcpyNode", "hNode", memcpy),
    ROW("cuGraphMemsetNode", "hNode", memset),
    ROW("cuGraphNodeFindInClone", "hClonedGraph", clone),
    ROW("cuGraphNodeSetParams", "hNode", host),
    ROW("cuGraphKernelNode", "attr", one),
    ROW("cuStreamUpdateCaptureDependencies", "numDependencies", nothing),
    ROW("cuUserObjectCreate", "flags", one),
    ROW("", "dst", second),
    ROW("", "src", kernel),
    ROW("", "hNode", kernel),
    ROW("", "hOriginalNode", kernel),
    ROW("", "hGraphExec", exec),
    ROW("cuGraphLaunch", "hGraph", exec),
    ROW("cuGraphUpload", "hGraph", exec),
    ROW("", "hGraph", graph),
    ROW("", "graph", graph),
    ROW("", "originalGraph", graph),
    ROW("", "object", object),
#undef ROW
};

bool right_graph_value(const char *symbol, const struct arg *a,
		       uint64_t *ret_value)
{
	if (strncmp(symbol, "cuGraph", 7) != 0 && !strstr(symbol, "Capture") &&
	    !strstr(symbol, "UserObject"))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].name, a->name) ||
		    strncmp(symbol, rows[i].symbol, strlen(rows[i].symbol)))
			continue;
		*ret_value = 0;
		memcpy(ret_value, rows[i].value, rows[i].size);
		return true;
	}
	return false;
}

/* ---- what pointers lead to ---- */

static CUDA_KERNEL_NODE_PARAMS kernel_params(void)
{
	static uint64_t parameter;
	static void *parameters[] = {&parameter};

	return (CUDA_KERNEL_NODE_PARAMS){.func = function,
					 .gridDimX = 1,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = 1,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .kernelParams = parameters};
}

static CUstreamBatchMemOpParams *write_value(void)
{
	static CUstreamBatchMemOpParams op;

	op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	op.writeValue.address = device_memory;
	return &op;
}

static void fill_kernel(void *at)
{
	*(CUDA_KERNEL_NODE_PARAMS *)at = kernel_params();
}

static void fill_memset(void *at)
{
	*(CUDA_MEMSET_NODE_PARAMS *)at = (CUDA_MEMSET_NODE_PARAMS){
	    .dst = device_memory, .elementSize = 4, .width = 16, .height = 1};
}

static void fill_host(void *at)
{
	*(CUDA_HOST_NODE_PARAMS *)at =
	    (CUDA_HOST_NODE_PARAMS){(CUhostFn)right_callback, NULL};
}

static void fill_values(void *at)
{
	*(CUDA_BATCH_MEM_OP_NODE_PARAMS *)at =
	    (CUDA_BATCH_MEM_OP_NODE_PARAMS){ctx, 1, write_value(), 0};
}

static void fill_alloc(void *at)
{
	*(CUDA_MEM_ALLOC_NODE_PARAMS *)at = (CUDA_MEM_ALLOC_NODE_PARAMS){
	    .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
	    .bytesize = 4096};
}

static void fill_any(void *at)
{
	CUgraphNodeParams *p = at;

	p->type = CU_GRAPH_NODE_TYPE_HOST;
	p->host.fn = (CUhostFn)right_callback;
}

static void fill_first(void *at)
{
	*(CUgraphNode *)at = things.kernel;
}

static void fill_second(void *at)
{
	*(CUgraphNode *)at = things.second;
}

static const struct {
	const char *type, *name;
	void (*fill)(void *at);
} fills[] = {
    {"const CUDA_KERNEL_NODE_PARAMS_v1 *", NULL, fill_kernel},
    {"const CUDA_KERNEL_NODE_PARAMS *", NULL, fill_kernel},
    {"const CUDA_MEMSET_NODE_PARAMS *", NULL, fill_memset},
    {"const CUDA_HOST_NODE_PARAMS *", NULL, fill_host},
    {"const CUDA_BATCH_MEM_OP_NODE_PARAMS *", NULL, fill_values},
    {"CUDA_MEM_ALLOC_NODE_PARAMS *", NULL, fill_alloc},
    {"CUgraphNodeParams *", NULL, fill_any},
    {"const CUgraphNode *", "to", fill_second},
    {"const CUgraphNode *", NULL, fill_first},
};

bool right_graph_fill(const struct arg *a, void *at)
{
	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
		if (!strcmp(fills[i].type, a->type) &&
		    (!fills[i].name || !strcmp(fills[i].name, a->name))) {
			fills[i].fill(at);
			return true;
		}
	return false;
}

/* ---- the objects ---- */

static void make_nodes(void)
{
	CUDA_KERNEL_NODE_PARAMS kernel = kernel_params();
	CUDA_MEMSET_NODE_PARAMS set;
	CUDA_HOST_NODE_PARAMS host;
	CUDA_BATCH_MEM_OP_NODE_PARAMS values;
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcDevice = device_memory,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstDevice = device_memory + 4096,
			      .WidthInBytes = 16,
			      .Height = 1,
			      .Depth = 1};

	fill_memset(&set);
	fill_host(&host);
	fill_values(&values);
	CU(cuGraphAddKernelNode_v2)
	(&things.kernel, things.graph, NULL, 0, &kernel);
	CU(cuGraphAddKernelNode_v2)
	(&things.second, things.graph, NULL, 0, &kernel);
	CU(cuGraphAddMemcpyNode)
	(&things.memcpy, things.graph, NULL, 0, &copy, ctx);
	CU(cuGraphAddMemsetNode)
	(&things.memset, things.graph, NULL, 0, &set, ctx);
	CU(cuGraphAddHostNode)(&things.host, things.graph, NULL, 0, &host);
	CU(cuGraphAddBatchMemOpNode)
	(&things.values, things.graph, NULL, 0, &values);
	CU(cuGraphAddEventRecordNode)
	(&things.record, things.graph, NULL, 0, event);
	CU(cuGraphAddEventWaitNode)(&things.wait, things.graph, NULL, 0, event);
	CU(cuGraphAddChildGraphNode)
	(&things.child, things.graph, NULL, 0, things.other);
}

static void make_memory(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS p;
	CUdeviceptr freed;

	fill_alloc(&p);
	CU(cuGraphCreate)(&things.memory, 0);
	CU(cuGraphAddMemAllocNode)(&things.alloc, things.memory, NULL, 0, &p);
	freed = p.dptr;
	CU(cuGraphAddMemFreeNode)(&things.free, things.memory, NULL, 0, freed);
	fill_alloc(&p);
	CU(cuGraphAddMemAllocNode)(&things.alloc, things.memory, NULL, 0, &p);
	things.allocated = p.dptr;
}

void right_graph_make(void *library, CUcontext in, CUstream s, CUevent e,
		      CUfunction f, CUdeviceptr at)
{
	cuda_library = library;
	ctx = in;
	stream = s;
	event = e;
	function = f;
	device_memory = at;
	things.one = 1;
	things.path = "/dev/null";
	CU(cuGraphCreate)(&things.graph, 0);
	CU(cuGraphCreate)(&things.other, 0);
	make_nodes();
	make_memory();
	CU(cuGraphClone)(&things.clone, things.graph);
	CU(cuGraphInstantiateWithFlags)(&things.exec, things.graph, 0);
	CU(cuUserObjectCreate)
	(&things.object, NULL, (CUhostFn)right_callback, 8,
	 CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
}

/* ---- what must be done first ---- */

static void begin_capture(void)
{
	CU(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void put_edge(void)
{
	CU(cuGraphAddDependencies)
	(things.graph, &things.kernel, &things.second, 1);
}

static void hold_object(void)
{
	CU(cuGraphRetainUserObject)(things.graph, things.object, 1, 0);
}

void right_graph_before(const char *symbol)
{
	if (!strncmp(symbol, "cuStreamEndCapture", 18) ||
	    !strncmp(symbol, "cuStreamUpdateCapture", 21))
		begin_capture();
	if (!strncmp(symbol, "cuGraphRemoveDependencies", 25))
		put_edge();
	if (!strcmp(symbol, "cuGraphReleaseUserObject"))
		hold_object();
}
