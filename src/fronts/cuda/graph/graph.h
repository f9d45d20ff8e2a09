/*
 * graph.h - graphs of work: nodes of many kinds, the edges between them, and
 * their instances, which are launched.
 *
 * One lock guards all graphs and captures of the process; it is taken before
 * that of streams, and nobody waits while he holds it. What follows is called
 * with it, unless said otherwise.
 */
#ifndef GKF_CUDA_GRAPH_H
#define GKF_CUDA_GRAPH_H

#include "fronts/cuda/front.h"

#include <stdio.h>

extern pthread_mutex_t graph_mutex;

/* Answers what an expression comes to that is evaluated with the lock. */
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

/* Edges of a node into one direction, in the order they were added. */
struct graph_edges {
	struct graph_edge *at;
	unsigned count, room;
};

/* A type of nodes: a row of graph_kind.c. */
struct graph_kind {
	const char *name;
	size_t size; /* of its parameters */
	/*
	 * Checks parameters, and fills `params`, `own` and `ctx` of a node that
	 * has none. Those that a caller gets back are written to `given`.
	 */
	CUresult (*take)(CUgraphNode node, CUgraphNodeParams *given);
	/* The same for a copy of a node of the same graph's; NULL: take. */
	CUresult (*copy)(CUgraphNode node, CUgraphNode from);
	void (*drop)(CUgraphNode node); /* what take() made; NULL: nothing */
	/* What the calls that set parameters leave as it is; NULL: nothing. */
	CUresult (*keep)(CUgraphNode node, CUgraphNode from);
	/* Its work, to be pushed by the caller; NULL: it has none. */
	CUresult (*task)(CUgraphNode node, struct gkf_task **ret_task);
	/* May an instance's node be given these parameters? NULL: any. */
	CUgraphExecUpdateResult (*change)(CUgraphNode node, CUgraphNode to);
	/* Writes them as lines of a label; NULL: nothing to tell. */
	void (*print)(CUgraphNode node, FILE *file);
	unsigned dot_flags; /* CU_GRAPH_DEBUG_DOT_FLAGS_... that ask for it */
	bool is_fixed;      /* parameters never change */
	bool in_body;       /* may be in the body of a conditional node */
	bool can_rest;      /* may be disabled in an instance */
};
extern const struct graph_kind graph_kinds[];
#define GRAPH_KINDS (CU_GRAPH_NODE_TYPE_CONDITIONAL + 1)

struct CUgraphNode_st {
	CUgraph graph;
	CUgraphNodeParams params; /* what they point to is the node's */
	CUcontext ctx;            /* NULL: any */
	uint64_t ctx_id;          /* the life of ctx that was meant */
	void *own;                /* of its kind */
	unsigned id;              /* in its graph */
	CUgraphNode original;     /* that it is a copy of */
	uint64_t original_life;
	bool disabled;
	struct graph_edges in, out;
	CUgraphNode next, *at; /* in the order of creation; who points here */
	CUgraphNode pair;      /* of whoever walks over the graph */
	unsigned mark;
	uint64_t seen; /* by graph_check_deps() */
};

static inline const struct graph_kind *node_kind(CUgraphNode node)
{
	return &graph_kinds[node->params.type];
}

/* ---- graphs ---- */

struct graph_object {
	CUuserObject object;
	unsigned count;
};

struct CUgraph_st {
	unsigned id; /* no other graph of the process has it */
	CUgraphNode first, *end;
	unsigned count;
	unsigned next_id;   /* that of the next node */
	CUgraphNode parent; /* whose part it is; NULL: its own master */
	CUgraph original;   /* that it is a copy of */
	uint64_t original_life;
	struct graph_object *objects;
	unsigned object_count;
	struct condition *conditions; /* made for it */
	bool has_memory;              /* nodes that allocate or free */
	bool is_exec;                 /* the copy of an instance */
	unsigned execs;               /* instances, where has_memory */
	struct capture *capture;      /* that adds to it */
};

static inline bool graph_is(CUgraph graph)
{
	return handle_is(graph, HANDLE_GRAPH);
}

static inline bool node_is(CUgraphNode node)
{
	return handle_is(node, HANDLE_NODE);
}

/* The graph that a graph is a part of, or itself. */
static inline CUgraph graph_root(CUgraph graph)
{
	while (graph->parent)
		graph = graph->parent->graph;
	return graph;
}

CUresult graph_new(CUgraph *ret_graph);

/* Frees a graph, its nodes and the references to objects. */
void graph_free(CUgraph graph);

/*
 * A copy; that of an instance shares what there is once only. Nodes of the
 * original have their copies as `pair` afterwards.
 */
CUresult graph_copy(CUgraph graph, bool is_exec, CUgraph *ret_graph);

/* Has it conditional nodes, or handles for them, itself or in its parts? */
bool graph_has_conditions(CUgraph graph);

/* A graph has the conditions of another one instead of its own. */
void graph_take_conditions(CUgraph graph, CUgraph of);

/* Adds a node; data may be NULL. The parameters are checked. */
struct graph_deps {
	const CUgraphNode *node;
	const CUgraphEdgeData *data;
	size_t count;
};
CUresult graph_add(CUgraph graph, const struct graph_deps *deps,
		   CUgraphNodeParams *params, CUgraphNode *ret_node);

/*
 * Parameters for a node, in another one that is the caller's and blank: it is
 * dropped, or has its parameters taken over.
 */
CUresult node_prepare(CUgraphNode node, CUgraphNodeParams *params,
		      CUgraphNode ret_fresh);
