/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - handles divergence: schedules the lanes of a warp when they are at
 * different instructions.
 *
 * A path is a set of lanes at one instruction of one frame. Among the paths in
 * the deepest frame, the one that is furthest behind runs until it reaches
 * another path, and the two merge. A path that loops while others wait gives
 * them a turn, so that lanes may wait for lanes of their own warp.
 */
#include "base/assert.h"
#include "ptx/interp/program.h"

#include <stdlib.h>
#include <string.h>

/* number of back-branches before other paths get a turn */
#define PATIENCE 256
/* how many more times a path runs after another path yielded to it */
#define TURN 64

static void add_path(struct gkf_warp *w, uint32_t mask, uint32_t pc,
		     enum gkf_path_state state, unsigned barrier)
{
	GK_ASSERT(w->paths <= GKF_LANES);
	w->path[w->paths++] = (struct gkf_path){.frame = w->frame,
						.mask = mask,
						.pc = pc,
						.state = (uint8_t)state,
						.barrier = (uint8_t)barrier};
	w->limit = 0;
}

static void count_back_branch(struct gkf_warp *w)
{
	struct gkf_run *run = w->run;

	if (run->launch->stopped && run->launch->stopped())
		gkf_run_fail(w, NULL, 0, GKF_PTX_STOPPED, 0);
	if (--w->patience > 0)
		return;
	w->patience = PATIENCE;
	w->yields = true;
	w->limit = 0;
}

void gkf_path_branch(struct gkf_warp *w, uint32_t taken, uint32_t target)
{
	uint32_t rest = w->mask & ~taken;

	if (rest)
		add_path(w, rest, w->pc, GKF_PATH_READY, 0);
	if (target > w->limit)
		w->limit = 0;
	w->mask = taken;
	if (target < w->pc)
		count_back_branch(w);
	w->pc = target;
}

void gkf_path_block(struct gkf_warp *w, uint32_t mask, unsigned barrier)
{
	struct gkf_path *p = &w->path[w->current];

	GK_ASSERT(!(mask & ~w->mask));
	if (mask == w->mask) {
		p->state = GKF_PATH_BARRIER;
		p->barrier = (uint8_t)barrier;
	} else {
		add_path(w, mask, w->pc, GKF_PATH_BARRIER, barrier);
		w->mask &= ~mask;
	}
	w->limit = 0;
}

void gkf_path_gather(struct gkf_warp *w, uint32_t mask, uint32_t wanted)
{
	GK_ASSERT(!(mask & ~w->mask));
	add_path(w, mask, w->pc - 1, GKF_PATH_WARP, 0);
	w->path[w->paths - 1].wanted = wanted;
	w->gathered |= mask;
	w->mask &= ~mask;
}

/* Returns all lanes that wait for the same set of lanes as the path p. */
static uint32_t gathered_lanes(const struct gkf_warp *w,
			       const struct gkf_path *p)
{
	uint32_t there = 0;

	for (uint32_t i = 0; i < w->paths; i++)
		if (w->path[i].state == GKF_PATH_WARP &&
		    w->path[i].wanted == p->wanted)
			there |= w->path[i].mask;
	return there;
}

/*
 * Runs the instruction at which a path waits, with w->met set to the lanes that
 * have met, and makes the path ready.
 */
static void act_path(struct gkf_warp *w, struct gkf_path *p)
{
	const struct gkf_op *op = &p->frame->code->ops[p->pc++];

	w->base[GKF_AREA_FRAME] = p->frame->registers;
	op->run(w, op, p->mask);
	w->gathered &= ~p->mask;
	p->state = GKF_PATH_READY;
}

/* Releases the paths whose awaited lanes have all arrived. */
static void release_paths(struct gkf_warp *w)
{
	for (uint32_t i = 0; w->gathered && i < w->paths; i++) {
		uint32_t wanted = w->path[i].wanted;

		if (w->path[i].state != GKF_PATH_WARP)
			continue;
		w->met = gathered_lanes(w, &w->path[i]);
		if (!(wanted & w->live & ~w->met))
			for (uint32_t j = i; j < w->paths; j++)
				if (w->path[j].state == GKF_PATH_WARP &&
				    w->path[j].wanted == wanted)
					act_path(w, &w->path[j]);
		w->met = 0;
	}
}

void gkf_path_call(struct gkf_warp *w, uint32_t mask, struct gkf_frame *frame)
{
	uint32_t rest = w->mask & ~mask;

	GK_ASSERT(!(mask & ~w->mask));
	if (rest)
		add_path(w, rest, w->pc, GKF_PATH_READY, 0);
	frame->return_pc = w->pc;
	frame->inside = mask;
	w->mask = mask;
	w->frame = frame;
	w->pc = 0;
	w->limit = 0;
}

