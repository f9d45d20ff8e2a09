/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_test.c - checks copies: every form against a model, errors, when calls
 * return.
 */
#include "fronts/cuda/memory_fixture.h"

/* ---- one piece of memory of each kind, and its expected content ---- */

enum sort { DEVICE, HOST, PAGED, MANAGED, REGISTERED, SORTS };

#define SIZE (256 * KIB)

struct buffer {
	enum sort sort;
	CUdeviceptr at;
	unsigned char *model;
};

static struct buffer buffers[SORTS];

static void *host_of(const struct buffer *b)
{
	return (void *)(uintptr_t)b->at;
}

static void read_buffer(const struct buffer *b, unsigned char *into)
{
	settle();
	if (b->sort == DEVICE)
		assert_cuda(CU(cuMemcpyDtoH_v2)(into, b->at, SIZE), SUCCESS);
	else
		memcpy(into, host_of(b), SIZE);
}

static void check_buffer(const struct buffer *b)
{
	static unsigned char got[SIZE];

	read_buffer(b, got);
	assert_memory_equal(got, b->model, SIZE);
}

static void make_buffers(void)
{
	void *p;

	for (unsigned i = 0; i < SORTS; i++) {
		struct buffer *b = &buffers[i];

		b->sort = (enum sort)i;
		b->model = malloc(SIZE);
		fill_random(b->model, SIZE, i + 1);
	}
	buffers[DEVICE].at = device_alloc(SIZE);
	assert_cuda(CU(cuMemHostAlloc)(&p, SIZE, 0), SUCCESS);
	buffers[HOST].at = (uintptr_t)p;
	buffers[PAGED].at = (uintptr_t)malloc(SIZE);
	assert_cuda(CU(cuMemAllocManaged)(&buffers[MANAGED].at, SIZE,
					  CU_MEM_ATTACH_GLOBAL),
		    SUCCESS);
	buffers[REGISTERED].at = (uintptr_t)malloc(SIZE);
	assert_cuda(
	    CU(cuMemHostRegister_v2)(host_of(&buffers[REGISTERED]), SIZE, 0),
	    SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(buffers[DEVICE].at,
					buffers[DEVICE].model, SIZE),
		    SUCCESS);
	for (unsigned i = 1; i < SORTS; i++)
		memcpy(host_of(&buffers[i]), buffers[i].model, SIZE);
}

static void drop_buffers(void)
{
	settle();
	device_free(buffers[DEVICE].at);
	device_free(buffers[MANAGED].at);
	assert_cuda(CU(cuMemFreeHost)(host_of(&buffers[HOST])), SUCCESS);
	assert_cuda(CU(cuMemHostUnregister)(host_of(&buffers[REGISTERED])),
		    SUCCESS);
	free(host_of(&buffers[PAGED]));
	free(host_of(&buffers[REGISTERED]));
	for (unsigned i = 0; i < SORTS; i++)
		free(buffers[i].model);
}

/* ---- copies of rows and slices, at random ---- */

static CUmemorytype type_of(const struct buffer *b, uint64_t *seed)
{
	if (next_random(seed) % 3 == 0)
		return CU_MEMORYTYPE_UNIFIED;
	if (b->sort == DEVICE || b->sort == MANAGED)
		return CU_MEMORYTYPE_DEVICE;
	return CU_MEMORYTYPE_HOST;
}

struct side {
	size_t x, y, z, pitch, height;
};

static struct side random_side(uint64_t *seed, size_t width, size_t height)
{
	struct side s;

	s.x = next_random(seed) % 50;
	s.y = next_random(seed) % 5;
	s.z = next_random(seed) % 3;
	s.pitch = s.x + width + next_random(seed) % 60;
	s.height = s.y + height + next_random(seed) % 4;
	return s;
}

static size_t offset_of(const struct side *s, size_t y, size_t z)
{
	return s->x + (s->y + y) * s->pitch + (s->z + z) * s->pitch * s->height;
}

static size_t end_of(const struct side *s, const CUDA_MEMCPY3D *p)
{
	return offset_of(s, p->Height - 1, p->Depth - 1) + p->WidthInBytes;
}

static void model_copy(const struct buffer *dst, const struct side *to,
		       const struct buffer *src, const struct side *from,
		       const CUDA_MEMCPY3D *p)
{
	for (size_t z = 0; z < p->Depth; z++)
		for (size_t y = 0; y < p->Height; y++)
			memcpy(dst->model + offset_of(to, y, z),
			       src->model + offset_of(from, y, z),
			       p->WidthInBytes);
}

