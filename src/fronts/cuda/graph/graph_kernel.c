/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_kernel.c - kernel nodes: function, launch shape, attributes and
 * parameters of a kernel.
 */
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/module/launch.h"

#include <stdlib.h>
#include <string.h>

struct kernel {
	CUfunction function;
	/* handle_life() of the function, as handles are reused */
	uint64_t life;
	CUlaunchAttribute *set; /* only the attributes that the program set */
	unsigned set_count;
	/* Results for queries: the parameters one by one, and as one buffer. */
	void **params;
	void *extra[5];
	size_t size;
	_Alignas(16) unsigned char bytes[];
};

static struct launch launch_of(const CUDA_KERNEL_NODE_PARAMS_v3 *p)
{
	return (struct launch){
	    .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
	    .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
	    .dynamic_shared = p->sharedMemBytes,
	    .params = p->kernelParams,
	    .extra = p->extra,
	};
}

/* A CUfunction belongs to a context; a CUkernel uses the current context. */
static CUresult find_function(CUgraphNode node,
			      const CUDA_KERNEL_NODE_PARAMS_v3 *p,
			      CUfunction *ret_function)
{
	CUfunction given = p->func ? p->func : (CUfunction)(void *)p->kern;
	CUcontext ctx = p->ctx;
	CUresult r;

	if (!given)
		return CUDA_ERROR_INVALID_VALUE;
	if (!ctx && handle_is(given, HANDLE_FUNCTION))
		ctx = given->module->ctx;
	r = node_context(node, ctx);
	return r ? r : function_of(node->ctx, given, ret_function);
}

static struct kernel *new_kernel(CUfunction function)
{
	const struct gkf_ptx_module *m = function->image->source->ptx;
	const struct gkf_ptx_function *f = function->ptx;
	size_t bytes = (f->param_size + 15) & ~(size_t)15;
	struct kernel *k =
	    calloc(1, sizeof *k + bytes + f->param_count * sizeof(void *));

	if (!k)
		return NULL;
	k->function = function;
	k->life = handle_life(function);
	k->size = f->param_size;
	k->params = (void **)(void *)(k->bytes + bytes);
	for (uint32_t i = 0; i < f->param_count; i++)
		k->params[i] = k->bytes + m->variables[f->params[i]].offset;
	k->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	k->extra[1] = k->bytes;
	k->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	k->extra[3] = &k->size;
	k->extra[4] = CU_LAUNCH_PARAM_END;
	return k;
}

static bool has_function(const struct kernel *k)
{
	return handle_life(k->function) == k->life;
}

static void free_kernel(struct kernel *k)
{
	free(k->set);
	free(k);
}

CUresult kernel_node_take(CUgraphNode node, CUgraphNodeParams *given)
{
	const CUDA_KERNEL_NODE_PARAMS_v3 *p = &given->kernel;
	CUDA_KERNEL_NODE_PARAMS_v3 *own = &node->params.kernel;
	struct launch l = launch_of(p);
	struct kernel *k;
	CUresult r = find_function(node, p, &l.function);

	if (r)
		return r;
	k = new_kernel(l.function);
	if (!k)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = launch_read(node->ctx, &l, k->bytes);
	if (r) {
		free_kernel(k);
		return r;
	}
	*own = *p;
	own->ctx = node->ctx;
	if (handle_is(own->func, HANDLE_KERNEL))
		own->kern = (CUkernel)(void *)own->func;
	else if (own->func)
		own->kern = l.function->kernel;
	own->kernelParams = p->extra ? NULL : k->params;
	own->extra = p->extra ? k->extra : NULL;
	node->own = k;
	return CUDA_SUCCESS;
}

void kernel_node_drop(CUgraphNode node)
{
	free_kernel(node->own);
}

/* ---- attributes ---- */

static CUlaunchAttribute *find_attribute(const struct kernel *k,
					 CUlaunchAttributeID id)
{
	for (unsigned i = 0; i < k->set_count; i++)
		if (k->set[i].id == id)
			return &k->set[i];
	return NULL;
}

static CUresult put_attribute(struct kernel *k, const CUlaunchAttribute *a)
{
	CUlaunchAttribute *at = find_attribute(k, a->id);

	if (!at) {
		at = realloc(k->set, (k->set_count + 1) * sizeof *at);
		if (!at)
			return CUDA_ERROR_OUT_OF_MEMORY;
		k->set = at;
		at += k->set_count++;
	}
	*at = *a;
	return CUDA_SUCCESS;
}

CUresult kernel_node_attribute(CUgraphNode node, const CUlaunchAttribute *a)
{
	return put_attribute(node->own, a);
}

static CUresult copy_attributes(struct kernel *to, const struct kernel *from)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < from->set_count; i++)
		r = put_attribute(to, &from->set[i]);
	return r;
}

