/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp_op.c - executes operations in which the lanes of a warp cooperate:
 * shuffles, votes, matches, reductions. Each lane stores a value and waits
 * until all lanes of its member mask have arrived; then it can read all their
 * values.
 */
#include "ptx/interp/warp_op.h"
#include "ptx/interp/lanes.h"

#include <string.h>

static uint32_t lane_word(struct gkf_warp *w, uint32_t place, unsigned lane)
{
	return ((const u32 *)gkf_at(w, place))[lane];
}

/*
 * Computes the results for the lanes of `mask` from the values of the lanes of
 * `all`.
 */
typedef void act_fn(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask,
		    uint32_t all);

/* Stores the values of all lanes except those that are already waiting. */
static void bring_values(struct gkf_warp *w, const struct gkf_op *op)
{
	const void *a = gkf_at(w, op->a);
	uint32_t said = *(const u32 *)a;

	for (unsigned l = 0; l < GKF_LANES; l++) {
		if (w->gathered >> l & 1)
			continue;
		if (op->size == 8)
			w->brought[l] = ((const u64 *)a)[l];
		else if (op->size == 4)
			w->brought[l] = ((const u32 *)a)[l];
		else
			w->brought[l] = (op->flip_c ? ~said : said) >> l & 1;
	}
}

/*
 * Returns the lanes of a set that have the same member mask as its first lane.
 */
static uint32_t lanes_alike(const u32 *members, uint32_t set)
{
	uint32_t same = 0, first = members[__builtin_ctz(set)];

	for (unsigned l = 0; l < GKF_LANES; l++)
		same |= (uint32_t)(members[l] == first) << l;
	return same & set;
}

/*
 * Lanes with the same member mask, which is the last operand, form a group. An
 * incomplete group waits; once it is complete, its instruction runs again with
 * w->met set.
 */
static void act_together(struct gkf_warp *w, const struct gkf_op *op,
			 uint32_t mask, act_fn *act)
{
	const u32 *members;
	uint32_t group;

	if (w->met) {
		act(w, op, mask, w->met);
		return;
	}
	bring_values(w, op);
	if (op->e == GKF_NOWHERE) {
		act(w, op, mask, mask);
		return;
	}
	members = gkf_at(w, op->e);
	for (uint32_t left = mask; left; left &= ~group) {
		uint32_t wanted = members[__builtin_ctz(left)];

		group = lanes_alike(members, left);
		if (wanted & w->live & ~group)
			gkf_path_gather(w, group, wanted);
		else
			act(w, op, group, group);
	}
}

static void put_lane_words(struct gkf_warp *w, uint32_t place, uint32_t mask,
			   uint32_t value)
{
	u32 *out;

	if (place == GKF_NOWHERE)
		return;
	out = gkf_at(w, place);
	for (unsigned l = 0; l < GKF_LANES; l++)
		if (mask >> l & 1)
			out[l] = value;
}

/*
 * Finds the lane that a lane reads from. Returns false if the lane to read from
 * is out of range; the reading lane then keeps its own value.
 */
static bool source_lane(enum gkf_warp_how how, uint32_t lane, uint32_t b,
			uint32_t c, uint32_t *ret_lane)
{
	uint32_t segment = c >> 8 & 31, limit;
	uint32_t first = lane & segment;

	b &= 31;
	limit = first | (c & 31 & ~segment);
	if (how == GKF_SHUFFLE_UP) {
		*ret_lane = lane - b;
		return (int32_t)*ret_lane >= (int32_t)limit;
	}
	if (how == GKF_SHUFFLE_DOWN)
		*ret_lane = lane + b;
	else if (how == GKF_SHUFFLE_XOR)
		*ret_lane = lane ^ b;
	else
		*ret_lane = first | (b & ~segment);
	return *ret_lane <= limit;
}

static void shuffle_lanes(struct gkf_warp *w, const struct gkf_op *op,
			  uint32_t mask, uint32_t all)
{
	uint32_t value[GKF_LANES], inside = 0;
	u32 *out;

	(void)all;
	for (uint32_t l = 0; l < GKF_LANES; l++) {
		uint32_t from = l;

		if (source_lane((enum gkf_warp_how)op->imm, l,
				lane_word(w, op->b, l), lane_word(w, op->c, l),
				&from))
			inside |= 1U << l;
		else
			from = l;
		value[l] = (uint32_t)w->brought[from & 31];
	}
	if (op->d != GKF_NOWHERE) {
		out = gkf_at(w, op->d);
		for (unsigned l = 0; l < GKF_LANES; l++)
			if (mask >> l & 1)
				out[l] = value[l];
	}
	if (op->places)
		gkf_put_predicate(w, op->places[0], mask, inside);
}

static void vote_lanes(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask, uint32_t all)
{
	uint32_t said = 0;

	/*
	 * A vote is bit 0 of brought[]; for a lane that does not vote, other
	 * bits may be set, too.
	 */
	for (unsigned l = 0; l < GKF_LANES; l++)
		said |= (uint32_t)(w->brought[l] & 1) << l;
	said &= all;
	switch (op->imm) {
	case GKF_VOTE_BALLOT:
		put_lane_words(w, op->d, mask, said);
		return;
	case GKF_VOTE_ALL:
		said = said == all ? mask : 0;
		break;
	case GKF_VOTE_ANY:
		said = said ? mask : 0;
		break;
	default: /* whether all agree */
		said = !said || said == all ? mask : 0;
		break;
	}
	gkf_put_predicate(w, op->d, mask, said);
}

void gkf_op_active(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	put_lane_words(w, op->d, mask, mask);
}