static void call_3d(const CUDA_MEMCPY3D *p, unsigned way)
{
	const CUDA_MEMCPY2D flat = {.srcXInBytes = p->srcXInBytes,
				    .srcY = p->srcY,
				    .srcMemoryType = p->srcMemoryType,
				    .srcHost = p->srcHost,
				    .srcDevice = p->srcDevice,
				    .srcPitch = p->srcPitch,
				    .dstXInBytes = p->dstXInBytes,
				    .dstY = p->dstY,
				    .dstMemoryType = p->dstMemoryType,
				    .dstHost = p->dstHost,
				    .dstDevice = p->dstDevice,
				    .dstPitch = p->dstPitch,
				    .WidthInBytes = p->WidthInBytes,
				    .Height = p->Height};

	switch (way) {
	case 0:
		assert_cuda(CU(cuMemcpy3D_v2)(p), SUCCESS);
		break;
	case 1:
		assert_cuda(CU(cuMemcpy3DAsync_v2)(p, NULL), SUCCESS);
		break;
	case 2:
		assert_cuda(CU(cuMemcpy3DAsync_v2_ptsz)(p, NULL), SUCCESS);
		break;
	case 3:
		assert_cuda(CU(cuMemcpy2D_v2)(&flat), SUCCESS);
		break;
	case 4:
		assert_cuda(CU(cuMemcpy2DUnaligned_v2)(&flat), SUCCESS);
		break;
	default:
		assert_cuda(CU(cuMemcpy2DAsync_v2)(&flat, CU_STREAM_LEGACY),
			    SUCCESS);
		break;
	}
}

static void rows_and_slices_arrive_where_they_should(void **state)
{
	uint64_t seed = 20261121;

	(void)state;
	make_buffers();
	for (unsigned n = 0; n < 3000; n++) {
		struct buffer *dst = &buffers[next_random(&seed) % SORTS];
		struct buffer *src = &buffers[next_random(&seed) % SORTS];
		unsigned way = (unsigned)(next_random(&seed) % 6);
		CUDA_MEMCPY3D p = {
		    .WidthInBytes = 1 + next_random(&seed) % 500,
		    .Height = 1 + next_random(&seed) % 40,
		    .Depth = way > 2 ? 1 : 1 + next_random(&seed) % 5};
		struct side to = random_side(&seed, p.WidthInBytes, p.Height);
		struct side from = random_side(&seed, p.WidthInBytes, p.Height);

		if (way > 2)
			to.z = from.z = 0;
		if (dst == src || end_of(&to, &p) > SIZE ||
		    end_of(&from, &p) > SIZE)
			continue;
		p.dstMemoryType = type_of(dst, &seed);
		p.srcMemoryType = type_of(src, &seed);
		p.dstDevice = dst->at;
		p.dstHost = host_of(dst);
		p.srcDevice = src->at;
		p.srcHost = host_of(src);
		p.dstXInBytes = to.x, p.dstY = to.y, p.dstZ = to.z;
		p.srcXInBytes = from.x, p.srcY = from.y, p.srcZ = from.z;
		p.dstPitch = to.pitch, p.dstHeight = to.height;
		p.srcPitch = from.pitch, p.srcHeight = from.height;
		call_3d(&p, way);
		model_copy(dst, &to, src, &from, &p);
		if (n % 16 == 0 || way == 2)
			check_buffer(dst);
	}
	for (unsigned i = 0; i < SORTS; i++)
		check_buffer(&buffers[i]);
	drop_buffers();
}

/* ---- contiguous bytes ---- */

/* Whether it is CUDA's own (device or managed), for the forms with D. */
static bool is_device(const struct buffer *b)
{
	return b->sort == DEVICE || b->sort == MANAGED;
}

