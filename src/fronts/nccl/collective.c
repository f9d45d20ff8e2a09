/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.c - executes collectives. If every rank can access the buffers of
 * all others, each does its part directly in them. Otherwise data goes through
 * the windows of the shared file (meeting.h), chunk by chunk.
 */
#include "base/assert.h"
#include "fronts/nccl/front.h"
#include "fronts/nccl/reduce.h"

#include <stdio.h>
#include <string.h>

/* For at most this many bytes, each rank computes the whole reduction itself.
 */
#define ALONE_MAX (16u << 10)

struct doing {
	struct work *w;
	struct seat *seat;
	const struct call *call;
	unsigned rank, ranks;
	uint64_t size; /* bytes of an element */
	uint64_t one;  /* bytes of `count` elements */
	char *own_in, *own_out;
	const char *in[RANKS_MAX]; /* inputs of all ranks; NULL: not needed */
	char *out[RANKS_MAX];
	struct reduction reduction;
};

/* ---- steps ---- */

static uint64_t step_of(struct doing *d, unsigned rank)
{
	return atomic_load_explicit(&meeting_member(d->seat, rank)->step,
				    memory_order_acquire);
}

/* Whether a rank has not yet completed the step whose number is at `what`. */
static bool awaits_step(const struct work *w, unsigned rank, void *what)
{
	return atomic_load(&meeting_member(&w->c->seat, rank)->step) <
	       *(const uint64_t *)what;
}

/*
 * The parity of the next step: the data of a step is stored in the window with
 * the same parity.
 */
static unsigned next_parity(const struct doing *d)
{
	return (atomic_load(&d->w->self->step) + 1) & 1;
}

/* Completes a step and waits for all ranks. False: the kernel must end. */
static bool take_step(struct doing *d)
{
	uint64_t step = atomic_fetch_add(&d->w->self->step, 1) + 1;

	meeting_ring_all(d->seat);
	for (;;) {
		uint32_t seen = atomic_load(&d->w->self->bell);
		unsigned i = 0;

		while (i < d->ranks && step_of(d, i) >= step)
			i++;
		if (i == d->ranks)
			return true;
		if (!work_rest(d->w, seen, awaits_step, &step))
			return false;
	}
}

/* ---- checking that all ranks make the same call ---- */

static bool is_reduction(uint32_t function)
{
	return function == ALL_REDUCE || function == REDUCE ||
	       function == REDUCE_SCATTER;
}

/* Calls that only move data must agree on the number of bytes, not of elements.
 */
static bool is_same_call(const struct call *a, const struct call *b)
{
	if (a->function != b->function || a->root != b->root)
		return false;
	if (is_reduction(a->function))
		return a->count == b->count && a->type == b->type &&
		       a->op == b->op;
	return a->count * type_size((int)a->type) ==
	       b->count * type_size((int)b->type);
}

static void describe_call(const struct call *c, char *ret_text, size_t size)
{
	bool op = is_reduction(c->function),
	     root = c->function == BROADCAST || c->function == GATHER ||
		    c->function == REDUCE || c->function == SCATTER;
	char of_root[24] = "";

	if (root)
		snprintf(of_root, sizeof of_root, ", root %u", c->root);
	snprintf(ret_text, size, "%s(%llu x %s%s%s%s)",
		 function_name(c->function), (unsigned long long)c->count,
		 type_name(c->type), op ? ", " : "", op ? op_name(c->op) : "",
		 of_root);
}

static bool check_calls(struct doing *d, unsigned parity)
{
	struct call first = meeting_member(d->seat, 0)->call[parity];

	for (unsigned i = 1; i < d->ranks; i++) {
		struct call other = meeting_member(d->seat, i)->call[parity];
		char a[96], b[96];

		if (is_same_call(&first, &other))
			continue;
		describe_call(&first, a, sizeof a);
		describe_call(&other, b, sizeof b);
		comm_fail(d->w->c, ncclInvalidUsage,
			  "collective %llu of the communicator: rank 0 calls "
			  "%s, rank %u calls %s",
			  (unsigned long long)d->call->number, a, i, b);
		return false;
	}
	return true;
}

/* ---- arithmetic ---- */

/* The part of n elements for which a rank is responsible. */
static void find_slice(const struct doing *d, uint64_t n, unsigned rank,
		       uint64_t *ret_from, uint64_t *ret_n)
{
	uint64_t each = n / d->ranks, more = n % d->ranks;

	*ret_from = each * rank + (rank < more ? rank : more);
	*ret_n = each + (rank < more);
}

