/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - graphs of work: nodes of many kinds, the edges between them, and
 * the launchable instances.
 *
 * graph_mutex guards all graphs and captures of the process. It is taken before
 * the locks of streams and is never held while waiting.
 */
#ifndef GKF_CUDA_GRAPH_H
#define GKF_CUDA_GRAPH_H

#include "fronts/cuda/context/front.h"

#include <stdio.h>

extern pthread_mutex_t graph_mutex;

/*
 * GRAPH_LOCKED(call): takes graph_mutex, evaluates the expression, releases
 * graph_mutex.
 */
static inline CUresult graph_unlock(CUresult r)
{
	pthread_mutex_unlock(&graph_mutex);
	return r;
}
#define GRAPH_LOCKED(call)                                                     \
	(pthread_mutex_lock(&graph_mutex), graph_unlock(call))

struct capture;

/* ---- nodes ---- */

struct graph_edge {
	CUgraphNode node;
	CUgraphEdgeData data;
};

/*
 * The edges of a node in one direction, in the order in which they were added.
 */
struct graph_edges {
	struct graph_edge *at;
	unsigned count, room;
};

/* A type of node: a row of the table in graph_kind.c. */
struct graph_kind {
	const char *name;
	size_t size; /* size of the parameters */
	/*
	 * Checks parameters and fills `params`, `own` and `ctx` of a new node.
	 * Outputs for the caller are written to `given`.
	 */
	CUresult (*take)(CUgraphNode node, CUgraphNodeParams *given);
	/*
	 * Does the same for a copy of `from`. If this is NULL, take() is used.
	 */
	CUresult (*copy)(CUgraphNode node, CUgraphNode from);
	void (*drop)(CUgraphNode node); /* undoes take(); may be NULL */
	/*
	 * Copies from the old node the settings that new parameters do not
	 * change; may be NULL.
	 */
	CUresult (*keep)(CUgraphNode node, CUgraphNode from);
	/* Makes the node's task, which the caller pushes; NULL: no task. */
	CUresult (*task)(CUgraphNode node, struct gkf_task **ret_task);
	/*
	 * Whether a node of an instance may get the parameters of `to`. If this
	 * is NULL, any parameters are allowed.
	 */
	CUgraphExecUpdateResult (*change)(CUgraphNode node, CUgraphNode to);
	/* Prints the parameters as parts of the node's label; may be NULL. */
	void (*print)(CUgraphNode node, FILE *file);
	/*
	 * The parameters are printed if one of these flags
	 * (CU_GRAPH_DEBUG_DOT_FLAGS_...) is set.
	 */
	unsigned dot_flags;
	bool is_fixed; /* the parameters cannot be changed */
	bool in_body;  /* allowed in bodies of conditional nodes */
	bool can_rest; /* can be disabled in an instance */
};
extern const struct graph_kind graph_kinds[];
#define GRAPH_KINDS (CU_GRAPH_NODE_TYPE_CONDITIONAL + 1)

struct CUgraphNode_st {
	CUgraph graph;
	const struct graph_kind *kind;
	CUgraphNodeParams params; /* the node owns the data it points to */
	CUcontext ctx;            /* NULL: any */
	uint64_t ctx_id;          /* the id of `ctx` */
	void *own;                /* data that only this kind of node has */
	unsigned id;              /* unique in its graph */
	CUgraphNode original;     /* the node from which it was copied */
	uint64_t original_life;
	bool disabled;
	struct graph_edges in, out;
	/* links of the graph's list of nodes; *at is this node */
	CUgraphNode next, *at;
	CUgraphNode pair; /* scratch variable for walks over the graph */
	unsigned mark;
	uint64_t seen; /* used by graph_check_deps() */
};

static inline const struct graph_kind *node_kind(CUgraphNode node)
{
	return node->kind;
}

/* ---- graphs ---- */

struct graph_object {
	CUuserObject object;
	unsigned count;
};

struct CUgraph_st {
	unsigned id; /* unique in the process */
	CUgraphNode first, *end;
	unsigned count;
	unsigned next_id;   /* the id of the next new node */
	CUgraphNode parent; /* the node that contains this graph, or NULL */
	CUgraph original;   /* the graph from which it was copied */
	uint64_t original_life;
	struct graph_object *objects;
	unsigned object_count;
	/* the conditions created for this graph */
	struct condition *conditions;
	/* whether it has nodes that allocate or free memory */
	bool has_memory;
	bool is_exec; /* whether it is the private copy of an instance */
	/* number of its instances; counted only if has_memory */
	unsigned execs;
	struct capture *capture; /* the capture that adds nodes to it */
};

