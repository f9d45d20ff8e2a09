/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - checks requested transforms and computes their layouts. */
#include "fronts/cufft/transform.h"
#include "base/assert.h"

static const struct {
	int type, kind, is_double;
} types[] = {
    {CUFFT_C2C, COMPLEX, 0}, {CUFFT_R2C, FROM_REAL, 0}, {CUFFT_C2R, TO_REAL, 0},
    {CUFFT_Z2Z, COMPLEX, 1}, {CUFFT_D2Z, FROM_REAL, 1}, {CUFFT_Z2D, TO_REAL, 1},
};

static bool find_type(int type, struct transform *t)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].type == type) {
			t->kind = types[i].kind;
			t->is_double = types[i].is_double;
			return true;
		}
	return false;
}

/*
 * Returns the number of elements in dimension i on one side of a transform. It
 * is n / 2 + 1 for the last dimension on the side that has a real signal's
 * spectrum.
 */
static long long count_elements(const struct transform *t, int i,
				enum transform_kind half_if)
{
	bool last = i == t->rank - 1;

	return last && t->kind == (int)half_if ? t->n[i] / 2 + 1 : t->n[i];
}

static void lay_side_out(const struct transform *t, struct layout *l,
			 enum transform_kind half_if, bool padded)
{
	int last = t->rank - 1;

	for (int i = 0; i < t->rank; i++)
		l->embed[i] = count_elements(t, i, half_if);
	if (padded)
		l->embed[last] = 2 * (t->n[last] / 2 + 1);
	l->stride = 1;
	l->dist = 1;
	for (int i = 0; i < t->rank; i++)
		l->dist *= l->embed[i];
}

void transform_lay_out(struct transform *t, bool in_place)
{
	t->in_place = in_place;
	if (!t->basic)
		return;
	lay_side_out(t, &t->in, TO_REAL, in_place && t->kind == FROM_REAL);
	lay_side_out(t, &t->out, FROM_REAL, in_place && t->kind == TO_REAL);
}

long long transform_step(const struct transform *t, const struct layout *l,
			 int i)
{
	long long step = l->stride;

	GK_ASSERT(i >= 0 && i < t->rank);
	for (int j = t->rank - 1; j > i; j--)
		step *= l->embed[j];
	return step;
}

static long long count_side_bytes(const struct transform *t,
				  const struct layout *l,
				  enum transform_kind half_if,
				  enum transform_kind real_if)
{
	long long size = t->is_double ? 8 : 4, far = 0, bytes, reach;

	if (t->kind != (int)real_if)
		size *= 2;
	for (int i = 0; i < t->rank; i++) {
		if (i && __builtin_mul_overflow(far, l->embed[i], &far))
			return -1;
		if (__builtin_add_overflow(
			far, count_elements(t, i, half_if) - 1, &far))
			return -1;
	}
	if (__builtin_mul_overflow(far, l->stride, &far) ||
	    __builtin_mul_overflow(t->batch - 1, l->dist, &reach) ||
	    __builtin_add_overflow(far, reach, &far) ||
	    __builtin_mul_overflow(far + 1, size, &bytes))
		return -1;
	return bytes;
}

long long transform_in_bytes(const struct transform *t)
{
	return count_side_bytes(t, &t->in, TO_REAL, FROM_REAL);
}

long long transform_out_bytes(const struct transform *t)
{
	return count_side_bytes(t, &t->out, FROM_REAL, TO_REAL);
}

size_t transform_alignment(const struct transform *t)
{
	return t->is_double ? 16 : 8;
}

/* Returns false if a length is below 1 or the total does not fit 64 bits. */
static bool set_lengths(struct transform *t, const struct request *r)
{
	long long all = 64;

	t->batch = r->batch;
	if (r->batch < 1 || __builtin_mul_overflow(all, r->batch, &all))
		return false;
	for (int i = 0; i < r->rank; i++) {
		t->n[i] = r->n[i];
		if (r->n[i] < 1 || __builtin_mul_overflow(all, r->n[i], &all))
			return false;
	}
	return true;
}

static bool set_layout(const struct transform *t, struct layout *l,
		       const long long *embed, long long stride, long long dist)
{
	*l = (struct layout){.stride = stride, .dist = dist};
	for (int i = 0; i < t->rank; i++) {
		l->embed[i] = i ? embed[i] : 1;
		if (l->embed[i] < 1)
			return false;
	}
	return stride > 0 && dist >= 0;
}

cufftResult transform_make(const struct request *r, struct transform *ret)
{
	struct transform t = {.rank = r->rank, .basic = 1};

	if (r->rank < 1 || r->rank > RANK_MAX || !r->n ||
	    !find_type(r->type, &t))
		return CUFFT_INVALID_VALUE;
	if (!set_lengths(&t, r))
		return CUFFT_INVALID_SIZE;
	if (r->inembed && r->onembed) {
		t.basic = 0;
		if (!set_layout(&t, &t.in, r->inembed, r->istride, r->idist) ||
		    !set_layout(&t, &t.out, r->onembed, r->ostride, r->odist))
			return CUFFT_INVALID_VALUE;
	}
	transform_lay_out(&t, true);
	if (transform_in_bytes(&t) < 0 || transform_out_bytes(&t) < 0)
		return CUFFT_INVALID_SIZE;
	*ret = t;
	return CUFFT_SUCCESS;
}