/*
 * Reduces the n elements at in[rank] + offset of all ranks. Writes the result
 * to to[i] + offset - behind for each receiver i.
 */
static bool reduce_all(struct doing *d, const char *const in[RANKS_MAX],
		       uint64_t offset, uint64_t n, char *const *to,
		       unsigned receivers, uint64_t behind)
{
	const char *at[RANKS_MAX];
	uint64_t block[REDUCE_BLOCK]; /* large enough for any type */

	for (uint64_t done = 0; done < n; done += REDUCE_BLOCK) {
		uint64_t some =
		    n - done < REDUCE_BLOCK ? n - done : REDUCE_BLOCK;
		uint64_t from = offset + done * d->size;

		if (done % (64 * REDUCE_BLOCK) == 0 && done &&
		    !work_goes_on(d->w))
			return false;
		for (unsigned i = 0; i < d->ranks; i++)
			at[i] = in[i] + from;
		reduce_block(&d->reduction, block, at, some);
		for (unsigned i = 0; i < receivers; i++)
			memcpy(to[i] + from - behind, block, some * d->size);
	}
	d->w->run->operations += n * (d->ranks - 1);
	return true;
}

/* ---- directly in the buffers of all ranks ---- */

static bool do_direct(struct doing *d)
{
	const struct call *call = d->call;
	unsigned first = 0, last = d->ranks - 1;
	uint64_t from, n;

	switch (call->function) {
	case ALL_REDUCE:
	case REDUCE:
		find_slice(d, call->count, d->rank, &from, &n);
		if (call->function == ALL_REDUCE)
			return reduce_all(d, d->in, from * d->size, n, d->out,
					  d->ranks, 0);
		return reduce_all(d, d->in, from * d->size, n,
				  &d->out[call->root], 1, 0);
	case REDUCE_SCATTER:
		return reduce_all(d, d->in, d->rank * d->one, call->count,
				  &d->own_out, 1, d->rank * d->one);
	case BROADCAST:
		return work_copy(d->w, d->own_out, d->in[call->root], d->one);
	case SCATTER:
		return work_copy(d->w, d->own_out,
				 d->in[call->root] + d->rank * d->one, d->one);
	case GATHER:
		if (d->rank != call->root)
			return true;
		break;
	default:
		break;
	}
	for (unsigned i = first; i <= last; i++) {
		/* Ranks start with different peers, to spread the load. */
		unsigned k = (d->rank + i) % d->ranks;
		uint64_t at =
		    call->function == ALL_TO_ALL ? d->rank * d->one : 0;

		if (!work_copy(d->w, d->own_out + k * d->one, d->in[k] + at,
			       d->one))
			return false;
	}
	return true;
}

/* Determines which buffers of another rank this rank uses. */
static void find_needs(const struct doing *d, unsigned rank, bool *ret_in,
		       bool *ret_out)
{
	bool is_root = rank == d->call->root;

	*ret_in = *ret_out = false;
	switch (d->call->function) {
	case ALL_REDUCE:
		*ret_in = *ret_out = true;
		break;
	case REDUCE:
		*ret_in = true;
		*ret_out = is_root;
		break;
	case BROADCAST:
	case SCATTER:
		*ret_in = is_root;
		break;
	case GATHER:
		*ret_in = d->rank == d->call->root;
		break;
	default:
		*ret_in = true;
	}
}

static uint64_t in_blocks(const struct doing *d)
{
	uint32_t f = d->call->function;

	return f == ALL_TO_ALL || f == REDUCE_SCATTER || f == SCATTER ? d->ranks
								      : 1;
}

/* In place, each rank would overwrite data that others have not read yet. */
static bool is_exchange_in_place(const struct doing *d)
{
	uint64_t all = d->ranks * d->one;

	return d->call->function == ALL_TO_ALL &&
	       d->own_in < d->own_out + all && d->own_out < d->own_in + all;
}

static bool reach_all(struct doing *d, unsigned parity)
{
	bool in, out;

	for (unsigned i = 0; i < d->ranks; i++) {
		struct call theirs = meeting_member(d->seat, i)->call[parity];

		find_needs(d, i, &in, &out);
		d->in[i] = i == d->rank ? d->own_in : NULL;
		d->out[i] = i == d->rank ? d->own_out : NULL;
		if (in && i != d->rank) {
			d->in[i] = work_reach(d->w, i, &theirs.in, GPUKIT_READS,
					      in_blocks(d) * d->one);
			if (!d->in[i])
				return false;
		}
		if (out && i != d->rank) {
			d->out[i] = work_reach(d->w, i, &theirs.out,
					       GPUKIT_WRITES, d->one);
			if (!d->out[i])
				return false;
		}
	}
	return !is_exchange_in_place(d);
}

