/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_exec.c - creates, launches and destroys instances of graphs. An
 * instance has its own copy of the graph, to which unfinished launches hold
 * references.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/module/module_use.h"
#include "fronts/cuda/stream/stream_private.h"

#include <stdlib.h>

#define FLAGS                                                                  \
	(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |                     \
	 CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |                                  \
	 CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |                           \
	 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

/* ---- making and ending ---- */

static void free_exec(struct graph_exec *exec)
{
	if (exec->graph) {
		if (exec->graph->has_memory && graph_is(exec->original) &&
		    handle_life(exec->original) == exec->original_life)
			exec->original->execs--;
		graph_free(exec->graph);
	}
	plan_free(exec->plan);
	free(exec);
}

static void release_exec(struct graph_exec *exec)
{
	if (!--exec->holders)
		free_exec(exec);
}

/*
 * Returns the first context that a node names; NULL: any context is suitable.
 */
static CUcontext context_of_graph(CUgraph graph)
{
	CUcontext ctx = NULL;

	for (CUgraphNode n = graph->first; n && !ctx; n = n->next)
		ctx = n->params.type == CU_GRAPH_NODE_TYPE_GRAPH
			  ? context_of_graph(n->params.graph.graph)
			  : n->ctx;
	return ctx;
}

/* Whether the graph has conditional handles that no node uses. */
static bool has_idle_condition(CUgraph graph)
{
	for (struct condition *c = graph->conditions; c; c = c->next)
		if (!c->node)
			return true;
	for (CUgraphNode n = graph->first; n; n = n->next)
		if (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH &&
		    has_idle_condition(n->params.graph.graph))
			return true;
	return false;
}

static CUresult check_instance(CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
	p->hErrNode_out = NULL;
	if (!graph_is(graph) || graph->is_exec || graph->capture ||
	    p->flags & ~(cuuint64_t)FLAGS ||
	    (graph->has_memory && graph->execs))
		return CUDA_ERROR_INVALID_VALUE;
	if (p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		return p->flags &
			       CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
			   ? CUDA_ERROR_INVALID_VALUE
			   : CUDA_ERROR_NOT_SUPPORTED;
	if (has_idle_condition(graph)) {
		p->result_out =
		    CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static CUresult fill_exec(struct graph_exec *exec, CUgraph graph,
			  CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	CUgraphNode bad;
	CUresult r = graph_copy(graph, true, &exec->graph);

	if (!r && graph->has_memory)
		graph->execs++;
	if (!r)
		r = ctx_of(context_of_graph(exec->graph), &exec->ctx);
	if (r)
		return r;
	exec->ctx_id = exec->ctx->id;
	exec->has_conditions = graph_has_conditions(exec->graph);
	r = plan_new(exec->graph, exec->ctx, &exec->plan, &bad);
	if (r && bad) {
		p->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
		p->hErrNode_out = bad->original;
	}
	return r;
}

static CUresult instantiate_graph(CUgraphExec *ret_exec, CUgraph graph,
				  CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	CUgraphExec handle;
	struct graph_exec *exec;
	CUresult r = check_instance(graph, p);

	if (r)
		return r;
	handle = handle_new(HANDLE_EXEC, sizeof(*handle));
	exec = calloc(1, sizeof(*exec));
	if (!handle || !exec) {
		free(exec);
		r = CUDA_ERROR_OUT_OF_MEMORY;
		goto out;
	}
	exec->holders = 1;
	exec->flags =
	    p->flags & ~(cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
	exec->original = graph;
	exec->original_life = handle_life(graph);
	handle->exec = exec;
	r = fill_exec(exec, graph, p);
	if (r)
		free_exec(exec);
out:
	if (r) {
		if (handle)
			handle_free(handle);
		return r;
	}
	p->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	*ret_exec = handle;
	return CUDA_SUCCESS;
}

static CUresult instantiate_by(enum cuda_row row, CUgraphExec *ret_exec,
			       CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	READS_CODE;
	CUresult r = front_enter(row);

	if (!r && (!ret_exec || !p))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = GRAPH_LOCKED(instantiate_graph(ret_exec, graph, p));
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(row);
	return r;
}

/*
 * Instantiates a graph; on failure also returns the faulty node and a message
 * that the program may print.
 */
static CUresult instantiate_with_log(enum cuda_row row, CUgraphExec *ret_exec,
				     CUgraph graph, CUgraphNode *ret_bad,
				     char *log, size_t size)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
	CUresult r = instantiate_by(row, ret_exec, graph, &p);

	if (ret_bad)
		*ret_bad = p.hErrNode_out;
	if (log && size)
		snprintf(log, size, "%s",
			 p.hErrNode_out ? "the graph has a cycle" : "");
	return r;
}

CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
			    CUgraphNode *phErrorNode, char *logBuffer,
			    size_t bufferSize)
{
	return instantiate_with_log(ROW_cuGraphInstantiate, phGraphExec, hGraph,
				    phErrorNode, logBuffer, bufferSize);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
			       CUgraphNode *phErrorNode, char *logBuffer,
			       size_t bufferSize)
{
	return instantiate_with_log(ROW_cuGraphInstantiate_v2, phGraphExec,
				    hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
				     unsigned long long flags)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags};

	/*
	 * The flag UPLOAD is refused here, because the caller gives no stream
	 * for the upload.
	 */
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
		p.flags = UINT64_MAX;
	return instantiate_by(ROW_cuGraphInstantiateWithFlags, phGraphExec,
			      hGraph, &p);
}

BOTH_STREAMS(cuGraphInstantiateWithParams, _ptsz,
	     (CUgraphExec * phGraphExec, CUgraph hGraph,
	      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
	     (phGraphExec, hGraph, instantiateParams))
{
	CUcontext ctx;
	CUresult r;

	if (instantiateParams &&
	    instantiateParams->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
		r = stream_enter_context(row, instantiateParams->hUploadStream,
					 per_thread, &ctx);
		if (r)
			return r;
	}
	return instantiate_by(row, phGraphExec, hGraph, instantiateParams);
}

static CUresult destroy_exec(CUgraphExec handle)
{
	struct graph_exec *exec;

	if (!exec_is(handle))
		return CUDA_ERROR_INVALID_VALUE;
	exec = handle->exec;
	handle_free(handle);
	release_exec(exec);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	ENTER(cuGraphExecDestroy);
	return GRAPH_LOCKED(destroy_exec(hGraphExec));
}

static CUresult get_flags(CUgraphExec handle, cuuint64_t *ret_flags)
{
	if (!exec_is(handle) || !ret_flags)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_flags = handle->exec->flags;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
	ENTER(cuGraphExecGetFlags);
	return GRAPH_LOCKED(get_flags(hGraphExec, flags));
}

/* ---- launching ---- */

/* A task before or after the work of a launch. */
struct fence {
	struct gkf_task task;
	struct graph_exec *exec;
};

/* Sets each condition that has a default value to that value. */
static int begin_launch(struct gkf_task *task)
{
	condition_begin(((struct fence *)task)->exec->graph);
	return 0;
}

static int end_launch(struct gkf_task *task)
{
	(void)task;
	return 0;
}

/*
 * Called when the task has run or is dropped. Frees nothing while the process
 * exits, because another thread may hold graph_mutex.
 */
static void drop_launch(struct gkf_task *task)
{
	if (atomic_load(&cuda.ready) != CUDA_READY)
		return;
	pthread_mutex_lock(&graph_mutex);
	release_exec(((struct fence *)task)->exec);
	pthread_mutex_unlock(&graph_mutex);
}

static struct fence *new_fence(struct graph_exec *exec,
			       int (*run)(struct gkf_task *task),
			       void (*drop)(struct gkf_task *task))
{
	struct fence *b = gkf_task_new(sizeof(*b));

	if (!b)
		return NULL;
	b->task.run = run;
	b->task.drop = drop;
	b->exec = exec;
	return b;
}

/*
 * Checks that the streams of all lanes still exist: streams end with their
 * contexts. If the launch's stream belongs to another context than lane 0,
 * gives lane 0 a stream of its own.
 */
static CUresult fit_stream(struct graph_exec *exec, CUstream s)
{
	struct graph_lane *lane = exec->plan->lane;

	for (unsigned i = 0; i < exec->plan->lanes; i++)
		if (lane[i].stream &&
		    handle_life(lane[i].stream) != lane[i].life)
			return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (lane->stream || lane->ctx == s->ctx)
		return CUDA_SUCCESS;
	lane->stream = stream_new(lane->ctx, STREAM_NON_BLOCKING, 0);
	if (!lane->stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	lane->life = handle_life(lane->stream);
	return CUDA_SUCCESS;
}

/* Bounds the number of unfinished nodes of an instance, and so its memory. */
#define NODES_MOST 8192

static void count_launch(struct graph_exec *exec)
{
	if (++exec->launches * (exec->plan->count + 1) < NODES_MOST)
		return;
	exec->early = exec->late;
	exec->late = exec->last;
	exec->launches = 0;
}

/* Waits while too many launches are unfinished. Takes graph_mutex. */
static void make_room(CUgraphExec handle)
{
	struct gkf_ticket early = {0};

	pthread_mutex_lock(&graph_mutex);
	if (exec_is(handle))
		early = handle->exec->early;
	pthread_mutex_unlock(&graph_mutex);
	if (!gkf_ticket_done(early))
		gkf_ticket_wait(early);
}

static void push_launch(struct graph_exec *exec, CUstream s,
			struct fence *begin, struct fence *end)
{
	plan_priority(exec->plan, s->priority);
	stream_hold(s);
	gkf_queue_after(s->queue, exec->last);
	if (begin)
		gkf_queue_push(s->queue, &begin->task);
	plan_push(exec->plan, s->queue);
	exec->holders++;
	gkf_queue_push(s->queue, &end->task);
	exec->last = gkf_queue_ticket(s->queue);
	stream_unlock(s);
	count_launch(exec);
}

static CUresult check_exec(CUgraphExec handle)
{
	struct graph_exec *exec;

	if (!exec_is(handle))
		return CUDA_ERROR_INVALID_VALUE;
	exec = handle->exec;
	if (exec->ctx->id != exec->ctx_id || !atomic_load(&exec->ctx->alive))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return stream_error(exec->ctx);
}

static CUresult launch_exec(CUgraphExec handle, CUstream s,
			    struct gkf_ticket *ret_end)
{
	struct graph_exec *exec;
	struct fence *begin = NULL, *end = NULL;
	CUresult r = check_exec(handle);

	if (r)
		return r;
	exec = handle->exec;
	r = graph_memory_check_launch(exec->graph, exec->flags);
	if (!r)
		r = fit_stream(exec, s);
	if (!r)
		r = plan_make(exec->plan);
	if (r)
		return r;
	end = new_fence(exec, end_launch, drop_launch);
	if (exec->has_conditions)
		begin = new_fence(exec, begin_launch, NULL);
	if (!end || (exec->has_conditions && !begin)) {
		gkf_task_free(begin);
		gkf_task_free(end);
		plan_drop(exec->plan);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	push_launch(exec, s, begin, end);
	graph_memory_launch(exec->graph);
	*ret_end = exec->last;
	return CUDA_SUCCESS;
}

BOTH_STREAMS(cuGraphLaunch, _ptsz, (CUgraphExec hGraphExec, CUstream hStream),
	     (hGraphExec, hStream))
{
	READS_CODE;
	struct gkf_ticket end;
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (stream_captures(s))
		return GRAPH_LOCKED(capture_graph(s, hGraphExec));
	r = stream_usable(s);
	if (r)
		return r;
	stream_make_room(s);
	make_room(hGraphExec);
	r = GRAPH_LOCKED(launch_exec(hGraphExec, s, &end));
	if (!r && cuda.launch_blocking) {
		stream_wait(s->ctx, CU_CTX_SCHED_AUTO, end);
		r = stream_error(s->ctx);
	}
	return r;
}

/* Uploads nothing: instances are always ready to run. */
BOTH_STREAMS(cuGraphUpload, _ptsz, (CUgraphExec hGraphExec, CUstream hStream),
	     (hGraphExec, hStream))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (!r)
		r = stream_usable(s);
	return r ? r : GRAPH_LOCKED(check_exec(hGraphExec));
}
