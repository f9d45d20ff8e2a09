/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - executes branches, calls, exits, barriers and sleeps. */
#include "base/clock.h"
#include "ptx/interp/lanes.h"
#include "ptx/interp/op.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MAX  4096     /* nested calls */
#define NAP_MAX_NS 1000000U /* the longest nanosleep: 1 ms (PTX ISA) */
#define SLICE_NS   1000000U /* longest sleep between two calls of stopped() */
#define LATE_NS    100000U  /* time that is busy-waited at the end of a sleep */

void gkf_op_bra(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	gkf_path_branch(w, mask, (uint32_t)op->imm);
}

void gkf_op_exit(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	(void)op;
	gkf_path_exit(w, mask);
}

void gkf_op_ret(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	(void)op;
	gkf_path_return(w, mask);
}

void gkf_op_trap(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	gkf_run_fail(w, op, (unsigned)__builtin_ctz(mask), GKF_PTX_TRAPPED, 0);
}

void gkf_op_assert(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	gkf_run_fail(w, op, (unsigned)__builtin_ctz(mask), GKF_PTX_ASSERTED, 0);
}

static struct gkf_frame *take_frame(struct gkf_run *run)
{
	struct gkf_frame *f = run->spare;

	if (f) {
		run->spare = f->parent;
		return f;
	}
	f = aligned_alloc(64, sizeof *f + run->kernel->max_frame);
	if (f) {
		f->made_before = run->made;
		run->made = f;
	}
	return f;
}

void gkf_op_call(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	const struct gkf_code *code = &w->run->kernel->codes[op->call->code];
	uint32_t local = w->frame->local + w->frame->code->local_size;
	struct gkf_frame *f;

	if (w->run->stack - local < code->local_size ||
	    w->frame->depth == DEPTH_MAX) {
		gkf_run_fail(w, op, (unsigned)__builtin_ctz(mask),
			     GKF_PTX_STACK_OVERFLOW, 0);
		return;
	}
	f = take_frame(w->run);
	if (!f) {
		gkf_run_fail(w, op, 0, GKF_PTX_NO_MEMORY, 0);
		return;
	}
	f->code = code;
	f->parent = w->frame;
	f->call = op->call;
	f->local = local;
	f->depth = w->frame->depth + 1;
	for (uint32_t i = 0; i < op->call->in_count; i++) {
		const struct gkf_copy *c = &op->call->in[i];

		for (unsigned l = 0; l < GKF_LANES; l++) {
			unsigned char *lane =
			    w->local + (size_t)l * w->run->stack;

			if (mask >> l & 1)
				memcpy(lane + local + c->to,
				       lane + w->frame->local + c->from,
				       c->size);
		}
	}
	gkf_path_call(w, mask, f);
}

/* Reads a barrier's number and thread count from the first active lane. */
static bool barrier_operands(struct gkf_warp *w, const struct gkf_op *op,
			     uint32_t mask, uint32_t *ret_barrier,
			     uint32_t *ret_count)
{
	unsigned lane = (unsigned)__builtin_ctz(mask);

	*ret_barrier = ((const u32 *)gkf_at(w, op->a))[lane];
	*ret_count = ((const u32 *)gkf_at(w, op->b))[lane];
	if (*ret_barrier < GKF_BARRIERS && *ret_count % GKF_LANES == 0)
		return true;
	gkf_run_fail(w, op, lane, GKF_PTX_TRAPPED, 0);
	return false;
}

static void wait_at(struct gkf_warp *w, uint32_t mask, uint32_t barrier,
		    uint32_t count)
{
	gkf_path_block(w, mask, barrier);
	gkf_barrier_arrive(w, mask, barrier, count);
}

void gkf_op_bar_sync(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t barrier, count;

	if (barrier_operands(w, op, mask, &barrier, &count))
		wait_at(w, mask, barrier, count);
}

/* Like bar.sync, but also counts the threads whose predicate is true. */
void gkf_op_bar_red(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t barrier, count, said = *(const u32 *)gkf_at(w, op->c);
	struct gkf_barrier *at;

	if (!barrier_operands(w, op, mask, &barrier, &count))
		return;
	said = (op->flip_c ? ~said : said) & mask;
	at = &w->block->barriers[barrier];
	at->yes += (uint32_t)__builtin_popcount(said);
	at->no += (uint32_t)__builtin_popcount(mask & ~said);
	wait_at(w, mask, barrier, count);
}

