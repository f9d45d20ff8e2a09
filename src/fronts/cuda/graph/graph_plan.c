/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_plan.c - plans the work of an instance: an order in which every node
 * comes after the nodes on which it depends, and lanes, which are queues that
 * run concurrently. A node continues the lane of one of its dependencies and
 * waits for the lanes of the others.
 */
#include "base/assert.h"
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/stream/stream_private.h"

#include <limits.h>
#include <stdlib.h>

/* Once a plan has this many lanes, branches of the graph share lanes. */
#define LANES_MANY 16
#define NO_STEP    UINT_MAX
/* the value of `seen` in nodes that are in the draft */
#define DRAFTED UINT64_MAX

/* A plan being made, with the steps that each step depends on. */
struct draft {
	struct graph_plan *plan;
	unsigned step_room;
	unsigned *dep, dep_count, dep_room;
	/* index in `dep` of each step's first dependency */
	unsigned *first, first_room;
	CUgraphNode bad;
};

static bool grow_array(void **at, unsigned *room, unsigned count, size_t size)
{
	unsigned more = *room ? 2 * *room : 32;
	void *bigger;

	if (count < *room)
		return true;
	bigger = realloc(*at, more * size);
	if (!bigger)
		return false;
	*at = bigger;
	*room = more;
	return true;
}

static bool add_dep(struct draft *d, unsigned step)
{
	if (!grow_array((void **)&d->dep, &d->dep_room, d->dep_count,
			sizeof *d->dep))
		return false;
	d->dep[d->dep_count++] = step;
	return true;
}

/* Adds a step. Dependencies added from then on belong to it. */
static unsigned add_step(struct draft *d, CUgraphNode node)
{
	struct graph_plan *p = d->plan;

	if (!grow_array((void **)&p->step, &d->step_room, p->count,
			sizeof *p->step))
		return NO_STEP;
	if (!grow_array((void **)&d->first, &d->first_room, p->count,
			sizeof *d->first))
		return NO_STEP;
	d->first[p->count] = d->dep_count;
	p->step[p->count] =
	    (struct graph_step){.node = node, .ctx = node ? node->ctx : NULL};
	return p->count++;
}

/* ---- the order ---- */

static CUresult draft_graph(struct draft *d, CUgraph graph, unsigned after);

static bool add_deps_of(struct draft *d, CUgraphNode node, unsigned after)
{
	bool ok = true;

	if (!node->in.count && after != NO_STEP)
		return add_dep(d, after);
	for (unsigned i = 0; ok && i < node->in.count; i++)
		ok = add_dep(d, node->in.at[i].node->mark);
	return ok;
}

/*
 * Puts a child graph between two empty steps, which mark its beginning and its
 * end.
 */
static CUresult draft_child(struct draft *d, CUgraphNode node, unsigned begin)
{
	CUgraph child = node->params.graph.graph;
	CUresult r = draft_graph(d, child, begin);
	bool ok = true;

	if (r)
		return r;
	if (!child->count) {
		node->mark = begin;
		return CUDA_SUCCESS;
	}
	node->mark = add_step(d, NULL);
	for (CUgraphNode n = child->first; ok && n; n = n->next)
		if (!n->out.count)
			ok = add_dep(d, n->mark);
	return ok && node->mark != NO_STEP ? CUDA_SUCCESS
					   : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult draft_bodies(struct draft *d, CUgraphNode node)
{
	struct conditional *c = node->own;
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < c->count; i++)
		r = plan_new(c->body[i], node->ctx, &c->plan[i], &d->bad);
	return r;
}

static CUresult draft_node(struct draft *d, CUgraphNode node, unsigned after)
{
	bool is_child = node->params.type == CU_GRAPH_NODE_TYPE_GRAPH;
	unsigned step = add_step(d, is_child ? NULL : node);

	if (step == NO_STEP || !add_deps_of(d, node, after))
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->mark = step;
	if (is_child)
		return draft_child(d, node, step);
	return node->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL
		   ? draft_bodies(d, node)
		   : CUDA_SUCCESS;
}

/*
 * Drafts the nodes of a graph, each after all of its dependencies. Keeps a
 * list, linked by `pair`, of the nodes whose dependencies are all drafted.
 */
static CUresult draft_graph(struct draft *d, CUgraph graph, unsigned after)
{
	CUgraphNode first = NULL, *end = &first;
	unsigned drafted = 0;
	CUresult r = CUDA_SUCCESS;

	for (CUgraphNode n = graph->first; n; n = n->next) {
		n->mark = n->in.count;
		n->seen = 0;
		if (!n->mark) {
			*end = n;
			end = &n->pair;
		}
	}
	*end = NULL;
	for (CUgraphNode n = first; !r && n; n = n->pair, drafted++) {
		for (unsigned i = 0; i < n->out.count; i++) {
			CUgraphNode next = n->out.at[i].node;

			if (!--next->mark) {
				*end = next;
				end = &next->pair;
				*end = NULL;
			}
		}
		n->seen = DRAFTED;
		r = draft_node(d, n, after);
	}
	if (r || drafted == graph->count)
		return r;
	d->bad = graph->first;
	while (d->bad && d->bad->seen == DRAFTED)
		d->bad = d->bad->next;
	return CUDA_ERROR_INVALID_VALUE;
}