/* Determines whether every rank can access all the buffers that it needs.
 * Completes a step. */
static bool agree_on_direct(struct doing *d, unsigned parity, bool *ret_direct)
{
	unsigned next = next_parity(d);

	atomic_store(&d->w->self->agrees[next], reach_all(d, parity));
	if (!take_step(d))
		return false;
	*ret_direct = true;
	for (unsigned i = 0; i < d->ranks; i++)
		if (!atomic_load(&meeting_member(d->seat, i)->agrees[next]))
			*ret_direct = false;
	return true;
}

/* ---- through windows ---- */

/* The part of a collective that fits in the windows at once. */
struct chunk {
	uint64_t from, n; /* elements in each block */
	unsigned parity;
};

static uint64_t chunk_elements(const struct doing *d)
{
	GK_ASSERT(d->ranks && d->size);
	return WINDOW_BYTES / (in_blocks(d) * d->size);
}

static bool gives_data(const struct doing *d)
{
	uint32_t f = d->call->function;

	return (f != BROADCAST && f != SCATTER) || d->rank == d->call->root;
}

static void put_chunk(const struct doing *d, const struct chunk *k)
{
	char *window = meeting_window(d->seat, d->rank, k->parity);
	uint64_t bytes = k->n * d->size;

	if (!gives_data(d))
		return;
	GK_ASSERT(d->own_in); /* the call has elements */
	for (uint64_t b = 0; b < in_blocks(d); b++)
		memcpy(window + b * bytes,
		       d->own_in + b * d->one + k->from * d->size, bytes);
}

/*
 * Each rank reduces its slice, completes a step, and collects the slices of the
 * other ranks. A small chunk is reduced by every rank on its own, without a
 * step.
 */
static bool reduce_chunk(struct doing *d, const struct chunk *k,
			 const char *const windows[RANKS_MAX])
{
	bool gets = d->call->function == ALL_REDUCE || d->rank == d->call->root;
	char *to = gets ? d->own_out + k->from * d->size : NULL;
	uint64_t from, n;
	char *result;

	if (k->n * d->size <= ALONE_MAX)
		return !gets || reduce_all(d, windows, 0, k->n, &to, 1, 0);
	find_slice(d, k->n, d->rank, &from, &n);
	result = meeting_window(d->seat, d->rank, k->parity ^ 1);
	if (!reduce_all(d, windows, from * d->size, n, &result, 1, 0) ||
	    !take_step(d))
		return false;
	for (unsigned i = 0; gets && i < d->ranks; i++) {
		find_slice(d, k->n, i, &from, &n);
		memcpy(to + from * d->size,
		       meeting_window(d->seat, i, k->parity ^ 1) +
			   from * d->size,
		       n * d->size);
	}
	return true;
}

static bool get_chunk(struct doing *d, const struct chunk *k)
{
	const struct call *call = d->call;
	uint64_t bytes = k->n * d->size, at = k->from * d->size;
	uint64_t own = in_blocks(d) > 1 ? d->rank * bytes : 0;
	const char *windows[RANKS_MAX];

	for (unsigned i = 0; i < d->ranks; i++)
		windows[i] = meeting_window(d->seat, i, k->parity) + own;
	switch (call->function) {
	case ALL_REDUCE:
	case REDUCE:
		return reduce_chunk(d, k, windows);
	case REDUCE_SCATTER: {
		char *to = d->own_out + at;

		return reduce_all(d, windows, 0, k->n, &to, 1, 0);
	}
	case BROADCAST:
	case SCATTER:
		if (d->own_out + at != d->own_in + at || d->rank != call->root)
			memcpy(d->own_out + at, windows[call->root], bytes);
		return true;
	case GATHER:
		if (d->rank != call->root)
			return true;
		break;
	default:
		break;
	}
	for (unsigned i = 0; i < d->ranks; i++)
		memcpy(d->own_out + i * d->one + at, windows[i], bytes);
	return true;
}

/* Executes a collective through the windows. If is_put is true, the first chunk
 * has been in the windows since the step in do_call(). */
static bool do_windows(struct doing *d, bool is_put)
{
	struct chunk k = {.n = chunk_elements(d)};

	for (; k.from < d->call->count; k.from += k.n) {
		if (k.from + k.n > d->call->count)
			k.n = d->call->count - k.from;
		if (is_put) {
			k.parity = next_parity(d) ^ 1;
			is_put = false;
		} else {
			k.parity = next_parity(d);
			put_chunk(d, &k);
			if (!take_step(d))
				return false;
		}
		if (!get_chunk(d, &k))
			return false;
	}
	return true;
}