/* New parameters do not change the attributes. */
CUresult kernel_node_keep(CUgraphNode node, CUgraphNode from)
{
	return copy_attributes(node->own, from->own);
}

CUresult kernel_node_copy(CUgraphNode node, CUgraphNode from)
{
	CUresult r = has_function(from->own)
			 ? kernel_node_take(node, &from->params)
			 : CUDA_ERROR_INVALID_HANDLE;

	if (r)
		return r;
	r = copy_attributes(node->own, from->own);
	if (r)
		kernel_node_drop(node);
	return r;
}

static bool is_kernel(CUgraphNode node)
{
	return node_is(node) && node->params.type == CU_GRAPH_NODE_TYPE_KERNEL;
}

/* Accepts the attributes that launches accept, except IGNORE. */
static CUresult check_attribute(const CUlaunchAttribute *a)
{
	struct launch l;

	return a->id == CU_LAUNCH_ATTRIBUTE_IGNORE ? CUDA_ERROR_INVALID_VALUE
						   : launch_attribute(a, &l);
}

static CUresult set_attribute(CUgraphNode node, CUkernelNodeAttrID id,
			      const CUkernelNodeAttrValue *value)
{
	CUlaunchAttribute a = {.id = id};
	CUresult r;

	if (!is_kernel(node) || !value)
		return CUDA_ERROR_INVALID_VALUE;
	a.value = *value;
	r = check_attribute(&a);
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(ROW_cuGraphKernelNodeSetAttribute);
	return r ? r : put_attribute(node->own, &a);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode,
				       CUkernelNodeAttrID attr,
				       const CUkernelNodeAttrValue *value)
{
	ENTER(cuGraphKernelNodeSetAttribute);
	return GRAPH_LOCKED(set_attribute(hNode, attr, value));
}

/* Returns 0 for attributes that were not set. */
static CUresult get_attribute(CUgraphNode node, CUkernelNodeAttrID id,
			      CUkernelNodeAttrValue *ret_value)
{
	CUlaunchAttribute none = {.id = id};
	const CUlaunchAttribute *a;

	none.value.clusterDim.x = none.value.clusterDim.y =
	    none.value.clusterDim.z = 1;
	if (!is_kernel(node) || !ret_value ||
	    check_attribute(&none) == CUDA_ERROR_INVALID_VALUE)
		return CUDA_ERROR_INVALID_VALUE;
	a = find_attribute(node->own, id);
	*ret_value = a ? a->value : (CUkernelNodeAttrValue){{0}};
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode,
				       CUkernelNodeAttrID attr,
				       CUkernelNodeAttrValue *value_out)
{
	ENTER(cuGraphKernelNodeGetAttribute);
	return GRAPH_LOCKED(get_attribute(hNode, attr, value_out));
}

static CUresult copy_between(CUgraphNode dst, CUgraphNode src)
{
	if (!is_kernel(dst) || !is_kernel(src) || dst->ctx != src->ctx)
		return CUDA_ERROR_INVALID_VALUE;
	return dst == src ? CUDA_SUCCESS : copy_attributes(dst->own, src->own);
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
	ENTER(cuGraphKernelNodeCopyAttributes);
	return GRAPH_LOCKED(copy_between(dst, src));
}

/* ---- work ---- */

static bool is_cooperative(const struct kernel *k)
{
	const CUlaunchAttribute *a =
	    find_attribute(k, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);

	return a && a->value.cooperative;
}

/* Fails if the function's module was unloaded. */
CUresult kernel_node_task(CUgraphNode node, struct gkf_task **ret_task)
{
	const struct kernel *k = node->own;
	struct launch l = launch_of(&node->params.kernel);

	if (!has_function(k))
		return CUDA_ERROR_INVALID_HANDLE;
	l.function = k->function;
	l.cooperative = is_cooperative(k);
	l.params = l.extra = NULL;
	l.buffer = k->bytes;
	return launch_make(node->ctx, &l, ret_task);
}

CUgraphExecUpdateResult kernel_node_change(CUgraphNode node, CUgraphNode to)
{
	if (node->ctx != to->ctx)
		return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
	return is_cooperative(node->own) == is_cooperative(to->own)
		   ? CU_GRAPH_EXEC_UPDATE_SUCCESS
		   : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

void kernel_node_print(CUgraphNode node, FILE *file)
{
	const CUDA_KERNEL_NODE_PARAMS_v3 *p = &node->params.kernel;
	const struct kernel *k = node->own;

	if (has_function(k))
		fprintf(file, "|{func|%s}", k->function->ptx->name);
	fprintf(file, "|{grid|%u, %u, %u}|{block|%u, %u, %u}|{shared|%u}",
		p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX,
		p->blockDimY, p->blockDimZ, p->sharedMemBytes);
	for (unsigned i = 0; i < k->set_count; i++)
		fprintf(file, "|{attribute|%d}", (int)k->set[i].id);
}