static CUresult call_bytes(const struct buffer *dst, size_t to,
			   const struct buffer *src, size_t from, size_t size,
			   unsigned way)
{
	CUdeviceptr d = dst->at + to, s = src->at + from;

	if (way % 2 && is_device(dst) && is_device(src))
		return way & 4 ? CU(cuMemcpyDtoDAsync_v2)(d, s, size, NULL)
			       : CU(cuMemcpyDtoD_v2)(d, s, size);
	if (way % 2 && is_device(dst))
		return way & 4
			   ? CU(cuMemcpyHtoDAsync_v2)(d, (void *)(uintptr_t)s,
						      size, NULL)
			   : CU(cuMemcpyHtoD_v2)(d, (void *)(uintptr_t)s, size);
	if (way % 2 && is_device(src))
		return way & 4
			   ? CU(cuMemcpyDtoHAsync_v2)((void *)(uintptr_t)d, s,
						      size, NULL)
			   : CU(cuMemcpyDtoH_v2)((void *)(uintptr_t)d, s, size);
	if (way & 2)
		return CU(cuMemcpyPeer)(d, context, s, context, size) ==
			       CUDA_SUCCESS
			   ? CUDA_SUCCESS
			   : CU(cuMemcpy)(d, s, size);
	return way & 4 ? CU(cuMemcpyAsync)(d, s, size, CU_STREAM_LEGACY)
		       : CU(cuMemcpy)(d, s, size);
}

static void bytes_arrive_whatever_the_call(void **state)
{
	uint64_t seed = 5;

	(void)state;
	make_buffers();
	for (unsigned n = 0; n < 3000; n++) {
		struct buffer *dst = &buffers[next_random(&seed) % SORTS];
		struct buffer *src = &buffers[next_random(&seed) % SORTS];
		size_t size = next_random(&seed) % (n % 7 ? 3000 : SIZE / 2);
		size_t to = next_random(&seed) % (SIZE - size);
		size_t from = next_random(&seed) % (SIZE - size);

		if (dst == src)
			continue;
		assert_cuda(call_bytes(dst, to, src, from, size,
				       (unsigned)(next_random(&seed) % 8)),
			    SUCCESS);
		memcpy(dst->model + to, src->model + from, size);
		if (n % 8 == 0)
			check_buffer(dst);
	}
	for (unsigned i = 0; i < SORTS; i++)
		check_buffer(&buffers[i]);
	drop_buffers();
}

/*
 * The source of an asynchronous copy from pageable memory may change at once.
 */
static void pageable_memory_is_read_before_the_call_returns(void **state)
{
	static const size_t sizes[] = {1, 4096, 65536, 65537, MIB};
	CUdeviceptr p = device_alloc(MIB);
	unsigned char *own = malloc(MIB), *copy = malloc(MIB);

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		fill_random(own, sizes[i], i);
		memcpy(copy, own, sizes[i]);
		assert_cuda(CU(cuMemcpyHtoDAsync_v2)(p, own, sizes[i], NULL),
			    SUCCESS);
		memset(own, 0, sizes[i]);
		settle();
		device_holds(p, copy, sizes[i]);
		memset(copy, 0, sizes[i]);
		fill_random(own, sizes[i], i);
		assert_cuda(CU(cuMemcpyDtoHAsync_v2)(copy, p, sizes[i], NULL),
			    SUCCESS);
		assert_memory_equal(copy, own, sizes[i]);
	}
	free(own);
	free(copy);
	device_free(p);
}

/* ---- order and time ---- */

