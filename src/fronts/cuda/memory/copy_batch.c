/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_batch.c - many copies in one call. CUDA allows any order; here they go
 * into the stream one after the other, after all have been checked.
 */
#include "fronts/cuda/memory/array.h"
#include "fronts/cuda/memory/copy.h"
#include "fronts/cuda/stream/stream.h"

/* The index to report if the error does not concern a particular copy. */
#define NOWHERE SIZE_MAX

/* Attributes of copies: set[i] applies to the copies from index from[i] on. */
struct attributes {
	const CUmemcpyAttributes *set;
	const size_t *from;
	size_t count;
};

static CUresult check_access_order(CUmemcpySrcAccessOrder order, unsigned flags)
{
	return order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
		       order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY ||
		       (flags &
			~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
		   ? CUDA_ERROR_INVALID_VALUE
		   : CUDA_SUCCESS;
}

static CUresult check_attributes(const struct attributes *a, size_t copies)
{
	CUresult r = CUDA_SUCCESS;

	if (!a->set || !a->from || !a->count || a->count > copies || a->from[0])
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !r && i < a->count; i++) {
		if (i && (a->from[i] <= a->from[i - 1] || a->from[i] >= copies))
			return CUDA_ERROR_INVALID_VALUE;
		r = check_access_order(a->set[i].srcAccessOrder,
				       a->set[i].flags);
	}
	return r;
}

CUresult copy_enter_batch(enum cuda_row row, struct way *w)
{
	CUresult r = copy_enter(row, w);

	if (!r &&
	    (w->stream == CU_STREAM_LEGACY || (!w->stream && !w->per_thread)))
		r = CUDA_ERROR_INVALID_VALUE;
	return r ? r : stream_check(w->ctx, w->stream, w->per_thread);
}

/* ---- bytes ---- */

struct rows {
	const CUdeviceptr *dst, *src;
	const size_t *size;
	size_t count;
};

static CUresult find_row(const struct rows *b, size_t i, struct copy *ret_copy)
{
	struct copy c = {.width = b->size[i], .height = 1, .depth = 1};
	CUresult r = c.width ? copy_find(b->dst[i], c.width, COPY_ANY, &c.dst)
			     : CUDA_ERROR_INVALID_VALUE;

	if (!r)
		r = copy_find(b->src[i], c.width, COPY_ANY, &c.src);
	if (!r)
		*ret_copy = c;
	return r;
}

static CUresult go_rows(const struct way *w, const struct rows *b,
			const struct attributes *a)
{
	CUresult r = CUDA_SUCCESS;
	struct copy c;
	size_t set = 0;

	for (size_t i = 0; !r && i < b->count; i++) {
		if (set + 1 < a->count && a->from[set + 1] == i)
			set++;
		r = find_row(b, i, &c);
		if (r)
			break;
		if (a->set[set].srcAccessOrder ==
		    CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
			c.src.at_once = true;
		r = copy_go(w, &c);
	}
	return r;
}

static CUresult copy_rows(enum cuda_row row, struct way *w,
			  const struct rows *b, const struct attributes *a,
			  size_t *fail)
{
	CUresult r = copy_enter_batch(row, w);
	struct copy c;

	*fail = NOWHERE;
	if (!r && (!b->dst || !b->src || !b->size || !b->count))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = check_attributes(a, b->count);
	for (size_t i = 0; !r && i < b->count; i++) {
		r = find_row(b, i, &c);
		if (r)
			*fail = i;
	}
	return r ? r : go_rows(w, b, a);
}

/* ---- rows and slices ---- */

static size_t element_of(const CUDA_MEMCPY3D_BATCH_OP *op)
{
	const CUmemcpy3DOperand *sides[] = {&op->dst, &op->src};

	for (unsigned i = 0; i < 2; i++)
		if (sides[i]->type == CU_MEMCPY_OPERAND_TYPE_ARRAY &&
		    array_is(sides[i]->op.array.array))
			return sides[i]->op.array.array->element;
	return 1;
}

/* Returns a CUDA_MEMCPY3D whose destination is the operand. */
static CUDA_MEMCPY3D side_of(const CUmemcpy3DOperand *o,
			     const CUextent3D *extent, size_t element)
{
	CUDA_MEMCPY3D p = {.dstMemoryType = CU_MEMORYTYPE_UNIFIED};

	if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
		p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
		p.dstArray = o->op.array.array;
		p.dstXInBytes = o->op.array.offset.x * element;
		p.dstY = o->op.array.offset.y;
		p.dstZ = o->op.array.offset.z;
		return p;
	}
	p.dstDevice = o->op.ptr.ptr;
	p.dstPitch =
	    (o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width) *
	    element;
	p.dstHeight =
	    o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
	return p;
}

static bool is_operand(const CUmemcpy3DOperand *o)
{
	return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER ||
	       o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
}