/* Returns the lanes of `all` that have the same value as the given lane. */
static uint32_t equal_lanes(const struct gkf_warp *w, uint32_t all,
			    unsigned lane)
{
	uint32_t same = 0;

	for (unsigned l = 0; l < GKF_LANES; l++)
		same |= (uint32_t)(w->brought[l] == w->brought[lane]) << l;
	return same & all;
}

static void match_lanes(struct gkf_warp *w, const struct gkf_op *op,
			uint32_t mask, uint32_t all)
{
	bool whole = equal_lanes(w, all, (unsigned)__builtin_ctz(all)) == all;

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		uint32_t same = equal_lanes(w, all, l);

		if (op->imm == GKF_MATCH_ALL)
			same = whole ? all : 0;
		put_lane_words(w, op->d, 1U << l, same);
	}
	if (op->places)
		gkf_put_predicate(w, op->places[0], mask, whole ? mask : 0);
}

static uint32_t combine_values(enum gkf_warp_how how, uint32_t a, uint32_t b)
{
	switch ((unsigned)how) {
	case GKF_REDUCE_ADD:
		return a + b;
	case GKF_REDUCE_MIN_U:
		return a < b ? a : b;
	case GKF_REDUCE_MAX_U:
		return a > b ? a : b;
	case GKF_REDUCE_MIN_S:
		return (int32_t)a < (int32_t)b ? a : b;
	case GKF_REDUCE_MAX_S:
		return (int32_t)a > (int32_t)b ? a : b;
	case GKF_REDUCE_AND:
		return a & b;
	case GKF_REDUCE_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static void reduce_lanes(struct gkf_warp *w, const struct gkf_op *op,
			 uint32_t mask, uint32_t all)
{
	uint32_t sum = (uint32_t)w->brought[__builtin_ctz(all)], left;

	for (left = all & (all - 1); left; left &= left - 1)
		sum = combine_values((enum gkf_warp_how)op->imm, sum,
				     (uint32_t)w->brought[__builtin_ctz(left)]);
	put_lane_words(w, op->d, mask, sum);
}

/* bar.warp.sync does nothing once all lanes have arrived. */
static void meet_lanes(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask, uint32_t all)
{
	(void)w;
	(void)op;
	(void)mask;
	(void)all;
}

#define TOGETHER(name, act)                                                    \
	void gkf_op_##name(struct gkf_warp *w, const struct gkf_op *op,        \
			   uint32_t mask)                                      \
	{                                                                      \
		act_together(w, op, mask, act);                                \
	}
TOGETHER(shuffle, shuffle_lanes)
TOGETHER(vote, vote_lanes)
TOGETHER(match, match_lanes)
TOGETHER(reduce, reduce_lanes)
TOGETHER(warp_sync, meet_lanes)

/* Rows of 8 16-bit numbers; lane l holds the address of row l. */
#define ROWS 8
struct rows {
	unsigned char *at[4 * ROWS];
};

static bool reach_row(struct gkf_warp *w, const struct gkf_op *op,
		      uint32_t mask, unsigned l, struct rows *r)
{
	if (!(mask >> l & 1)) {
		gkf_run_fail(w, op, l, GKF_PTX_TRAPPED, 0);
		return false;
	}
	r->at[l] = gkf_reach(w, op, l);
	return r->at[l] != NULL;
}

static bool reach_rows(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask, struct rows *r)
{
	for (unsigned i = 0; i < op->b; i++)
		for (unsigned l = 0; l < ROWS; l++)
			if (!reach_row(w, op, mask, i * ROWS + l, r))
				return false;
	return true;
}

/*
 * Returns a lane's two adjacent elements of a row or, if transposed, of a
 * column.
 */
static uint32_t pair_of(unsigned char *const row[ROWS], unsigned lane,
			bool turned)
{
	unsigned first = lane / 4, second = lane % 4 * 2;
	uint16_t low, high;

	if (turned) {
		memcpy(&low, row[second] + 2 * first, 2);
		memcpy(&high, row[second + 1] + 2 * first, 2);
	} else {
		memcpy(&low, row[first] + 2 * second, 2);
		memcpy(&high, row[first] + 2 * second + 2, 2);
	}
	return (uint32_t)high << 16 | low;
}

/* The modifier .aligned promises that all lanes execute this together. */
void gkf_op_ldmatrix(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	struct rows r;

	if (!reach_rows(w, op, mask, &r))
		return;
	for (unsigned i = 0; i < op->b; i++) {
		u32 *out;

		if (op->places[i] == GKF_NOWHERE)
			continue;
		out = gkf_at(w, op->places[i]);
		for (unsigned l = 0; l < GKF_LANES; l++)
			if (mask >> l & 1)
				out[l] =
				    pair_of(r.at + i * ROWS, l, op->c != 0);
	}
}

static void put_pair(unsigned char *const row[ROWS], unsigned lane, bool turned,
		     uint32_t pair)
{
	unsigned first = lane / 4, second = lane % 4 * 2;
	uint16_t low = (uint16_t)pair, high = (uint16_t)(pair >> 16);

	if (turned) {
		memcpy(row[second] + 2 * first, &low, 2);
		memcpy(row[second + 1] + 2 * first, &high, 2);
	} else {
		memcpy(row[first] + 2 * second, &low, 2);
		memcpy(row[first] + 2 * second + 2, &high, 2);
	}
}

void gkf_op_stmatrix(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	struct rows r;

	if (!reach_rows(w, op, mask, &r))
		return;
	for (unsigned i = 0; i < op->b; i++)
		for (unsigned l = 0; l < GKF_LANES; l++)
			if (mask >> l & 1)
				put_pair(r.at + i * ROWS, l, op->c != 0,
					 lane_word(w, op->places[i], l));
}
