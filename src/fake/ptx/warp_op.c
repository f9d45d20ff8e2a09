/*
 * warp_op.c - what lanes of a warp do together: shuffles, votes, matches,
 * reductions. All lanes that are wanted have come before it is done.
 */
#include "fake/ptx/lanes.h"
#include "fake/ptx/warp_op.h"

static uint32_t word(struct gkf_warp *w, uint32_t place, unsigned lane)
{
	return ((const u32 *)gkf_at(w, place))[lane];
}

/*
 * Have the lanes come that an instruction names in its last operand? If not,
 * those that have wait, and come here again. Lanes of the same path that a
 * guard keeps away are not waited for.
 */
static bool together(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t wanted;

	if (op->e == GKF_NOWHERE)
		return true;
	wanted = word(w, op->e, (unsigned)__builtin_ctz(mask)) & w->live;
	wanted &= ~(w->mask & ~mask);
	if (!(wanted & ~mask) || w->let_go) {
		w->let_go = false;
		return true;
	}
	gkf_path_gather(w, mask, wanted, true);
	return false;
}

static void put(struct gkf_warp *w, uint32_t place, uint32_t mask,
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

static void put_predicate(struct gkf_warp *w, uint32_t place, uint32_t mask,
			  uint32_t value)
{
	u32 *p;

	if (place == GKF_NOWHERE)
		return;
	p = gkf_at(w, place);
	*p = (*p & ~mask) | (value & mask);
}

/* The lane that a lane reads; false: none, and it keeps its own. */
static bool source(enum gkf_warp_how how, uint32_t lane, uint32_t b, uint32_t c,
		   uint32_t *ret_lane)
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

void gkf_op_shuffle(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t value[GKF_LANES], inside = 0;
	u32 *out;

	if (!together(w, op, mask))
		return;
	for (uint32_t l = 0; l < GKF_LANES; l++) {
		uint32_t from = l;

		if (source((enum gkf_warp_how)op->imm, l, word(w, op->b, l),
			   word(w, op->c, l), &from))
			inside |= 1U << l;
		else
			from = l;
		value[l] = word(w, op->a, from & 31);
	}
	if (op->d != GKF_NOWHERE) {
		out = gkf_at(w, op->d);
		for (unsigned l = 0; l < GKF_LANES; l++)
			if (mask >> l & 1)
				out[l] = value[l];
	}
	if (op->places)
		put_predicate(w, op->places[0], mask, inside);
}

void gkf_op_vote(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t said;

	if (!together(w, op, mask))
		return;
	said = *(const u32 *)gkf_at(w, op->a);
	if (op->flip_c)
		said = ~said;
	said &= mask;
	switch (op->imm) {
	case GKF_VOTE_BALLOT:
		put(w, op->d, mask, said);
		return;
	case GKF_VOTE_ALL:
		said = said == mask ? mask : 0;
		break;
	case GKF_VOTE_ANY:
		said = said ? mask : 0;
		break;
	default: /* all say the same */
		said = !said || said == mask ? mask : 0;
		break;
	}
	put_predicate(w, op->d, mask, said);
}

void gkf_op_active(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	put(w, op->d, mask, mask);
}

static uint64_t value_of(struct gkf_warp *w, const struct gkf_op *op,
			 unsigned l)
{
	return op->size == 8 ? ((const u64 *)gkf_at(w, op->a))[l]
			     : word(w, op->a, l);
}

/* Lanes that have the same value. */
static uint32_t alike(struct gkf_warp *w, const struct gkf_op *op,
		      uint32_t mask, uint64_t value)
{
	uint32_t same = 0;

	for (unsigned l = 0; l < GKF_LANES; l++)
		if (mask >> l & 1 && value_of(w, op, l) == value)
			same |= 1U << l;
	return same;
}

void gkf_op_match(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t same[GKF_LANES] = {0}, all;
	unsigned first = (unsigned)__builtin_ctz(mask);

	if (!together(w, op, mask))
		return;
	all = alike(w, op, mask, value_of(w, op, first)) == mask ? mask : 0;
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		same[l] = op->imm == GKF_MATCH_ALL
			      ? all
			      : alike(w, op, mask, value_of(w, op, l));
	}
	for (unsigned l = 0; l < GKF_LANES; l++)
		put(w, op->d, mask & 1U << l, same[l]);
	if (op->places)
		put_predicate(w, op->places[0], mask, all);
}

static uint32_t joined(enum gkf_warp_how how, uint32_t a, uint32_t b)
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

void gkf_op_reduce(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t left, sum;

	if (!together(w, op, mask))
		return;
	sum = word(w, op->a, (unsigned)__builtin_ctz(mask));
	for (left = mask & (mask - 1); left; left &= left - 1)
		sum = joined((enum gkf_warp_how)op->imm, sum,
			     word(w, op->a, (unsigned)__builtin_ctz(left)));
	put(w, op->d, mask, sum);
}
