/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - graph nodes whose parameters differ from the driver's: host stubs
 * stand for kernels, and copies have the runtime's structs.
 */
#include "fronts/cudart/memory/box.h"
#include "fronts/cudart/kernel/function.h"

#include <string.h>

static cudaError_t current_context(CUcontext *ret_context)
{
	return runtime_result(legacy->cuCtxGetCurrent(ret_context));
}

/* ---- kernels ---- */

static cudaError_t driver_kernel(const struct cudaKernelNodeParams *p,
				 CUDA_KERNEL_NODE_PARAMS *ret)
{
	CUkernel kernel;

	ENTER_CONTEXT();
	REQUIRE(p, cudaErrorInvalidValue);
	TRY(function_kernel(p->func, &kernel));
	*ret = (CUDA_KERNEL_NODE_PARAMS){
	    .kern = kernel,
	    .gridDimX = p->gridDim.x,
	    .gridDimY = p->gridDim.y,
	    .gridDimZ = p->gridDim.z,
	    .blockDimX = p->blockDim.x,
	    .blockDimY = p->blockDim.y,
	    .blockDimZ = p->blockDim.z,
	    .sharedMemBytes = p->sharedMemBytes,
	    .kernelParams = p->kernelParams,
	    .extra = p->extra,
	};
	return current_context(&ret->ctx);
}

/* The host stub of a kernel, or its handle if it has no stub. */
static void *stub_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct entry *e = registry_of_kernel(p->kern);

	if (e)
		return (void *)(uintptr_t)e->host;
	return p->kern ? (void *)p->kern : (void *)p->func;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode,
				   cudaGraph_t graph,
				   const cudaGraphNode_t *pDependencies,
				   size_t numDependencies,
				   const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS own;

	TRY(driver_kernel(p, &own));
	return runtime_result(legacy->cuGraphAddKernelNode_v2(
	    pGraphNode, graph, pDependencies, numDependencies, &own));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
					 const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS own;

	TRY(driver_kernel(p, &own));
	return runtime_result(
	    legacy->cuGraphKernelNodeSetParams_v2(node, &own));
}

cudaError_t
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec,
				 cudaGraphNode_t node,
				 const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS own;

	TRY(driver_kernel(p, &own));
	return runtime_result(
	    legacy->cuGraphExecKernelNodeSetParams_v2(hGraphExec, node, &own));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
					 struct cudaKernelNodeParams *ret)
{
	CUDA_KERNEL_NODE_PARAMS own;

	ENTER();
	REQUIRE(ret, cudaErrorInvalidValue);
	TRY(runtime_result(legacy->cuGraphKernelNodeGetParams_v2(node, &own)));
	*ret = (struct cudaKernelNodeParams){
	    .func = stub_of(&own),
	    .gridDim = {own.gridDimX, own.gridDimY, own.gridDimZ},
	    .blockDim = {own.blockDimX, own.blockDimY, own.blockDimZ},
	    .sharedMemBytes = own.sharedMemBytes,
	    .kernelParams = own.kernelParams,
	    .extra = own.extra,
	};
	return cudaSuccess;
}

/* ---- copies ---- */

/* A copy and the context in which it runs. */
struct request {
	CUDA_MEMCPY3D copy;
	CUcontext context;
};

static cudaError_t request_3d(struct request *ret,
			      const struct cudaMemcpy3DParms *p)
{
	ENTER_CONTEXT();
	REQUIRE(p, cudaErrorInvalidValue);
	TRY(box_request_3d(p, &ret->copy));
	return current_context(&ret->context);
}

/* A copy of contiguous bytes. */
static cudaError_t request_row(struct request *ret, void *dst, const void *src,
			       size_t count, enum cudaMemcpyKind kind)
{
	struct end to = {.at = dst, .pitch = count, .rows = 1};
	struct end from = {.at = src, .pitch = count, .rows = 1};

	ENTER_CONTEXT();
	TRY(box_request(&to, &from, (struct box){count, 1, 1}, kind,
			&ret->copy));
	return current_context(&ret->context);
}

static cudaError_t request_to_symbol(struct request *ret, const void *symbol,
				     const void *src, size_t count,
				     size_t offset, enum cudaMemcpyKind kind)
{
	char *at = NULL;

	TRY(symbol_find_part(&at, symbol, count, offset, kind,
			     cudaMemcpyHostToDevice));
	return request_row(ret, at, src, count, kind);
}

