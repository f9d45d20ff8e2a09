/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - executes loads, stores and conversions of addresses. */
#include "ptx/interp/lanes.h"
#include "ptx/interp/op.h"

#include <string.h>

#define OFFSET_MASK (GKF_WINDOW_SHARED - 1)

static uint64_t address_of(struct gkf_warp *w, const struct gkf_op *op,
			   unsigned lane)
{
	if (op->narrow_address)
		return (uint32_t)(((const u32 *)gkf_at(w, op->a))[lane] +
				  (uint64_t)op->imm);
	return ((const u64 *)gkf_at(w, op->a))[lane] + (uint64_t)op->imm;
}

static bool is_allowed(const struct gkf_ptx_window *win,
		       const struct gkf_op *op)
{
	return !(win->read_only & op->writes);
}

static unsigned char *part_of_memory(unsigned char *base, uint64_t size,
				     uint64_t offset, uint64_t bytes)
{
	return offset <= size && bytes <= size - offset ? base + offset : NULL;
}

/*
 * Returns the host address of device memory, in the window that the instruction
 * used last or in a newly found one; NULL if there is no memory that op may
 * access.
 */
static unsigned char *part_of_device(struct gkf_warp *w,
				     const struct gkf_op *op, uint64_t address,
				     uint64_t bytes)
{
	struct gkf_ptx_window *win = &w->run->window[op->window];
	const struct gkf_ptx_launch *g = w->run->launch;
	unsigned char *at =
	    part_of_memory(win->host, win->size, address - win->base, bytes);

	if (__builtin_expect(at != NULL && is_allowed(win, op), 1))
		return at;
	if (!g->find(g->context, address, win) || !is_allowed(win, op)) {
		*win = (struct gkf_ptx_window){0};
		return NULL;
	}
	return part_of_memory(win->host, win->size, address - win->base, bytes);
}

/*
 * Returns the host address of shared memory, a lane's local memory, or the
 * launch's parameters.
 */
static unsigned char *part_of_space(struct gkf_warp *w, unsigned lane,
				    enum gkf_ptx_space space, uint64_t offset,
				    uint64_t bytes)
{
	const struct gkf_ptx_launch *g = w->run->launch;

	if (space == GKF_PTX_SHARED)
		return part_of_memory(w->block->shared, w->run->shared_size,
				      offset, bytes);
	if (space == GKF_PTX_LOCAL && !w->local)
		return NULL;
	if (space == GKF_PTX_LOCAL)
		return part_of_memory(w->local + (uint64_t)lane * w->run->stack,
				      w->run->stack, offset, bytes);
	return part_of_memory(w->run->params, g->param_size, offset, bytes);
}

unsigned char *gkf_reach(struct gkf_warp *w, const struct gkf_op *op,
			 unsigned lane)
{
	uint64_t address = address_of(w, op, lane);
	uint64_t bytes = (uint64_t)op->size * op->count, offset = address;
	enum gkf_ptx_space space = (enum gkf_ptx_space)op->space;
	unsigned char *at;

	if (__builtin_expect((address & (bytes - 1)) != 0, 0)) {
		gkf_run_fail(w, op, lane, GKF_PTX_MISALIGNED, address);
		return NULL;
	}
	if (space == GKF_PTX_GENERIC && address >> GKF_WINDOW_SHIFT) {
		static const uint8_t spaces[] = {0, GKF_PTX_SHARED,
						 GKF_PTX_LOCAL, GKF_PTX_PARAM};
		uint64_t tag = address >> GKF_WINDOW_SHIFT;

		space = tag < sizeof spaces ? (enum gkf_ptx_space)spaces[tag]
					    : GKF_PTX_GENERIC;
		offset = address & OFFSET_MASK;
	}
	if (op->framed)
		offset += w->frame->local;
	if (space == GKF_PTX_GLOBAL || space == GKF_PTX_CONST ||
	    space == GKF_PTX_GENERIC)
		at = part_of_device(w, op, address, bytes);
	else
		at = part_of_space(w, lane, space, offset, bytes);
	if (__builtin_expect(!at, 0))
		gkf_run_fail(w, op, lane, GKF_PTX_ILLEGAL_ADDRESS, address);
	return at;
}

/* How the addresses of an instruction's lanes relate to each other. */
enum pattern { SCATTERED, SIDE_BY_SIDE, ALL_THE_SAME };

struct reach {
	unsigned char *at[GKF_LANES];
	enum pattern pattern; /* the pattern of all 32 lanes, active or not */
};

/*
 * Returns the memory in which the addresses of all lanes should lie: for device
 * memory, the window that the instruction used last. If there is no such
 * memory, its size is 0.
 */