/* Copies results to the caller's local memory in the returning lanes. */
static void return_results(struct gkf_warp *w, const struct gkf_frame *f,
			   uint32_t mask)
{
	for (uint32_t i = 0; i < f->call->out_count; i++) {
		const struct gkf_copy *c = &f->call->out[i];

		for (unsigned l = 0; l < GKF_LANES; l++) {
			unsigned char *lane =
			    w->local + (size_t)l * w->run->stack;

			if (mask >> l & 1)
				memcpy(lane + f->parent->local + c->to,
				       lane + f->local + c->from, c->size);
		}
	}
}

/*
 * Frees the path's frame and its callers' frames, up to one that still has
 * lanes inside.
 */
static void leave_frames(struct gkf_warp *w)
{
	while (w->frame->parent && !w->frame->inside) {
		struct gkf_frame *f = w->frame;

		w->frame = f->parent;
		f->parent = w->run->spare;
		w->run->spare = f;
	}
	w->limit = 0;
}

/*
 * Returning lanes do not wait for lanes that are still in the function, because
 * the latter may depend on what the former do next. All of them merge again,
 * because deeper frames run first.
 */
void gkf_path_return(struct gkf_warp *w, uint32_t mask)
{
	struct gkf_frame *f = w->frame;
	uint32_t rest = w->mask & ~mask;

	if (!f->parent) {
		gkf_path_exit(w, mask);
		return;
	}
	return_results(w, f, mask);
	if (rest)
		add_path(w, rest, w->pc, GKF_PATH_READY, 0);
	f->inside &= ~mask;
	w->mask = mask;
	w->pc = f->return_pc;
	if (f->inside)
		w->frame = f->parent;
	leave_frames(w);
}

void gkf_path_exit(struct gkf_warp *w, uint32_t mask)
{
	w->live &= ~mask;
	w->mask &= ~mask;
	w->block->live -= (uint32_t)__builtin_popcount(mask);
	for (struct gkf_frame *f = w->frame; f; f = f->parent)
		f->inside &= ~mask;
	leave_frames(w);
	gkf_barriers_look(w->block);
}

static bool meet_paths(const struct gkf_path *a, const struct gkf_path *b)
{
	return a->frame == b->frame && a->pc == b->pc &&
	       a->state == GKF_PATH_READY && b->state == GKF_PATH_READY;
}

/*
 * Moves the running path to index 0, drops empty paths, and merges paths that
 * have met.
 */
static void tidy_paths(struct gkf_warp *w)
{
	struct gkf_path running = {0};
	uint32_t kept = 0;

	if (w->current < w->paths) {
		running = w->path[w->current];
		running.frame = w->frame;
		running.mask = w->mask;
		running.pc = w->pc;
		w->path[w->current] = w->path[0];
		w->path[0] = running;
	}
	release_paths(w);
	for (uint32_t i = 0; i < w->paths; i++) {
		uint32_t j = 0;

		if (!w->path[i].mask)
			continue;
		while (j < kept && !meet_paths(&w->path[j], &w->path[i]))
			j++;
		if (j < kept)
			w->path[j].mask |= w->path[i].mask;
		else
			w->path[kept++] = w->path[i];
	}
	if (!w->paths || !running.mask)
		w->turn = 0;
	w->paths = kept;
}

static bool is_before(const struct gkf_path *a, const struct gkf_path *b)
{
	if (a->frame->depth != b->frame->depth)
		return a->frame->depth > b->frame->depth;
	return a->pc < b->pc;
}

/*
 * Chooses a ready path: during a turn, the one that is running; if that one
 * yields, the path that has waited longest; otherwise the one furthest behind.
 */
static uint32_t next_path(struct gkf_warp *w)
{
	uint32_t best = UINT32_MAX;

	if (!w->yields && w->turn && w->path[0].state == GKF_PATH_READY) {
		w->turn--;
		return 0;
	}
	for (uint32_t i = 0; i < w->paths; i++) {
		const struct gkf_path *p = &w->path[i];

		if (p->state != GKF_PATH_READY)
			continue;
		if (best == UINT32_MAX ||
		    (w->yields ? p->waited > w->path[best].waited
			       : is_before(p, &w->path[best])))
			best = i;
	}
	if (w->yields)
		w->turn = TURN;
	w->yields = false;
	return best;
}

bool gkf_path_choose(struct gkf_warp *w)
{
	const struct gkf_path *p;

	tidy_paths(w);
	if (w->yields && w->paths)
		w->path[0].waited = 0;
	w->current = next_path(w);
	if (w->current == UINT32_MAX)
		return false;
	p = &w->path[w->current];
	w->frame = p->frame;
	w->mask = p->mask;
	w->pc = p->pc;
	w->base[GKF_AREA_FRAME] = w->frame->registers;
	w->limit = UINT32_MAX;
	for (uint32_t i = 0; i < w->paths; i++) {
		struct gkf_path *o = &w->path[i];

		o->waited = i == w->current ? 0 : o->waited + 1;
		if (o->frame == p->frame && o->pc > p->pc &&
		    o->state == GKF_PATH_READY && o->pc < w->limit)
			w->limit = o->pc;
	}
	return true;
}