/* ---- a collective ---- */

static bool are_all_here(const struct doing *d)
{
	for (unsigned i = 0; i < d->ranks; i++)
		if (meeting_member(d->seat, i)->process != d->w->self->process)
			return false;
	return true;
}

static bool find_own(struct doing *d, struct collective *what)
{
	uint64_t in = in_blocks(d) * d->one, out = d->one;
	uint32_t f = what->call.function;

	if (f == ALL_GATHER || f == ALL_TO_ALL || f == GATHER)
		out *= d->ranks;
	if (what->in) {
		d->own_in = work_memory(d->w, GPUKIT_READS, what->in, in);
		if (!d->own_in)
			return false;
	}
	if (what->out) {
		d->own_out = work_memory(d->w, GPUKIT_WRITES, what->out, out);
		if (!d->own_out)
			return false;
	}
	return true;
}

static bool find_scalar(struct doing *d, const struct collective *what,
			struct call *call)
{
	const void *at;

	if (!what->scalar)
		return true;
	at = work_memory(d->w, GPUKIT_READS, what->scalar, d->size);
	if (at)
		memcpy(&call->scalar, at, d->size);
	return at;
}

/* Prepares the reduction, with the scalars of all ranks. */
static void set_reduction(struct doing *d, unsigned parity)
{
	d->reduction.type = d->call->type;
	d->reduction.op = d->call->op;
	d->reduction.ranks = d->ranks;
	for (unsigned i = 0; i < d->ranks; i++)
		d->reduction.scalar[i] =
		    meeting_member(d->seat, i)->call[parity].scalar;
}

/*
 * Publishes this rank's call, checks that all ranks make the same call, and
 * executes it.
 */
static bool do_call(struct doing *d, const struct call *call)
{
	unsigned parity = next_parity(d);
	bool here = are_all_here(d), direct = true;
	bool small = !here && in_blocks(d) * d->one <= WINDOW_BYTES;
	struct chunk all = {.n = call->count, .parity = parity};

	d->w->self->call[parity] = *call;
	if (small)
		put_chunk(d, &all);
	if (!take_step(d) || !check_calls(d, parity))
		return false;
	set_reduction(d, parity);
	if (small)
		return do_windows(d, true);
	if (!agree_on_direct(d, parity, &direct))
		return false;
	if (!direct)
		return do_windows(d, false);
	/* A rank may return only when no other rank uses its buffers. */
	return do_direct(d) && take_step(d);
}

/* Adds the bytes that would be sent and received if the ranks formed a ring. */
static void count_links(struct doing *d)
{
	uint64_t n = d->ranks, others = d->one * (n - 1);
	bool is_root = d->rank == d->call->root;
	struct gpukit_run *run = d->w->run;

	switch (d->call->function) {
	case ALL_REDUCE:
		run->link_in += 2 * others / n;
		run->link_out += 2 * others / n;
		break;
	case BROADCAST:
		run->link_in += is_root ? 0 : d->one;
		run->link_out += is_root ? d->one : 0;
		break;
	case REDUCE:
		run->link_in += is_root ? d->one : 0;
		run->link_out += is_root ? 0 : d->one;
		break;
	case GATHER:
		run->link_in += is_root ? others : 0;
		run->link_out += is_root ? 0 : d->one;
		break;
	case SCATTER:
		run->link_in += is_root ? 0 : d->one;
		run->link_out += is_root ? others : 0;
		break;
	default:
		run->link_in += others;
		run->link_out += others;
	}
}

bool collective_run(struct work *w, struct collective *what)
{
	struct ncclComm *c = w->c;
	struct call call = what->call;
	struct doing d = {.w = w,
			  .seat = &c->seat,
			  .call = &call,
			  .rank = c->rank,
			  .ranks = c->ranks,
			  .size = type_size((int)call.type)};
	bool ok;

	d.one = call.count * d.size;
	call.number = ++c->number;
	if (!find_own(&d, what) || !find_scalar(&d, what, &call))
		return false;
	call.in.pointer = (uintptr_t)d.own_in;
	call.out.pointer = (uintptr_t)d.own_out;
	atomic_store(&w->self->doing, call.number);
	ok = do_call(&d, &call);
	atomic_store(&w->self->doing, 0);
	if (ok)
		count_links(&d);
	return ok;
}
