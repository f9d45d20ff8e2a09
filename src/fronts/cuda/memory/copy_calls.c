/*
 * copy_calls.c - the entry points that take a struct: cuMemcpy2D, 3D, their
 * old and their peer forms, all told as one CUDA_MEMCPY3D.
 */
#include "fronts/cuda/copy.h"

/* Fields that all structs of copies share: SIDE(src), SIDE(dst). */
#define FIELDS_2D(p, side)                                                     \
	.side##XInBytes = (p)->side##XInBytes, .side##Y = (p)->side##Y,        \
	.side##MemoryType = (p)->side##MemoryType,                             \
	.side##Host = (p)->side##Host, .side##Device = (p)->side##Device,      \
	.side##Array = (p)->side##Array, .side##Pitch = (p)->side##Pitch
#define FIELDS_3D(p, side)                                                     \
	FIELDS_2D(p, side), .side##Z = (p)->side##Z,                           \
			    .side##LOD = (p)->side##LOD,                       \
			    .side##Height = (p)->side##Height

#define AS_2D(p)                                                               \
	(&(CUDA_MEMCPY3D){FIELDS_2D(p, src), FIELDS_2D(p, dst),                \
			  .WidthInBytes = (p)->WidthInBytes,                   \
			  .Height = (p)->Height, .Depth = 1})
#define AS_3D(p)                                                               \
	(&(CUDA_MEMCPY3D){FIELDS_3D(p, src), FIELDS_3D(p, dst),                \
			  .WidthInBytes = (p)->WidthInBytes,                   \
			  .Height = (p)->Height, .Depth = (p)->Depth})

/* SHAPE(symbol, struct, how to read it): with both kinds of streams. */
#define SYNC(symbol, type, read)                                               \
	static CUresult symbol##_on(enum cuda_row row, bool per_thread,        \
				    const type *pCopy)                         \
	{                                                                      \
		struct way w = {.per_thread = per_thread};                     \
		CUresult r = copy_enter(row, &w);                              \
                                                                               \
		if (!r && !pCopy)                                              \
			r = CUDA_ERROR_INVALID_VALUE;                          \
		return r ? r : copy_3d(&w, read(pCopy));                       \
	}
#define ASYNC(symbol, type, read)                                              \
	static CUresult symbol##_on(enum cuda_row row, bool per_thread,        \
				    const type *pCopy, CUstream hStream)       \
	{                                                                      \
		struct way w = {.stream = hStream,                             \
				.per_thread = per_thread,                      \
				.async = true};                                \
		CUresult r = copy_enter(row, &w);                              \
                                                                               \
		if (!r && !pCopy)                                              \
			r = CUDA_ERROR_INVALID_VALUE;                          \
		return r ? r : copy_3d(&w, read(pCopy));                       \
	}

/* Functions from before CUDA 3.2 know legacy streams only. */
#define OLD(symbol, type, read)                                                \
	SYNC(symbol, type, read)                                               \
	CUresult symbol(const type *pCopy)                                     \
	{                                                                      \
		return symbol##_on(ROW_##symbol, false, pCopy);                \
	}
#define OLD_ASYNC(symbol, type, read)                                          \
	ASYNC(symbol, type, read)                                              \
	CUresult symbol(const type *pCopy, CUstream hStream)                   \
	{                                                                      \
		return symbol##_on(ROW_##symbol, false, pCopy, hStream);       \
	}
#define NEW(symbol, type, read)                                                \
	SYNC(symbol, type, read)                                               \
	BOTH_STREAMS(symbol, _ptds, (const type *pCopy), (pCopy))
#define NEW_ASYNC(symbol, type, read)                                          \
	ASYNC(symbol, type, read)                                              \
	BOTH_STREAMS(symbol, _ptsz, (const type *pCopy, CUstream hStream),     \
		     (pCopy, hStream))

OLD(cuMemcpy2D, CUDA_MEMCPY2D_v1, AS_2D)
OLD(cuMemcpy2DUnaligned, CUDA_MEMCPY2D_v1, AS_2D)
OLD(cuMemcpy3D, CUDA_MEMCPY3D_v1, AS_3D)
OLD_ASYNC(cuMemcpy2DAsync, CUDA_MEMCPY2D_v1, AS_2D)
OLD_ASYNC(cuMemcpy3DAsync, CUDA_MEMCPY3D_v1, AS_3D)
NEW(cuMemcpy2D_v2, CUDA_MEMCPY2D, AS_2D)
NEW(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D, AS_2D)
NEW(cuMemcpy3D_v2, CUDA_MEMCPY3D, AS_3D)
NEW_ASYNC(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D, AS_2D)
NEW_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D, AS_3D)

#define CONTEXTS(p) ((CUcontext[]){(p)->dstContext, (p)->srcContext})

static CUresult copy_peer_box(enum cuda_row row, struct way *w,
			      const CUDA_MEMCPY3D_PEER *p)
{
	CUresult r = copy_enter(row, w);

	if (!r && !p)
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = copy_peer_begin(w, CONTEXTS(p));
	if (r)
		return r;
	r = copy_3d(w, AS_3D(p));
	copy_peer_end(w, CONTEXTS(p));
	return r;
}

static CUresult cuMemcpy3DPeer_on(enum cuda_row row, bool per_thread,
				  const CUDA_MEMCPY3D_PEER *pCopy)
{
	struct way w = {.per_thread = per_thread};

	return copy_peer_box(row, &w, pCopy);
}

BOTH_STREAMS(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *pCopy), (pCopy))

static CUresult cuMemcpy3DPeerAsync_on(enum cuda_row row, bool per_thread,
				       const CUDA_MEMCPY3D_PEER *pCopy,
				       CUstream hStream)
{
	struct way w = {
	    .stream = hStream, .per_thread = per_thread, .async = true};

	return copy_peer_box(row, &w, pCopy);
}

BOTH_STREAMS(cuMemcpy3DPeerAsync, _ptsz,
	     (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream),
	     (pCopy, hStream))