void node_take_over(CUgraphNode node, CUgraphNode fresh);

/* Gives a node other parameters. */
CUresult node_set(CUgraphNode node, CUgraphNodeParams *params);

/* Are these nodes of the graph, none twice, with edges that can be? */
CUresult graph_check_deps(CUgraph graph, const struct graph_deps *deps,
			  CUgraphNodeType to);

/* An edge; CUDA_ERROR_OUT_OF_MEMORY. */
CUresult edge_add(CUgraphNode from, CUgraphNode to, CUgraphEdgeData data);
bool edges_push(struct graph_edges *edges, struct graph_edge edge);

/* Takes the edge to or from a node out of a list. */
void edges_remove(struct graph_edges *edges, CUgraphNode node);

/* The i-th of a caller's; a plain one where data is NULL. */
CUgraphEdgeData edge_data_at(const CUgraphEdgeData *data, size_t i);
static inline bool edge_is_plain(const CUgraphEdgeData *data)
{
	return !data->from_port && !data->to_port && !data->type;
}

/* graph_kind.c: drops the parameters of a node. */
void node_drop(CUgraphNode node);

/* ---- conditions: graph_condition.c ---- */

struct condition {
	unsigned holders; /* graphs with it in their lists */
	CUgraph graph;
	CUcontext ctx;
	uint64_t ctx_id;
	CUgraphNode node; /* that asks it; NULL: none yet */
	unsigned default_value;
	bool has_default;
	_Atomic unsigned value;
	struct condition *next; /* of the graph */
};
struct condition *condition_of(CUgraphConditionalHandle handle);

/* A launch begins: those that have a default value have it. No lock. */
void condition_begin(CUgraph graph);

/* Any thread, no lock: a kernel sets it. False: it is none. */
bool condition_set(uint64_t handle, uint32_t value);

/* A conditional node's bodies: params.conditional.phGraph_out, and plans. */
struct conditional {
	CUgraph *body;
	struct graph_plan **plan; /* of an instance */
	unsigned count;
};

/* ---- memory: graph_memory.c ---- */

/* Memory that a node allocates: its address is the node's for good. */
struct graph_memory;

/*
 * What happens to memory when an instance is launched: checked first for all
 * nodes, then done.
 */
CUresult memory_check_launch(CUgraph graph, cuuint64_t flags);
void memory_launch(CUgraph graph);

/* ---- instances ---- */

/* The order in which an instance does its work: graph_plan.c. */
struct graph_step {
	CUgraphNode node; /* NULL: nothing to do */
	CUcontext ctx;
	unsigned lane;              /* the queue that it is put into */
	unsigned first_wait, waits; /* in plan->wait: steps of other lanes */
	/* Of the launch under way. */
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
		CUstream stream; /* its own; NULL: lane 0 of a launch */
		uint64_t life;   /* of the stream */
		unsigned tail;   /* its last step, while it is made */
		bool is_free;
	} * lane;
	unsigned lanes;
};

/*
 * Orders the nodes of a graph and those in it. *ret_bad: a node of a circle,
 * with CUDA_ERROR_INVALID_VALUE.
 */
CUresult plan_new(CUgraph graph, CUcontext ctx, struct graph_plan **ret_plan,
		  CUgraphNode *ret_bad);
void plan_free(struct graph_plan *plan);

/* Makes all tasks of a plan, or none; drops those that were made. */
CUresult plan_make(struct graph_plan *plan);
void plan_drop(struct graph_plan *plan);

/*
 * Puts the tasks into queues: lane 0 into `first` unless the plan has a stream
 * of its own for it. What is in `first` afterwards comes after all of it.
 */
void plan_push(struct graph_plan *plan, struct gkf_queue *first);

/* All lanes have the priority of the stream of a launch. */
void plan_priority(const struct graph_plan *plan, int priority);

/* The queue of a lane of the plan's own; NULL: there is no such. */
struct gkf_queue *plan_queue(const struct graph_plan *plan, unsigned lane);

/* An instance; launches that are under way hold it. */
struct graph_exec {
	unsigned holders;
	CUgraph graph; /* a copy of its own */
	CUgraph original;
	uint64_t original_life;
	struct graph_plan *plan;
	CUcontext ctx; /* where most of it runs */
	uint64_t ctx_id;
	cuuint64_t flags;
	bool has_conditions;
	struct gkf_ticket last; /* of the launches */
	/* Every so many launches: the last one, and that before them. */
	struct gkf_ticket late, early;
	unsigned launches; /* since `late` */
};
struct CUgraphExec_st {
	struct graph_exec *exec;
};

static inline bool exec_is(CUgraphExec exec)
{
	return handle_is(exec, HANDLE_EXEC);
}

/* The node of an instance that came of a graph's node; NULL: none. */
CUgraphNode exec_node(CUgraphExec exec, CUgraphNode node);

/*
 * Without the lock, before an instance is changed: waits for launches that
 * would see it.
 */
void exec_settle(CUgraphExec exec);

/* Parameters of an instance's node, where the rules allow the change. */
CUresult exec_set(CUgraphExec exec, CUgraphNode node,
		  CUgraphNodeParams *params);

/*
 * Checks what a graph would change in another one of the same form, and does
 * it; graph_update.c.
 */
CUresult graph_update(CUgraph graph, CUgraph to,
		      CUgraphExecUpdateResultInfo *ret_info);

/* ---- references to objects of programs: graph_object.c ---- */

CUresult objects_copy(CUgraph from, CUgraph to);
void objects_drop(CUgraph graph);

#endif
