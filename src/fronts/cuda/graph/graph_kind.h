/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_kind.h - the types of nodes that are implemented in files of their own;
 * see graph.h.
 */
#ifndef GKF_CUDA_GRAPH_KIND_H
#define GKF_CUDA_GRAPH_KIND_H

#include "fronts/cuda/graph/graph.h"

/*
 * Sets the context of a node; NULL means the current context. Defined in
 * graph.c.
 */
CUresult node_context(CUgraphNode node, CUcontext given);
bool node_context_lives(CUgraphNode node);

#define NODE_TAKE(name)                                                        \
	CUresult name##_node_take(CUgraphNode node, CUgraphNodeParams *given);
#define NODE_COPY(name)                                                        \
	CUresult name##_node_copy(CUgraphNode node, CUgraphNode from);
#define NODE_DROP(name) void name##_node_drop(CUgraphNode node);
#define NODE_TASK(name)                                                        \
	CUresult name##_node_task(CUgraphNode node, struct gkf_task **ret_task);
#define NODE_PRINT(name) void name##_node_print(CUgraphNode node, FILE *file);

/* graph_kernel.c */
NODE_TAKE(kernel)
NODE_COPY(kernel)
CUresult kernel_node_keep(CUgraphNode node, CUgraphNode from);
NODE_DROP(kernel)
NODE_TASK(kernel)
NODE_PRINT(kernel)
CUresult kernel_node_attribute(CUgraphNode node, const CUlaunchAttribute *a);
CUgraphExecUpdateResult kernel_node_change(CUgraphNode node, CUgraphNode to);

/* graph_child.c */
NODE_TAKE(child)
NODE_COPY(child)
NODE_DROP(child)

/* graph_memory.c */
NODE_TAKE(alloc)
NODE_COPY(alloc)
NODE_DROP(alloc)
NODE_PRINT(alloc)
NODE_TAKE(free)
NODE_COPY(free)
NODE_DROP(free)
NODE_PRINT(free)

/* graph_condition.c */
NODE_TAKE(conditional)
NODE_COPY(conditional)
NODE_DROP(conditional)
NODE_TASK(conditional)
NODE_PRINT(conditional)

#undef NODE_TAKE
#undef NODE_COPY
#undef NODE_DROP
#undef NODE_TASK
#undef NODE_PRINT

#endif