static void copies_of_page_locked_memory_return_at_once(void **state)
{
	CUdeviceptr p = device_alloc(MIB), q = device_alloc(MIB);
	unsigned char *own;
	CUstream stream;

	(void)state;
	assert_cuda(CU(cuMemHostAlloc)((void **)&own, MIB, 0), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	memset(own, 1, MIB);
	assert_cuda(CU(cuMemsetD8_v2)(p, 7, MIB), SUCCESS);
	settle();
	hold(stream);
	assert_cuda(CU(cuMemcpyDtoDAsync_v2)(q, p, MIB, stream), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(own, q, MIB, stream), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(p, 9, MIB, stream), SUCCESS);
	assert_cuda(CU(cuStreamQuery)(stream), ERROR_NOT_READY);
	assert_int_equal(own[5], 1);
	let_go(NULL);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_int_equal(own[5], 7);
	assert_int_equal(own[MIB - 1], 7);
	memset(own, 9, MIB);
	device_holds(p, own, MIB);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	assert_cuda(CU(cuMemFreeHost)(own), SUCCESS);
	device_free(p);
	device_free(q);
}

/*
 * The legacy stream waits for blocking streams, and so does a synchronous copy.
 */
static void a_synchronous_copy_comes_after_what_was_before(void **state)
{
	CUdeviceptr p = device_alloc(8 * MIB);
	unsigned char got = 0;
	CUstream stream;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	for (unsigned i = 0; i < 50; i++) {
		assert_cuda(CU(cuLaunchHostFunc)(stream, let_go, NULL),
			    SUCCESS);
		assert_cuda(
		    CU(cuMemsetD8Async)(p, (unsigned char)i, 8 * MIB, stream),
		    SUCCESS);
		assert_cuda(CU(cuMemcpyDtoH_v2)(&got, p + 8 * MIB - 1, 1),
			    SUCCESS);
		assert_int_equal(got, i);
	}
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	device_free(p);
}

/* ---- wrong copies ---- */

static void wrong_copies_are_told(void **state)
{
	CUdeviceptr p = device_alloc(1000), q = device_alloc(1000);
	void *locked;
	char own[2000];

	(void)state;
	assert_cuda(CU(cuMemHostAlloc)(&locked, 1000, 0), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, own, 1001), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p + 1, own, 1000), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, NULL, 10), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoD_v2)(0, own, 10), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoD_v2)((uintptr_t)own, own + 1000, 10),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoH_v2)(own, p + 999, 2), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoH_v2)(NULL, p, 2), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoH_v2)((void *)(uintptr_t)q, p, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, (char *)locked + 500, 501),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoD_v2)(p, q, 2000), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoD_v2)(p, q, SIZE_MAX), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpy)(p, 0, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpy)(p, 1, SIZE_MAX), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, own, 0), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoDAsync_v2)(p, own, 10, (CUstream)own),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuMemcpyPeer)(p, (CUcontext)own, q, context, 1),
		    ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuMemFreeHost)(locked), SUCCESS);
	device_free(p);
	device_free(q);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, own, 1), ERROR_INVALID_VALUE);
}

static CUDA_MEMCPY2D sound_2d(CUdeviceptr p, const void *own)
{
	return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
			       .srcHost = own,
			       .srcPitch = 64,
			       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			       .dstDevice = p,
			       .dstPitch = 128,
			       .WidthInBytes = 64,
			       .Height = 8};
}

static void wrong_rows_are_told(void **state)
{
	CUdeviceptr before = device_alloc(1024), p = device_alloc(1024);
	char own[1024] = {0};
	CUDA_MEMCPY2D c;

	(void)state;
#define CASE(change, result)                                                   \
	c = sound_2d(p, own);                                                  \
	change;                                                                \
	assert_cuda(CU(cuMemcpy2D_v2)(&c), result)
	CASE(, SUCCESS);
	CASE(c.dstPitch = 63, ERROR_INVALID_VALUE);
	CASE(c.dstXInBytes = 65, ERROR_INVALID_VALUE);
	CASE(c.dstY = 1, ERROR_INVALID_VALUE);
	CASE(c.Height = 9, ERROR_INVALID_VALUE);
	CASE(c.srcPitch = 1ULL << 31, ERROR_INVALID_VALUE);
	CASE(c.dstPitch = SIZE_MAX, ERROR_INVALID_VALUE);
	CASE(c.srcHost = NULL, ERROR_INVALID_VALUE);
	CASE(c.srcMemoryType = 0, ERROR_INVALID_VALUE);
	CASE(c.dstMemoryType = 5, ERROR_INVALID_VALUE);
	CASE(c.srcMemoryType = CU_MEMORYTYPE_ARRAY, ERROR_INVALID_HANDLE);
	CASE(c.Height = SIZE_MAX, ERROR_INVALID_VALUE);
	CASE(c.WidthInBytes = SIZE_MAX, ERROR_INVALID_VALUE);
	CASE(c.dstY = SIZE_MAX / 2, ERROR_INVALID_VALUE);
	/* So far that it would reach the previous piece. */
	assert_int_equal(p - before, 1024);
	CASE((c.dstY = (1ULL << 57) - 8, c.Height = 1), ERROR_INVALID_VALUE);
	CASE(c.Height = 0, SUCCESS);
	CASE((c.Height = 1, c.srcPitch = 0, c.dstPitch = 0), SUCCESS);
	assert_cuda(CU(cuMemcpy2D_v2)(NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpy3D_v2)(NULL), ERROR_INVALID_VALUE);
	device_free(p);
	device_free(before);
}