static inline bool graph_is(CUgraph graph)
{
	return handle_is(graph, HANDLE_GRAPH);
}

static inline bool node_is(CUgraphNode node)
{
	return handle_is(node, HANDLE_NODE);
}

/* The outermost graph that contains a graph, or the graph itself. */
static inline CUgraph graph_root(CUgraph graph)
{
	while (graph->parent)
		graph = graph->parent->graph;
	return graph;
}

/* ---- graphs and nodes; the caller holds graph_mutex ---- */

CUresult graph_new(CUgraph *ret_graph);

/* Frees a graph, its nodes and its references to objects. */
void graph_free(CUgraph graph);

/*
 * Copies a graph. Copies for instances share things that can exist only once,
 * such as allocated memory. Afterwards `pair` of each original node is its
 * copy.
 */
CUresult graph_copy(CUgraph graph, bool is_exec, CUgraph *ret_graph);

/*
 * Whether the graph, or a graph in it, has conditional nodes or handles for
 * them.
 */
bool graph_has_conditions(CUgraph graph);

/* Replaces the conditions of a graph by those of another one. */
void graph_take_conditions(CUgraph graph, CUgraph of);

/*
 * The dependencies of a new node; `data` may be NULL. graph_add() checks the
 * parameters and adds the node.
 */
struct graph_deps {
	const CUgraphNode *node;
	const CUgraphEdgeData *data;
	size_t count;
};
CUresult graph_add(CUgraph graph, const struct graph_deps *deps,
		   CUgraphNodeParams *params, CUgraphNode *ret_node);

/* Like graph_add(), for a node of the given kind. */
CUresult node_add(CUgraph graph, const struct graph_kind *kind,
		  const struct graph_deps *deps, CUgraphNodeParams *params,
		  CUgraphNode *ret_node);

/*
 * node_prepare() checks new parameters for a node and stores them in ret_fresh,
 * a blank node of the caller. The caller then either drops them with
 * node_drop() or moves them to the node with node_take_over().
 */
CUresult node_prepare(CUgraphNode node, CUgraphNodeParams *params,
		      CUgraphNode ret_fresh);
void node_take_over(CUgraphNode node, CUgraphNode fresh);

/* Sets the parameters of a node. */
CUresult node_set(CUgraphNode node, CUgraphNodeParams *params);

/*
 * Checks that the dependencies are nodes of the graph, that none is listed
 * twice, and that their edges are possible.
 */
CUresult graph_check_deps(CUgraph graph, const struct graph_deps *deps,
			  CUgraphNodeType to);

/* Adds an edge; may fail with CUDA_ERROR_OUT_OF_MEMORY. */
CUresult edge_add(CUgraphNode from, CUgraphNode to, CUgraphEdgeData data);
bool edges_push(struct graph_edges *edges, struct graph_edge edge);

/* Removes from a list the edge that leads to or from a node. */
void edges_remove(struct graph_edges *edges, CUgraphNode node);

/* Frees the parameters of a node. */
void node_drop(CUgraphNode node);

/* ---- data of edges ---- */

/* Returns data[i], or the default if data is NULL. */
CUgraphEdgeData edge_data_at(const CUgraphEdgeData *data, size_t i);
static inline bool edge_is_plain(const CUgraphEdgeData *data)
{
	return !data->from_port && !data->to_port && !data->type;
}

/* ---- conditions: graph_condition.c ---- */

struct condition {
	unsigned holders; /* number of graphs that list it */
	CUgraph graph;
	CUcontext ctx;
	uint64_t ctx_id;
	CUgraphNode node; /* the node that uses it; NULL: none yet */
	unsigned default_value;
	bool has_default;
	_Atomic unsigned value;
	struct condition *next; /* the next condition of the graph */
};

/* Returns the condition with this handle, or NULL. Takes no lock. */
struct condition *condition_of(CUgraphConditionalHandle handle);

/*
 * Sets the conditions of a graph to their default values when a launch starts.
 * Takes no lock.
 */
void condition_begin(CUgraph graph);

/*
 * Sets the value of a condition. Kernels call this from any thread; it takes no
 * lock. Returns false if there is no such condition.
 */
bool condition_set(uint64_t handle, uint32_t value);

/* The bodies of a conditional node (params.conditional.phGraph_out). */
struct conditional {
	CUgraph *body;
	struct graph_plan **plan; /* used only in an instance */
	unsigned count;
};