/* Stores the result of bar.red: popc, and, or. */
void gkf_op_bar_result(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask)
{
	uint32_t barrier =
	    ((const u32 *)gkf_at(w, op->a))[__builtin_ctz(mask)] % GKF_BARRIERS;
	const struct gkf_barrier *at = &w->block->barriers[barrier];
	u32 *out = gkf_at(w, op->d);
	bool is;

	if (op->bool_ == GKF_BOOL_NONE) {
		for (unsigned l = 0; l < GKF_LANES; l++)
			if (mask >> l & 1)
				out[l] = at->all_yes;
		return;
	}
	is = op->bool_ == GKF_BOOL_AND ? !at->all_no : at->all_yes > 0;
	*out = (*out & ~mask) | (is ? mask : 0);
}

void gkf_op_bar_arrive(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask)
{
	uint32_t barrier, count;

	if (barrier_operands(w, op, mask, &barrier, &count))
		gkf_barrier_arrive(w, mask, barrier, count);
}

/* Sleeps until the given monotonic time; false if the launch was stopped. */
static bool sleep_until(const struct gkf_run *run, uint64_t until)
{
	bool (*stopped)(void) = run->launch->stopped;

	for (uint64_t now = gk_mono_ns(); now < until; now = gk_mono_ns()) {
		uint64_t left = until - now;
		uint64_t rest = left > LATE_NS ? left - LATE_NS : 0;
		struct timespec t =
		    gk_timespec(rest < SLICE_NS ? rest : SLICE_NS);

		if (stopped && stopped())
			return false;
		if (rest)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
	return true;
}

/*
 * Sleeps in real time. On a GPU the sleeps of different blocks overlap, but we
 * run one block after another. A sleep therefore ends as early as it would if
 * this block had started with the launch and no other warp had slept.
 */
static void sleep_warp(struct gkf_warp *w, uint64_t ns)
{
	struct gkf_run *run = w->run;
	uint64_t awake = gkf_run_awake_ns(run), before = gk_mono_ns();
	uint64_t lived = awake - run->block_ns + w->nap_ns;

	w->nap_ns += ns;
	if (!sleep_until(run, run->start_ns + lived + ns))
		gkf_run_fail(w, NULL, 0, GKF_PTX_STOPPED, 0);
	run->slept_ns += gk_mono_ns() - before;
}

static uint32_t longest_sleep(struct gkf_warp *w, const struct gkf_op *op,
			      uint32_t mask)
{
	const u32 *values = gkf_at(w, op->a);
	uint32_t most = 0;

	for (unsigned l = 0; l < GKF_LANES; l++)
		if (mask >> l & 1 && values[l] > most)
			most = values[l];
	return most;
}

void gkf_op_nanosleep(struct gkf_warp *w, const struct gkf_op *op,
		      uint32_t mask)
{
	uint32_t ns = longest_sleep(w, op, mask);

	sleep_warp(w, ns < NAP_MAX_NS ? ns : NAP_MAX_NS);
	w->yields = true;
	w->limit = 0;
}

/*
 * Returns a built-in function's parameter, which is in the caller's local
 * memory. The lower half of op->imm is the offset of the first parameter, the
 * upper half that of the last one.
 */
static const unsigned char *parameter_at(const struct gkf_warp *w,
					 unsigned lane, int64_t offset)
{
	return w->local + (size_t)lane * w->run->stack + w->frame->local +
	       (uint32_t)offset;
}

/* Implements cudaGraphSetConditional(handle, value). */
void gkf_op_set_condition(struct gkf_warp *w, const struct gkf_op *op,
			  uint32_t mask)
{
	const struct gkf_ptx_launch *launch = w->run->launch;
	uint64_t handle;
	uint32_t value;

	for (unsigned l = 0; l < GKF_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		memcpy(&handle, parameter_at(w, l, op->imm), sizeof handle);
		memcpy(&value, parameter_at(w, l, op->imm >> 32), sizeof value);
		if (launch->set_condition &&
		    launch->set_condition(handle, value))
			continue;
		gkf_run_fail(w, op, l, GKF_PTX_ILLEGAL_ADDRESS, handle);
		return;
	}
}

/* Implements gpukit_spin_us(us). */
void gkf_op_spin(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t most = 0;

	for (unsigned l = 0; l < GKF_LANES; l++) {
		uint32_t us;

		memcpy(&us, parameter_at(w, l, op->imm), sizeof us);
		if (mask >> l & 1 && us > most)
			most = us;
	}
	sleep_warp(w, most * (uint64_t)1000);
}