/* ---- lanes ---- */

static bool lane_fits(const struct graph_lane *lane, CUcontext ctx)
{
	return !ctx || !lane->ctx || lane->ctx == ctx;
}

static unsigned new_lane(struct graph_plan *p, CUcontext ctx)
{
	struct graph_lane *lane =
	    realloc(p->lane, (p->lanes + 1) * sizeof *lane);

	if (!lane)
		return NO_STEP;
	p->lane = lane;
	lane[p->lanes] =
	    (struct graph_lane){.ctx = ctx, .tail = NO_STEP, .is_free = true};
	return p->lanes++;
}

/*
 * Returns a lane in which a dependency is still the last step, so that the new
 * step can continue the lane; NO_STEP: there is none.
 */
static unsigned lane_of_deps(const struct graph_plan *p, unsigned step,
			     const unsigned *dep, unsigned deps)
{
	for (unsigned i = 0; i < deps; i++) {
		unsigned lane = p->step[dep[i]].lane;

		if (p->lane[lane].tail == dep[i] &&
		    lane_fits(&p->lane[lane], p->step[step].ctx))
			return lane;
	}
	return NO_STEP;
}

static unsigned choose_lane(struct graph_plan *p, unsigned step,
			    const unsigned *dep, unsigned deps)
{
	CUcontext ctx = p->step[step].ctx;
	unsigned lane = lane_of_deps(p, step, dep, deps);

	for (unsigned i = 0; lane == NO_STEP && i < p->lanes; i++)
		if (p->lane[i].is_free && lane_fits(&p->lane[i], ctx))
			lane = i;
	for (unsigned i = 0;
	     lane == NO_STEP && p->lanes >= LANES_MANY && i < p->lanes; i++)
		if (lane_fits(&p->lane[(step + i) % p->lanes], ctx))
			lane = (step + i) % p->lanes;
	return lane == NO_STEP ? new_lane(p, ctx) : lane;
}

/*
 * If a step depends on several steps in one lane, it waits only for the last.
 */
static void add_wait(struct graph_plan *p, struct graph_step *s, unsigned dep)
{
	for (unsigned i = s->first_wait; i < s->first_wait + s->waits; i++)
		if (p->step[p->wait[i]].lane == p->step[dep].lane) {
			if (p->wait[i] < dep)
				p->wait[i] = dep;
			return;
		}
	p->wait[p->wait_count++] = dep;
	s->waits++;
}

static bool put_in_lane(struct graph_plan *p, unsigned step,
			const unsigned *dep, unsigned deps)
{
	struct graph_step *s = &p->step[step];
	unsigned lane = choose_lane(p, step, dep, deps);

	if (lane == NO_STEP)
		return false;
	s->lane = lane;
	s->first_wait = p->wait_count;
	for (unsigned i = 0; i < deps; i++) {
		struct graph_lane *other = &p->lane[p->step[dep[i]].lane];

		if (p->step[dep[i]].lane == lane)
			continue;
		add_wait(p, s, dep[i]);
		if (other->tail == dep[i])
			other->is_free = true;
	}
	if (!p->lane[lane].ctx)
		p->lane[lane].ctx = s->ctx;
	p->lane[lane].tail = step;
	p->lane[lane].is_free = false;
	return true;
}

static bool put_in_lanes(struct draft *d, CUcontext ctx)
{
	struct graph_plan *p = d->plan;
	bool ok = new_lane(p, ctx) != NO_STEP;

	p->wait = malloc((d->dep_count + 1) * sizeof *p->wait);
	ok = ok && p->wait;
	for (unsigned i = 0; ok && i < p->count; i++) {
		unsigned end =
		    i + 1 < p->count ? d->first[i + 1] : d->dep_count;

		ok = put_in_lane(p, i, d->dep + d->first[i], end - d->first[i]);
	}
	return ok;
}

/*
 * Lane 0 uses the launch's stream and needs none of its own, except in bodies,
 * which are not launched into a stream.
 */
static CUresult open_lanes(struct graph_plan *p, CUcontext ctx, unsigned from)
{
	for (unsigned i = from; i < p->lanes; i++) {
		struct graph_lane *lane = &p->lane[i];

		if (!lane->ctx)
			lane->ctx = ctx;
		lane->stream = stream_new(lane->ctx, STREAM_NON_BLOCKING, 0);
		if (!lane->stream)
			return CUDA_ERROR_OUT_OF_MEMORY;
		lane->life = handle_life(lane->stream);
	}
	return CUDA_SUCCESS;
}