/* ---- memory: graph_memory.c; the caller holds graph_mutex ---- */

/* Memory allocated by a node; its address never changes. */
struct graph_memory;

/*
 * graph_memory_check_launch() checks that an instance can be launched: that the
 * memory of its nodes is allocated or free as the nodes expect.
 * graph_memory_launch() records what the launch allocates and frees.
 */
CUresult graph_memory_check_launch(CUgraph graph, cuuint64_t flags);
void graph_memory_launch(CUgraph graph);

/* ---- instances ---- */

/* A step of a plan: a node, and the steps it waits for (graph_plan.c). */
struct graph_step {
	CUgraphNode node; /* NULL: an empty step */
	CUcontext ctx;
	unsigned lane; /* the lane (queue) in which it runs */
	/* range in plan->wait: the steps of other lanes to wait for */
	unsigned first_wait, waits;
	/* For the current launch only. */
	struct gkf_task *task;
	struct gkf_ticket done;
};
struct graph_plan {
	struct graph_step *step;
	unsigned count;
	unsigned *wait;
	unsigned wait_count;
	struct graph_lane {
		CUcontext ctx;
		/*
		 * the lane's own stream; NULL for a lane 0 that uses the stream
		 * of the launch
		 */
		CUstream stream;
		uint64_t life; /* handle_life() of `stream` */
		/* the last step; used only while the plan is made */
		unsigned tail;
		bool is_free;
	} * lane;
	unsigned lanes;
};

/* ---- plans; the caller holds graph_mutex ---- */

/*
 * Plans a graph and the graphs in it. If the graph has a cycle, returns
 * CUDA_ERROR_INVALID_VALUE and sets *ret_bad to a node of the cycle.
 */
CUresult plan_new(CUgraph graph, CUcontext ctx, struct graph_plan **ret_plan,
		  CUgraphNode *ret_bad);
void plan_free(struct graph_plan *plan);

/*
 * plan_make() makes all tasks of a plan, or none. plan_drop() drops the tasks
 * that were made but not pushed.
 */
CUresult plan_make(struct graph_plan *plan);
void plan_drop(struct graph_plan *plan);

/*
 * Puts the tasks in queues: those of lane 0 in `first`, unless the plan has its
 * own stream for lane 0. Work put in `first` later runs after all of the tasks.
 */
void plan_push(struct graph_plan *plan, struct gkf_queue *first);

/* Sets the priority of all lanes to the priority of the launch's stream. */
void plan_priority(const struct graph_plan *plan, int priority);

/* The queue of the lane's own stream; NULL if the lane has no stream. */
struct gkf_queue *plan_queue(const struct graph_plan *plan, unsigned lane);

/* ---- launched objects ---- */

/* An instance; unfinished launches hold references to it. */
struct graph_exec {
	unsigned holders;
	CUgraph graph; /* the instance's own copy */
	CUgraph original;
	uint64_t original_life;
	struct graph_plan *plan;
	CUcontext ctx; /* the context in which most of the work runs */
	uint64_t ctx_id;
	cuuint64_t flags;
	bool has_conditions;
	struct gkf_ticket last; /* ticket of the last launch */
	/*
	 * Tickets of two earlier launches, the checkpoints: `late` is the
	 * latest checkpoint, `early` the one before it.
	 */
	struct gkf_ticket late, early;
	unsigned launches; /* number of launches since `late` */
};
struct CUgraphExec_st {
	struct graph_exec *exec;
};

static inline bool exec_is(CUgraphExec exec)
{
	return handle_is(exec, HANDLE_EXEC);
}

/*
 * Waits for the unfinished launches that a change of the instance would affect.
 * The caller does not hold graph_mutex.
 */
void exec_settle(CUgraphExec exec);

/* ---- changing instances; the caller holds graph_mutex ---- */

/* Returns the instance's copy of a graph's node, or NULL. */
CUgraphNode exec_node(CUgraphExec exec, CUgraphNode node);

/* Sets the parameters of an instance's node, if CUDA's rules allow it. */
CUresult exec_set(CUgraphExec exec, CUgraphNode node,
		  CUgraphNodeParams *params);

/*
 * Gives `graph` the parameters of `to`, a graph of the same form, after
 * checking that this is possible (graph_update.c).
 */
CUresult graph_update(CUgraph graph, CUgraph to,
		      CUgraphExecUpdateResultInfo *ret_info);

/* References of graphs to user objects (graph_object.c). */

CUresult graph_objects_copy(CUgraph from, CUgraph to);
void graph_objects_drop(CUgraph graph);

#endif