static cudaError_t request_from_symbol(struct request *ret, void *dst,
				       const void *symbol, size_t count,
				       size_t offset, enum cudaMemcpyKind kind)
{
	char *at = NULL;

	TRY(symbol_find_part(&at, symbol, count, offset, kind,
			     cudaMemcpyDeviceToHost));
	return request_row(ret, dst, at, count, kind);
}

/*
 * Defines the three functions for one form of copy parameters: COPIES(suffix,
 * function that converts the parameters, their declarations, their names).
 */
#define COPIES(suffix, read, given, names)                                     \
	cudaError_t cudaGraphAddMemcpyNode##suffix(                            \
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph,                    \
	    const cudaGraphNode_t *pDependencies, size_t numDependencies,      \
	    UNWRAP given)                                                      \
	{                                                                      \
		struct request r;                                              \
                                                                               \
		TRY(read(&r, UNWRAP names));                                   \
		return runtime_result(legacy->cuGraphAddMemcpyNode(            \
		    pGraphNode, graph, pDependencies, numDependencies,         \
		    &r.copy, r.context));                                      \
	}                                                                      \
	cudaError_t cudaGraphMemcpyNodeSetParams##suffix(cudaGraphNode_t node, \
							 UNWRAP given)         \
	{                                                                      \
		struct request r;                                              \
                                                                               \
		TRY(read(&r, UNWRAP names));                                   \
		return runtime_result(                                         \
		    legacy->cuGraphMemcpyNodeSetParams(node, &r.copy));        \
	}                                                                      \
	cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(                  \
	    cudaGraphExec_t hGraphExec, cudaGraphNode_t node, UNWRAP given)    \
	{                                                                      \
		struct request r;                                              \
                                                                               \
		TRY(read(&r, UNWRAP names));                                   \
		return runtime_result(legacy->cuGraphExecMemcpyNodeSetParams(  \
		    hGraphExec, node, &r.copy, r.context));                    \
	}

COPIES(, request_3d, (const struct cudaMemcpy3DParms *p), (p))
COPIES(1D, request_row,
       (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
       (dst, src, count, kind))
COPIES(ToSymbol, request_to_symbol,
       (const void *symbol, const void *src, size_t count, size_t offset,
	enum cudaMemcpyKind kind),
       (symbol, src, count, offset, kind))
COPIES(FromSymbol, request_from_symbol,
       (void *dst, const void *symbol, size_t count, size_t offset,
	enum cudaMemcpyKind kind),
       (dst, symbol, count, offset, kind))

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
					 struct cudaMemcpy3DParms *ret)
{
	CUDA_MEMCPY3D own;

	ENTER_CONTEXT();
	REQUIRE(ret, cudaErrorInvalidValue);
	TRY(runtime_result(legacy->cuGraphMemcpyNodeGetParams(node, &own)));
	return box_params_3d(&own, ret);
}

/* ---- memset ---- */

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode,
				   cudaGraph_t graph,
				   const cudaGraphNode_t *pDependencies,
				   size_t numDependencies,
				   const struct cudaMemsetParams *p)
{
	CUcontext context;

	ENTER_CONTEXT();
	TRY(current_context(&context));
	return runtime_result(legacy->cuGraphAddMemsetNode(
	    pGraphNode, graph, pDependencies, numDependencies,
	    (const CUDA_MEMSET_NODE_PARAMS *)p, context));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec,
					     cudaGraphNode_t node,
					     const struct cudaMemsetParams *p)
{
	CUcontext context;

	ENTER_CONTEXT();
	TRY(current_context(&context));
	return runtime_result(legacy->cuGraphExecMemsetNodeSetParams(
	    hGraphExec, node, (const CUDA_MEMSET_NODE_PARAMS *)p, context));
}

/* ---- nodes of any type ---- */

static cudaError_t driver_any_kernel(const struct cudaGraphNodeParams *p,
				     CUgraphNodeParams *ret)
{
	CUDA_KERNEL_NODE_PARAMS own;

	/* Both versions of the struct have the same layout. */
	TRY(driver_kernel((const struct cudaKernelNodeParams *)&p->kernel,
			  &own));
	memcpy(&ret->kernel, &own, sizeof own);
	return cudaSuccess;
}

static cudaError_t driver_any_copy(const struct cudaGraphNodeParams *p,
				   CUgraphNodeParams *ret)
{
	struct request r;

	TRY(request_3d(&r, &p->memcpy.copyParams));
	ret->memcpy = (CUDA_MEMCPY_NODE_PARAMS){
	    .flags = p->memcpy.flags,
	    .reserved = p->memcpy.reserved[0] | p->memcpy.reserved[1] |
			p->memcpy.reserved[2],
	    .copyCtx = r.context,
	    .copyParams = r.copy,
	};
	return cudaSuccess;
}