CUresult plan_new(CUgraph graph, CUcontext ctx, struct graph_plan **ret_plan,
		  CUgraphNode *ret_bad)
{
	struct draft d = {.plan = calloc(1, sizeof *d.plan)};
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	*ret_bad = NULL;
	if (!d.plan)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = draft_graph(&d, graph, NO_STEP);
	if (!r && !put_in_lanes(&d, ctx))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (!r)
		r = open_lanes(d.plan, ctx,
			       graph->parent &&
				       graph->parent->params.type ==
					   CU_GRAPH_NODE_TYPE_CONDITIONAL
				   ? 0
				   : 1);
	free(d.dep);
	free(d.first);
	if (r) {
		*ret_bad = d.bad;
		plan_free(d.plan);
		return r;
	}
	*ret_plan = d.plan;
	return CUDA_SUCCESS;
}

/* Streams that ended with their context are skipped. */
void plan_free(struct graph_plan *p)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!p)
		return;
	for (unsigned i = 0; i < p->lanes; i++)
		if (p->lane[i].stream &&
		    handle_life(p->lane[i].stream) == p->lane[i].life)
			stream_destroy(p->lane[i].stream);
	free(p->lane);
	free(p->wait);
	free(p->step);
	free(p);
}

/* ---- a launch ---- */

static void drop_task(struct gkf_task *task)
{
	if (!task)
		return;
	if (task->drop)
		task->drop(task);
	gkf_task_free(task);
}

static bool is_event(CUgraphNode node)
{
	return node->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
	       node->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

static CUresult make_task(struct graph_step *s)
{
	CUgraphNode node = s->node;
	struct gkf_ticket ticket;
	CUresult r;

	s->task = NULL;
	if (!node || node->disabled)
		return CUDA_SUCCESS;
	if (!node_context_lives(node))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	r = node->ctx ? stream_error(node->ctx) : CUDA_SUCCESS;
	if (r)
		return r;
	if (is_event(node))
		return event_check(node->params.eventRecord.event, &ticket);
	return node_kind(node)->task ? node_kind(node)->task(node, &s->task)
				     : CUDA_SUCCESS;
}

CUresult plan_make(struct graph_plan *p)
{
	CUresult r = CUDA_SUCCESS;
	unsigned made = 0;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (; !r && made < p->count; made++)
		r = make_task(&p->step[made]);
	if (r)
		for (unsigned i = 0; i + 1 < made; i++)
			drop_task(p->step[i].task);
	return r;
}

void plan_drop(struct graph_plan *p)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (unsigned i = 0; i < p->count; i++)
		drop_task(p->step[i].task);
}

struct gkf_queue *plan_queue(const struct graph_plan *p, unsigned lane)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	GK_ASSERT(lane < p->lanes);
	return p->lane[lane].stream ? p->lane[lane].stream->queue : NULL;
}

void plan_priority(const struct graph_plan *p, int priority)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (unsigned i = 0; i < p->lanes; i++)
		if (plan_queue(p, i))
			gkf_queue_priority(plan_queue(p, i), priority);
}

/*
 * Looks up the event's last record only now, because an earlier step may have
 * made it.
 */
static void push_event(CUgraphNode node, struct gkf_queue *queue)
{
	CUevent event = node->params.eventRecord.event;
	struct gkf_ticket ticket;

	if (node->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		event_put(event, queue);
	else if (!event_check(event, &ticket))
		gkf_queue_after(queue, ticket);
}

static void push_step(struct graph_plan *p, struct graph_step *s,
		      struct gkf_queue *queue)
{
	for (unsigned i = 0; i < s->waits; i++)
		gkf_queue_after(queue,
				p->step[p->wait[s->first_wait + i]].done);
	if (s->task)
		gkf_queue_push(queue, s->task);
	else if (s->node && is_event(s->node))
		push_event(s->node, queue);
	s->done = gkf_queue_ticket(queue);
}

void plan_push(struct graph_plan *p, struct gkf_queue *first)
{
	struct gkf_queue *own = plan_queue(p, 0), *queue;
	struct gkf_ticket begin;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!first)
		first = own;
	begin = gkf_queue_ticket(first);
	for (unsigned i = own && own != first ? 0 : 1; i < p->lanes; i++)
		gkf_queue_after(plan_queue(p, i), begin);
	for (unsigned i = 0; i < p->count; i++) {
		queue = plan_queue(p, p->step[i].lane);
		push_step(p, &p->step[i], queue ? queue : first);
	}
	for (unsigned i = 0; i < p->lanes; i++) {
		queue = plan_queue(p, i);
		if (queue && queue != first)
			gkf_queue_after(first, gkf_queue_ticket(queue));
	}
}
