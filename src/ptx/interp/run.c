/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - runs a launch, one block after another, and within a block the warps
 * that are ready.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "ptx/interp/lanes.h"
#include "ptx/interp/op.h"
#include "ptx/interp/special.h"

#include <stdlib.h>
#include <string.h>

/* Runs the current path until it reaches w->limit. */
static void run_path(struct gkf_warp *w)
{
	const struct gkf_op *ops = w->frame->code->ops;

	while (w->pc < w->limit) {
		const struct gkf_op *op = &ops[w->pc++];
		uint32_t guard = *(const u32 *)gkf_at(w, op->guard);
		uint32_t mask = w->mask & (guard ^ op->guard_flip);

		if (mask)
			op->run(w, op, mask);
	}
}

/* Runs a warp until it exits, waits or yields. */
static void run_warp(struct gkf_warp *w)
{
	do {
		run_path(w);
		if (w->run->end != GKF_PTX_DONE || !w->live || w->yields)
			return;
	} while (gkf_path_choose(w));
}

static void start_warp(struct gkf_warp *w)
{
	uint32_t left = w->block->threads - w->index * GKF_LANES;
	uint32_t lanes = left < GKF_LANES ? (1U << left) - 1 : GKF_ALL_LANES;
	struct gkf_frame *f = w->root;

	w->live = w->lanes = w->mask = f->inside = lanes;
	w->gathered = w->met = 0;
	w->frame = f;
	w->pc = w->limit = 0;
	w->paths = 1;
	w->current = 0;
	w->path[0] = (struct gkf_path){.frame = f, .mask = lanes};
	w->patience = 256;
	w->turn = 0;
	w->yields = false;
	w->nap_ns = 0;
	memset(w->came, 0, sizeof w->came);
	gkf_specials_fill(w, w->run->kernel->block_specials);
}

static void run_block(struct gkf_block *b)
{
	struct gkf_run *run = b->run;
	bool progress = true;

	b->live = b->threads;
	if (run->slept_ns)
		run->block_ns = gkf_run_awake_ns(run);
	memset(b->barriers, 0, sizeof b->barriers);
	for (uint32_t i = 0; i < b->warp_count; i++)
		start_warp(b->warps[i]);
	while (b->live && progress && run->end == GKF_PTX_DONE) {
		progress = false;
		for (uint32_t i = 0; i < b->warp_count; i++) {
			struct gkf_warp *w = b->warps[i];

			if (!w->live || !gkf_path_choose(w))
				continue;
			progress = true;
			run_warp(w);
			if (run->end != GKF_PTX_DONE)
				return;
		}
	}
	if (b->live && run->end == GKF_PTX_DONE)
		gkf_run_fail(b->warps[0], NULL, 0, GKF_PTX_DEADLOCK, 0);
}

static uint64_t align_up(uint64_t size)
{
	return (size + 63) & ~(uint64_t)63;
}

/* Allocates a warp with its root frame, special registers and local memory. */
static struct gkf_warp *new_warp(struct gkf_block *b, uint32_t index)
{
	struct gkf_run *run = b->run;
	const struct gkf_code *code = &run->kernel->codes[0];
	uint64_t head = align_up(sizeof(struct gkf_warp));
	uint64_t frame = align_up(sizeof(struct gkf_frame) + code->frame_size);
	uint64_t special = align_up(gkf_specials_size());
	uint64_t local = (uint64_t)run->stack * GKF_LANES;
	unsigned char *room = aligned_alloc(64, head + frame + special);
	struct gkf_warp *w = (void *)room;

	if (!room)
		return NULL;
	memset(room, 0, head + frame + special);
	w->index = index;
	w->run = run;
	w->block = b;
	w->root = w->frame = (void *)(room + head);
	w->root->code = code;
	w->base[GKF_AREA_FRAME] = w->root->registers;
	w->base[GKF_AREA_POOL] = run->kernel->pool;
	w->base[GKF_AREA_WARP] = room + head + frame;
	w->local = local ? calloc(1, local) : NULL;
	if (local && !w->local) {
		free(room);
		return NULL;
	}
	gkf_specials_fill(w,
			  run->kernel->specials & ~run->kernel->block_specials);
	return w;
}

static void free_block(struct gkf_block *b)
{
	for (uint32_t i = 0; b->warps && i < b->warp_count; i++) {
		if (b->warps[i])
			free(b->warps[i]->local);
		free(b->warps[i]);
	}
	free(b->warps);
	free(b->shared);
	while (b->run->made) {
		struct gkf_frame *f = b->run->made;

		b->run->made = f->made_before;
		free(f);
	}
}

static bool make_block(struct gkf_block *b)
{
	const uint32_t *size = b->run->launch->block;

	b->threads = size[0] * size[1] * size[2];
	b->warp_count = (b->threads + GKF_LANES - 1) / GKF_LANES;
	b->warps = calloc(b->warp_count, sizeof *b->warps);
	b->shared = aligned_alloc(128, ((size_t)b->run->shared_size + 128) &
					   ~(size_t)127);
	if (!b->warps || !b->shared)
		return false;
	memset(b->shared, 0, b->run->shared_size);
	for (uint32_t i = 0; i < b->warp_count; i++) {
		b->warps[i] = new_warp(b, i);
		if (!b->warps[i])
			return false;
	}
	return true;
}

static void run_grid(struct gkf_run *run, struct gkf_block *b)
{
	const uint32_t *grid = run->launch->grid;

	for (uint32_t z = 0; z < grid[2]; z++)
		for (uint32_t y = 0; y < grid[1]; y++)
			for (uint32_t x = 0; x < grid[0]; x++) {
				b->at[0] = x;
				b->at[1] = y;
				b->at[2] = z;
				run_block(b);
				b->number++;
				if (run->launch->stopped &&
				    run->launch->stopped())
					gkf_run_fail(b->warps[0], NULL, 0,
						     GKF_PTX_STOPPED, 0);
				if (run->end != GKF_PTX_DONE)
					return;
			}
}

enum gkf_ptx_end gkf_ptx_run(const struct gkf_ptx_launch *launch,
			     struct gkf_ptx_report *ret_report)
{
	struct gkf_run run = {.launch = launch,
			      .kernel = launch->kernel,
			      .report = ret_report,
			      .start_ns = gk_mono_ns()};
	struct gkf_block block = {.run = &run};

	GK_ASSERT(launch->kernel && launch->find && ret_report);
	GK_ASSERT(launch->params || !launch->param_size);
	if (run.kernel->refused.name)
		return GKF_PTX_REFUSED;
	run.params = (unsigned char *)(uintptr_t)launch->params;
	run.stack = run.kernel->stack;
	run.shared_size = run.kernel->static_shared;
	if (launch->dynamic_shared)
		run.shared_size =
		    run.kernel->dynamic_at + launch->dynamic_shared;
	run.sm_count = launch->sm_count ? launch->sm_count : 1;
	if (make_block(&block))
		run_grid(&run, &block);
	else
		run.end = GKF_PTX_NO_MEMORY;
	free_block(&block);
	return run.end;
}
