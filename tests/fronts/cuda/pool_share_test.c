/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_share_test.c - checks memory of a pool in another process: the pool is
 * passed by a descriptor, each piece of it by a handle.
 */
#include "base/mix.h"
#include "fronts/cuda/descriptor.h"
#include "machine/store/process/ledger.h"

#define FD    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define SMALL 5000u
#define LARGE (3 * MIB)

static const CUmemPoolProps props = {
    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
    .handleTypes = FD,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static uint32_t word_at(CUdeviceptr at)
{
	uint32_t word = 0;

	assert_cuda(CU(cuMemcpyDtoH_v2)(&word, at, 4), SUCCESS);
	return word;
}

/*
 * p: sends a pool; s, l: a piece of it filled with 7; 9: reads 9 there; f:
 * frees it; x: destroys the pool.
 */
static void serve(struct orders *o)
{
	CUmemPoolPtrExportData data;
	CUmemoryPool pool = NULL;
	CUdeviceptr at = 0;
	char what;
	int fd;

	begin_cuda(0);
	while (read(o->in, &what, 1) == 1) {
		size_t size = what == 's' ? SMALL : LARGE;

		switch (what) {
		case 'p':
			assert_cuda(CU(cuMemPoolCreate)(&pool, &props),
				    SUCCESS);
			assert_cuda(CU(cuMemPoolExportToShareableHandle)(
					&fd, pool, FD, 0),
				    SUCCESS);
			send_descriptor(fd);
			break;
		case 's':
		case 'l':
			assert_cuda(
			    CU(cuMemAllocFromPoolAsync)(&at, size, pool, NULL),
			    SUCCESS);
			assert_cuda(CU(cuMemsetD32_v2)(at, 7, size / 4),
				    SUCCESS);
			assert_cuda(CU(cuMemPoolExportPointer)(&data, at),
				    SUCCESS);
			assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
			peer_write(o->out, &data, sizeof data);
			continue;
		case '9':
			assert_int_equal(word_at(at), 9);
			break;
		case 'f':
			assert_cuda(CU(cuMemFreeAsync)(at, NULL), SUCCESS);
			assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
			break;
		default:
			assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
		}
		peer_write(o->out, &what, 1);
	}
}

static CUmemoryPool import(const struct peer *p)
{
	CUmemoryPool pool;
	int fd;

	peer_do(p, 'p');
	fd = receive_descriptor();
	assert_cuda(CU(cuMemPoolImportFromShareableHandle)(
			&pool, (void *)(intptr_t)fd, FD, 0),
		    SUCCESS);
	close(fd);
	return pool;
}

static void check_piece(const struct peer *p, CUmemoryPool pool, char what,
			size_t size, bool in_order)
{
	CUmemPoolPtrExportData data;
	CUmemoryPool told;
	CUdeviceptr at;

	peer_tell(p, what, &data, sizeof data);
	assert_cuda(CU(cuMemPoolImportPointer)(&at, pool, &data), SUCCESS);
	assert_int_equal(word_at(at), 7);
	assert_int_equal(word_at(at + (size & ~3UL) - 4), 7);
	assert_cuda(CU(cuMemsetD8_v2)(at + size, 1, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD32_v2)(at, 9, 1), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	peer_do(p, '9');
	assert_cuda(CU(cuPointerGetAttribute)(
			&told, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at),
		    SUCCESS);
	assert_ptr_equal(told, pool);
	assert_cuda(in_order ? CU(cuMemFreeAsync)(at, NULL)
			     : CU(cuMemFree_v2)(at),
		    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(at, 1, 1), ERROR_INVALID_VALUE);
	peer_do(p, 'f');
	assert_cuda(CU(cuMemPoolImportPointer)(&at, pool, &data),
		    ERROR_INVALID_VALUE);
}

static void pieces_of_a_pool_are_the_same_here(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	CUmemoryPool pool;
	uint64_t held;

	begin_cuda(0);
	pool = import(&p);
	held = gkf_held_bytes(fx->m, 0);
	check_piece(&p, pool, 's', SMALL, false);
	check_piece(&p, pool, 'l', LARGE, true);
	assert_int_equal(gkf_held_bytes(fx->m, 0), held);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	peer_end(&p);
}

static void nothing_is_allocated_from_it(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	CUmemoryPool pool;
	CUdeviceptr at;
	int fd;

	(void)fx;
	begin_cuda(0);
	pool = import(&p);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&at, 64, pool, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceSetMemPool)(0, pool), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPoolExportToShareableHandle)(&fd, pool, FD, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPoolTrimTo)(pool, 0), SUCCESS);
	peer_end(&p);
}

static void what_was_imported_outlives_its_process(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	CUmemPoolPtrExportData data;
	CUmemoryPool pool;
	CUdeviceptr at, late;

	(void)fx;
	begin_cuda(0);
	pool = import(&p);
	peer_tell(&p, 'l', &data, sizeof data);
	assert_cuda(CU(cuMemPoolImportPointer)(&at, pool, &data), SUCCESS);
	peer_kill(&p);
	assert_int_equal(word_at(at + LARGE - 4), 7);
	assert_cuda(CU(cuMemPoolImportPointer)(&late, pool, &data), SUCCESS);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	assert_int_equal(word_at(at + LARGE - 4), 7);
	assert_cuda(CU(cuMemFree_v2)(at), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(late), SUCCESS);
}

static void bytes_that_mean_nothing_are_refused(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	CUmemPoolPtrExportData data, other;
	CUmemoryPool pool, none;
	uint64_t seed = 9;
	CUdeviceptr at;
	int pipes[2];

	(void)fx;
	begin_cuda(0);
	pool = import(&p);
	peer_tell(&p, 's', &data, sizeof data);
	for (unsigned bit = 0; bit < 8 * sizeof data; bit++) {
		other = data;
		other.reserved[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_cuda(CU(cuMemPoolImportPointer)(&at, pool, &other),
			    ERROR_INVALID_VALUE);
	}
	for (int i = 0; i < 5000; i++) {
		for (unsigned k = 0; k < sizeof other; k++)
			other.reserved[k] = (unsigned char)gkf_mix(seed++);
		assert_cuda(CU(cuMemPoolImportPointer)(&at, pool, &other),
			    ERROR_INVALID_VALUE);
	}
	assert_int_equal(pipe(pipes), 0);
	assert_cuda(CU(cuMemPoolImportFromShareableHandle)(
			&none, (void *)(intptr_t)pipes[0], FD, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPoolImportFromShareableHandle)(
			&none, (void *)(intptr_t)pipes[0],
			CU_MEM_HANDLE_TYPE_FABRIC, 0),
		    ERROR_NOT_SUPPORTED);
	/* A piece of a pool that is not exportable has no handle. */
	assert_cuda(CU(cuMemAllocAsync)(&at, 64, NULL), SUCCESS);
	assert_cuda(CU(cuMemPoolExportPointer)(&data, at), ERROR_INVALID_VALUE);
	peer_end(&p);
}

int main(int argc, char **argv)
{
	static const struct alone tests[] = {
	    ALONE(pieces_of_a_pool_are_the_same_here),
	    ALONE(nothing_is_allocated_from_it),
	    ALONE(what_was_imported_outlives_its_process),
	    ALONE(bytes_that_mean_nothing_are_refused),
	};

	return alone_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