static struct gkf_ptx_window window_for(struct gkf_warp *w,
					const struct gkf_op *op)
{
	if (op->space == GKF_PTX_SHARED)
		return (struct gkf_ptx_window){0, w->run->shared_size,
					       w->block->shared, false};
	if (op->space == GKF_PTX_PARAM)
		return (struct gkf_ptx_window){0, w->run->launch->param_size,
					       w->run->params, false};
	if (op->space == GKF_PTX_LOCAL)
		return (struct gkf_ptx_window){0};
	return w->run->window[op->window];
}

/*
 * Computes the address of each lane. Lanes outside `mask` get the address of
 * the first lane in `mask`.
 */
static void addresses_of(struct gkf_warp *w, const struct gkf_op *op,
			 uint32_t mask, uint64_t address[GKF_LANES])
{
	unsigned first = (unsigned)__builtin_ctz(mask);

	if (op->narrow_address) {
		const u32 *a = gkf_at(w, op->a);

		for (unsigned l = 0; l < GKF_LANES; l++)
			address[l] = (uint32_t)(a[l] + (uint64_t)op->imm);
	} else {
		const u64 *a = gkf_at(w, op->a);

		for (unsigned l = 0; l < GKF_LANES; l++)
			address[l] = a[l] + (uint64_t)op->imm;
	}
	for (uint32_t left = ~mask; left; left &= left - 1)
		address[__builtin_ctz(left)] = address[first];
}

/*
 * Resolves the addresses of all lanes at once. Returns false if one of them is
 * misaligned or outside the window; then the caller resolves them one by one.
 */
static bool reach_together(struct gkf_warp *w, const struct gkf_op *op,
			   uint32_t mask, struct reach *r)
{
	const struct gkf_ptx_window win = window_for(w, op);
	uint64_t bytes = (uint64_t)op->size * op->count;
	uint64_t address[GKF_LANES], all = 0, uneven = 0, differ = 0;
	uint64_t far = 0;

	if (win.size < bytes || !is_allowed(&win, op))
		return false;
	addresses_of(w, op, mask, address);
	for (unsigned l = 0; l < GKF_LANES; l++) {
		uint64_t offset = address[l] - win.base;

		all |= address[l];
		uneven |= address[l] ^ (address[0] + l * bytes);
		differ |= address[l] ^ address[0];
		far |= offset > win.size - bytes;
		r->at[l] = win.host + offset;
	}
	r->pattern = !differ   ? ALL_THE_SAME
		     : !uneven ? SIDE_BY_SIDE
			       : SCATTERED;
	return !far && !(all & (bytes - 1));
}

static bool reach_all(struct gkf_warp *w, const struct gkf_op *op,
		      uint32_t mask, struct reach *r)
{
	if (__builtin_expect(reach_together(w, op, mask, r), 1))
		return true;
	r->pattern = SCATTERED;
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		r->at[l] = gkf_reach(w, op, l);
		if (!r->at[l])
			return false;
	}
	return true;
}

/*
 * Whether memory and the register have the same layout, so that memcpy() copies
 * all lanes.
 */
static bool is_copy(const struct gkf_op *op, uint32_t mask,
		    const struct reach *r)
{
	return r->pattern == SIDE_BY_SIDE && mask == GKF_ALL_LANES &&
	       op->count == 1 && op->wide == op->size;
}

/* Loads one element of a vector into the lanes of `mask`. */
typedef void load_fn(unsigned char *const at[GKF_LANES], size_t offset,
		     void *out, uint32_t mask);

#define LOAD(from, to)                                                         \
	static void load_##from##_##to(unsigned char *const at[GKF_LANES],     \
				       size_t offset, void *out,               \
				       uint32_t mask)                          \
	{                                                                      \
		for (uint32_t left = mask; left; left &= left - 1) {           \
			unsigned l = (unsigned)__builtin_ctz(left);            \
			from x;                                                \
			memcpy(&x, at[l] + offset, sizeof x);                  \
			((to *)out)[l] = (to)x;                                \
		}                                                              \
	}
LOAD(u8, u8)
LOAD(u8, u16)
LOAD(u8, u32)
LOAD(u8, u64)
LOAD(s8, u16)
LOAD(s8, u32)
LOAD(s8, u64)
LOAD(u16, u16)
LOAD(u16, u32)
LOAD(u16, u64)
LOAD(s16, u32)
LOAD(s16, u64)
LOAD(u32, u32)
LOAD(u32, u64)
LOAD(s32, u64)
LOAD(u64, u64)
#undef LOAD