/* The driver's parameters also have the context. */
static cudaError_t driver_params(const struct cudaGraphNodeParams *p,
				 CUgraphNodeParams *ret)
{
	ENTER_CONTEXT();
	REQUIRE(p, cudaErrorInvalidValue);
	memset(ret, 0, sizeof *ret);
	ret->type = (CUgraphNodeType)p->type;
	switch (p->type) {
	case cudaGraphNodeTypeKernel:
		return driver_any_kernel(p, ret);
	case cudaGraphNodeTypeMemcpy:
		return driver_any_copy(p, ret);
	case cudaGraphNodeTypeMemset:
		memcpy(&ret->memset, &p->memset, sizeof p->memset);
		return current_context(&ret->memset.ctx);
	case cudaGraphNodeTypeConditional:
		memcpy(&ret->conditional, &p->conditional,
		       sizeof p->conditional);
		return current_context(&ret->conditional.ctx);
	case cudaGraphNodeTypeHost:
	case cudaGraphNodeTypeGraph:
	case cudaGraphNodeTypeEmpty:
	case cudaGraphNodeTypeWaitEvent:
	case cudaGraphNodeTypeEventRecord:
	case cudaGraphNodeTypeExtSemaphoreSignal:
	case cudaGraphNodeTypeExtSemaphoreWait:
	case cudaGraphNodeTypeMemAlloc:
	case cudaGraphNodeTypeMemFree:
		memcpy(ret, p, sizeof *ret);
		return cudaSuccess;
	case cudaGraphNodeTypeCount:
		break;
	}
	return cudart_fail(cudaErrorInvalidValue);
}

/* Stores the outputs: the address of an allocation, the graphs of a conditional
 * node. */
static void write_outputs(struct cudaGraphNodeParams *ret,
			  const CUgraphNodeParams *own)
{
	if (ret->type == cudaGraphNodeTypeMemAlloc)
		ret->alloc.dptr = (void *)own->alloc.dptr;
	if (ret->type == cudaGraphNodeTypeConditional)
		ret->conditional.phGraph_out = own->conditional.phGraph_out;
}

static cudaError_t add_node(cudaGraphNode_t *ret_node, cudaGraph_t graph,
			    const cudaGraphNode_t *deps,
			    const cudaGraphEdgeData *data, size_t count,
			    struct cudaGraphNodeParams *params)
{
	CUgraphNodeParams own;
	CUresult r;

	TRY(driver_params(params, &own));
	r = data ? legacy->cuGraphAddNode_v2(ret_node, graph, deps,
					     (const CUgraphEdgeData *)data,
					     count, &own)
		 : legacy->cuGraphAddNode(ret_node, graph, deps, count, &own);
	TRY(runtime_result(r));
	write_outputs(params, &own);
	return cudaSuccess;
}

#if CUDART_MAJOR == 12
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
			     const cudaGraphNode_t *pDependencies,
			     size_t numDependencies,
			     struct cudaGraphNodeParams *nodeParams)
{
	return add_node(pGraphNode, graph, pDependencies, NULL, numDependencies,
			nodeParams);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				const cudaGraphNode_t *pDependencies,
				const cudaGraphEdgeData *dependencyData,
				size_t numDependencies,
				struct cudaGraphNodeParams *nodeParams)
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
			     const cudaGraphNode_t *pDependencies,
			     const cudaGraphEdgeData *dependencyData,
			     size_t numDependencies,
			     struct cudaGraphNodeParams *nodeParams)
#endif
{
	return add_node(pGraphNode, graph, pDependencies, dependencyData,
			numDependencies, nodeParams);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
				   struct cudaGraphNodeParams *nodeParams)
{
	CUgraphNodeParams own;

	TRY(driver_params(nodeParams, &own));
	return runtime_result(legacy->cuGraphNodeSetParams(node, &own));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec,
				       cudaGraphNode_t node,
				       struct cudaGraphNodeParams *nodeParams)
{
	CUgraphNodeParams own;

	TRY(driver_params(nodeParams, &own));
	return runtime_result(
	    legacy->cuGraphExecNodeSetParams(graphExec, node, &own));
}

cudaError_t cudaGraphConditionalHandleCreate(
    cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
    unsigned int defaultLaunchValue, unsigned int flags)
{
	CUcontext context;

	ENTER_CONTEXT();
	TRY(current_context(&context));
	return runtime_result(legacy->cuGraphConditionalHandleCreate(
	    (CUgraphConditionalHandle *)pHandle_out, graph, context,
	    defaultLaunchValue, flags));
}