static void copies_go_from_device_to_device(void **state)
{
	CUdeviceptr p = device_alloc(MIB), q;
	unsigned char *own = malloc(MIB);
	CUcontext other;

	(void)state;
	fill_random(own, MIB, 3);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, own, MIB), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	q = device_alloc(MIB);
	assert_cuda(CU(cuMemcpyPeer)(q, other, p, context, MIB), SUCCESS);
	device_holds(q, own, MIB);
	assert_cuda(CU(cuMemsetD8_v2)(q, 0, MIB), SUCCESS);
	assert_cuda(CU(cuMemcpyPeerAsync)(q, other, p, context, MIB, NULL),
		    SUCCESS);
	device_holds(q, own, MIB);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	device_free(p);
	free(own);
}

static CUresult copy_all(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from,
			 CUcontext from_ctx, bool boxes)
{
	const CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
					.srcDevice = from,
					.srcContext = from_ctx,
					.srcPitch = 1024,
					.dstMemoryType = CU_MEMORYTYPE_DEVICE,
					.dstDevice = to,
					.dstContext = to_ctx,
					.dstPitch = 1024,
					.WidthInBytes = 1024,
					.Height = KIB,
					.Depth = 1};

	return boxes ? CU(cuMemcpy3DPeer)(&box)
		     : CU(cuMemcpyPeer)(to, to_ctx, from, from_ctx, MIB);
}

/* Makes a stream of the current context whose next work is held up. */
static CUstream held_stream(void)
{
	CUstream s;

	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	hold(s);
	return s;
}

/* After everything that both devices were given, before anything later. */
static void copies_between_devices_keep_the_order_of_both(void **state)
{
	CUdeviceptr p = device_alloc(MIB), q;
	unsigned char *own;
	CUstream from, to;
	CUcontext other;

	(void)state;
	assert_cuda(CU(cuMemHostAlloc)((void **)&own, MIB, 0), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	q = device_alloc(MIB);
	for (int boxes = 0; boxes < 2; boxes++) {
		to = held_stream();
		assert_cuda(CU(cuMemsetD8Async)(q, 1, MIB, to), SUCCESS);
		assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
		from = held_stream();
		assert_cuda(CU(cuMemsetD8Async)(p, 7, MIB, from), SUCCESS);
		/* The host does not wait. */
		assert_cuda(copy_all(q, other, p, context, boxes), SUCCESS);
		assert_cuda(CU(cuMemsetD8Async)(p, 9, MIB, from), SUCCESS);
		assert_cuda(CU(cuCtxSetCurrent)(other), SUCCESS);
		assert_cuda(CU(cuMemcpyDtoHAsync_v2)(own, q, MIB, to), SUCCESS);
		let_go(NULL);
		assert_cuda(CU(cuStreamSynchronize)(to), SUCCESS);
		assert_int_equal(own[0], 7);
		assert_int_equal(own[MIB - 1], 7);
		assert_cuda(CU(cuStreamSynchronize)(from), SUCCESS);
		assert_cuda(CU(cuStreamDestroy_v2)(to), SUCCESS);
		assert_cuda(CU(cuStreamDestroy_v2)(from), SUCCESS);
	}
	assert_cuda(CU(cuMemFreeHost)(own), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	settle();
	device_free(p);
}

static void the_stream_of_another_device_will_do(void **state)
{
	CUdeviceptr p = device_alloc(4096);
	unsigned char own[4096];
	CUcontext other;
	CUstream stream;

	(void)state;
	fill_random(own, sizeof(own), 9);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoDAsync_v2)(p, own, sizeof(own), stream),
		    SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	device_holds(p, own, sizeof(own));
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	device_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_and_slices_arrive_where_they_should),
	    cmocka_unit_test(bytes_arrive_whatever_the_call),
	    cmocka_unit_test(pageable_memory_is_read_before_the_call_returns),
	    HOLDING_TEST(copies_of_page_locked_memory_return_at_once),
	    cmocka_unit_test(a_synchronous_copy_comes_after_what_was_before),
	    cmocka_unit_test(wrong_copies_are_told),
	    cmocka_unit_test(wrong_rows_are_told),
	    cmocka_unit_test(copies_go_from_device_to_device),
	    HOLDING_TEST(copies_between_devices_keep_the_order_of_both),
	    cmocka_unit_test(the_stream_of_another_device_will_do),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