/*
 * Indexed by signedness, log2 of the bytes in memory, log2 of the bytes in the
 * register.
 */
static load_fn *const loads[2][4][4] = {
    {{load_u8_u8, load_u8_u16, load_u8_u32, load_u8_u64},
     {NULL, load_u16_u16, load_u16_u32, load_u16_u64},
     {NULL, NULL, load_u32_u32, load_u32_u64},
     {NULL, NULL, NULL, load_u64_u64}},
    {{load_u8_u8, load_s8_u16, load_s8_u32, load_s8_u64},
     {NULL, load_u16_u16, load_s16_u32, load_s16_u64},
     {NULL, NULL, load_u32_u32, load_s32_u64},
     {NULL, NULL, NULL, load_u64_u64}},
};

void gkf_op_ld(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	struct reach r;
	load_fn *load = loads[op->is_signed][__builtin_ctz(op->size)]
			     [__builtin_ctz(op->wide)];

	if (!reach_all(w, op, mask, &r))
		return;
	if (is_copy(op, mask, &r) && op->places[0] != GKF_NOWHERE) {
		memcpy(gkf_at(w, op->places[0]), r.at[0],
		       (size_t)op->size * GKF_LANES);
		return;
	}
	for (unsigned e = 0; e < op->count; e++)
		if (op->places[e] != GKF_NOWHERE)
			load(r.at, (size_t)e * op->size,
			     gkf_at(w, op->places[e]), mask);
}

/*
 * Stores in the order of lanes: if several store to one address, the last one
 * wins.
 */
static void store_lanes(const struct reach *r, size_t offset,
			const unsigned char *in, const struct gkf_op *op,
			uint32_t mask)
{
	for (unsigned l = 0; l < GKF_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		if (op->size == 4)
			memcpy(r->at[l] + offset, in + (size_t)l * op->wide, 4);
		else
			memcpy(r->at[l] + offset, in + (size_t)l * op->wide,
			       op->size);
	}
}

void gkf_op_st(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	struct reach r;

	if (!reach_all(w, op, mask, &r))
		return;
	if (is_copy(op, mask, &r)) {
		memcpy(r.at[0], gkf_at(w, op->places[0]),
		       (size_t)op->size * GKF_LANES);
		return;
	}
	for (unsigned e = 0; e < op->count; e++)
		store_lanes(&r, (size_t)e * op->size, gkf_at(w, op->places[e]),
			    op, mask);
}

void gkf_op_fence(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	(void)w;
	(void)op;
	(void)mask;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static uint64_t window_of(enum gkf_ptx_space space)
{
	if (space == GKF_PTX_SHARED)
		return GKF_WINDOW_SHARED;
	if (space == GKF_PTX_LOCAL)
		return GKF_WINDOW_LOCAL;
	return space == GKF_PTX_PARAM ? GKF_WINDOW_PARAM : 0;
}

/*
 * Converts addresses in a space to generic ones; gkf_op_cvta_to() does the
 * reverse.
 */
void gkf_op_cvta(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint64_t window = window_of((enum gkf_ptx_space)op->space);
	const u64 *a = gkf_at(w, op->a);
	u64 *out = gkf_at(w, op->d);

	for (unsigned l = 0; l < GKF_LANES; l++)
		if (mask >> l & 1)
			out[l] = a[l] + window;
}

void gkf_op_cvta_to(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint64_t window = window_of((enum gkf_ptx_space)op->space);
	const u64 *a = gkf_at(w, op->a);
	u64 *out = gkf_at(w, op->d);

	for (unsigned l = 0; l < GKF_LANES; l++)
		if (mask >> l & 1)
			out[l] = a[l] - window;
}

void gkf_op_isspacep(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint64_t tag =
	    window_of((enum gkf_ptx_space)op->space) >> GKF_WINDOW_SHIFT;
	const u64 *a = gkf_at(w, op->a);
	u32 *p = gkf_at(w, op->d);
	uint32_t value = 0;

	for (unsigned l = 0; l < GKF_LANES; l++)
		value |= (uint32_t)(a[l] >> GKF_WINDOW_SHIFT == tag) << l;
	*p = (*p & ~mask) | (value & mask);
}

/* Computes the addresses of a frame's variable in the lanes' local memory. */
void gkf_op_local_address(struct gkf_warp *w, const struct gkf_op *op,
			  uint32_t mask)
{
	uint64_t value = w->frame->local + (uint64_t)op->imm;
	void *out = gkf_at(w, op->d);

	for (unsigned l = 0; l < GKF_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		if (op->size == 8)
			((u64 *)out)[l] = value;
		else
			((u32 *)out)[l] = (uint32_t)value;
	}
}