static CUresult find_op(const CUDA_MEMCPY3D_BATCH_OP *op, struct copy *ret_copy)
{
	size_t element = element_of(op);
	CUDA_MEMCPY3D p, src;

	if (check_access_order(op->srcAccessOrder, op->flags) ||
	    !is_operand(&op->dst) || !is_operand(&op->src) ||
	    !op->extent.width || !op->extent.height || !op->extent.depth ||
	    op->extent.width > SIZE_MAX / element)
		return CUDA_ERROR_INVALID_VALUE;
	p = side_of(&op->dst, &op->extent, element);
	src = side_of(&op->src, &op->extent, element);
	p.srcMemoryType = src.dstMemoryType;
	p.srcArray = src.dstArray;
	p.srcDevice = src.dstDevice;
	p.srcXInBytes = src.dstXInBytes;
	p.srcY = src.dstY;
	p.srcZ = src.dstZ;
	p.srcPitch = src.dstPitch;
	p.srcHeight = src.dstHeight;
	p.WidthInBytes = op->extent.width * element;
	p.Height = op->extent.height;
	p.Depth = op->extent.depth;
	return copy_3d_find(&p, ret_copy);
}

static CUresult go_op(const struct way *w, const CUDA_MEMCPY3D_BATCH_OP *op)
{
	struct copy c;
	CUresult r = find_op(op, &c);

	if (r)
		return r;
	c.src.at_once =
	    op->srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
	return copy_go(w, &c);
}

static CUresult copy_ops(enum cuda_row row, struct way *w,
			 const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count,
			 unsigned long long flags, size_t *fail)
{
	CUresult r = copy_enter_batch(row, w);
	struct copy c;

	*fail = NOWHERE;
	if (!r && (!ops || !count || flags))
		r = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !r && i < count; i++) {
		r = find_op(&ops[i], &c);
		if (r)
			*fail = i;
	}
	for (size_t i = 0; !r && i < count; i++)
		r = go_op(w, &ops[i]);
	return r;
}

/* ---- entry points ---- */

BOTH_STREAMS(cuMemcpyBatchAsync, _ptsz,
	     (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes,
	      size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
	      size_t numAttrs, size_t *failIdx, CUstream hStream),
	     (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx,
	      hStream))
{
	const struct rows b = {dsts, srcs, sizes, count};
	const struct attributes a = {attrs, attrsIdxs, numAttrs};
	struct way w = {NULL, hStream, per_thread, true};
	size_t fail;
	CUresult r = copy_rows(row, &w, &b, &a, &fail);

	if (r && failIdx)
		*failIdx = fail;
	return r;
}

BOTH_STREAMS(cuMemcpyBatchAsync_v2, _ptsz,
	     (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes,
	      size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
	      size_t numAttrs, CUstream hStream),
	     (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream))
{
	return cuMemcpyBatchAsync_on(row, per_thread, dsts, srcs, sizes, count,
				     attrs, attrsIdxs, numAttrs, NULL, hStream);
}

BOTH_STREAMS(cuMemcpy3DBatchAsync, _ptsz,
	     (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
	      unsigned long long flags, CUstream hStream),
	     (numOps, opList, failIdx, flags, hStream))
{
	struct way w = {NULL, hStream, per_thread, true};
	size_t fail;
	CUresult r = copy_ops(row, &w, opList, numOps, flags, &fail);

	if (r && failIdx)
		*failIdx = fail;
	return r;
}

BOTH_STREAMS(cuMemcpy3DBatchAsync_v2, _ptsz,
	     (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
	      unsigned long long flags, CUstream hStream),
	     (numOps, opList, flags, hStream))
{
	return cuMemcpy3DBatchAsync_on(row, per_thread, numOps, opList, NULL,
				       flags, hStream);
}

/* ---- single copies, in any stream ---- */

BOTH_STREAMS(cuMemcpyWithAttributesAsync, _ptsz,
	     (CUdeviceptr dst, CUdeviceptr src, size_t size,
	      CUmemcpyAttributes *attr, CUstream hStream),
	     (dst, src, size, attr, hStream))
{
	const struct rows b = {&dst, &src, &size, 1};
	const struct attributes a = {attr, (const size_t[]){0}, 1};
	struct way w = {NULL, hStream, per_thread, true};
	struct copy c;
	CUresult r = copy_enter(row, &w);

	if (!r)
		r = stream_check(w.ctx, hStream, per_thread);
	if (!r)
		r = check_attributes(&a, 1);
	if (!r)
		r = find_row(&b, 0, &c);
	return r ? r : go_rows(&w, &b, &a);
}

BOTH_STREAMS(cuMemcpy3DWithAttributesAsync, _ptsz,
	     (CUDA_MEMCPY3D_BATCH_OP * op, unsigned long long flags,
	      CUstream hStream),
	     (op, flags, hStream))
{
	struct way w = {NULL, hStream, per_thread, true};
	CUresult r = copy_enter(row, &w);

	if (!r)
		r = stream_check(w.ctx, hStream, per_thread);
	if (!r && (!op || flags))
		r = CUDA_ERROR_INVALID_VALUE;
	return r ? r : go_op(&w, op);
}
