/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_calls.c - the entry points whose argument is a struct: cuMemcpy2D,
 * cuMemcpy3D, their older versions and those for peers. All structs are
 * converted to CUDA_MEMCPY3D.
 */
#include "fronts/cuda/memory/copy.h"

/*
 * The members that all structs of copies share: FIELDS_2D(p, src), FIELDS_2D(p,
 * dst).
 */
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

/* The body of a copy function. Enters the call, then reads the program's
 * struct; `read` converts it. */
#define COPY_BOX(row, way_of_call, read)                                       \
	struct way *w = way_of_call;                                           \
	CUresult r = copy_enter(row, w);                                       \
                                                                               \
	if (!r && !pCopy)                                                      \
		r = CUDA_ERROR_INVALID_VALUE;                                  \
	return r ? r : copy_3d(w, read(pCopy));

/*
 * How a synchronous (NOW) or asynchronous (LATER) call copies. `twin`: the call
 * is the variant for per-thread streams, in which a NULL stream is the calling
 * thread's own.
 */
#define NOW(twin) (&(struct way){.per_thread = (twin)})
#define LATER(twin)                                                            \
	(&(struct way){.stream = hStream, .per_thread = (twin), .async = true})

/*
 * OLD, OLD_ASYNC, NEW and NEW_ASYNC take a symbol, its struct, and the
 * conversion of the struct. Functions from before CUDA 3.2 (OLD) have no
 * variant for per-thread streams.
 */
#define OLD(symbol, type, read)                                                \
	CUresult symbol(const type *pCopy)                                     \
	{                                                                      \
		COPY_BOX(ROW_##symbol, NOW(false), read)                       \
	}
#define OLD_ASYNC(symbol, type, read)                                          \
	CUresult symbol(const type *pCopy, CUstream hStream)                   \
	{                                                                      \
		COPY_BOX(ROW_##symbol, LATER(false), read)                     \
	}
#define NEW(symbol, type, read)                                                \
	BOTH_STREAMS(symbol, _ptds, (const type *pCopy), (pCopy))              \
	{                                                                      \
		COPY_BOX(row, NOW(per_thread), read)                           \
	}
#define NEW_ASYNC(symbol, type, read)                                          \
	BOTH_STREAMS(symbol, _ptsz, (const type *pCopy, CUstream hStream),     \
		     (pCopy, hStream))                                         \
	{                                                                      \
		COPY_BOX(row, LATER(per_thread), read)                         \
	}

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

BOTH_STREAMS(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *pCopy), (pCopy))
{
	return copy_peer_box(row, NOW(per_thread), pCopy);
}

BOTH_STREAMS(cuMemcpy3DPeerAsync, _ptsz,
	     (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream),
	     (pCopy, hStream))
{
	return copy_peer_box(row, LATER(per_thread), pCopy);
}
