/* SPDX-License-Identifier: Apache-2.0 */
/*
 * physical_share_test.c - checks memory of cuMemCreate that another process
 * imports by a descriptor: it is the same memory, lives as long as anybody has
 * it, and other descriptors are refused.
 */
#include "fronts/cuda/descriptor.h"
#include "machine/store/process/ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define STEP (2 * MIB)
#define SIZE (3 * STEP)
#define FD   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static const CUmemAllocationProp prop = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requestedHandleTypes = FD,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUdeviceptr show(CUmemGenericAllocationHandle h)
{
	CUmemAccessDesc desc = {prop.location,
				CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUdeviceptr at;

	assert_cuda(CU(cuMemAddressReserve)(&at, SIZE, 0, 0, 0), SUCCESS);
	assert_cuda(CU(cuMemMap)(at, SIZE, 0, h, 0), SUCCESS);
	assert_cuda(CU(cuMemSetAccess)(at, SIZE, &desc, 1), SUCCESS);
	return at;
}

static void hide(CUdeviceptr at)
{
	assert_cuda(CU(cuMemUnmap)(at, SIZE), SUCCESS);
	assert_cuda(CU(cuMemAddressFree)(at, SIZE), SUCCESS);
}

static uint32_t word_at(CUdeviceptr at)
{
	uint32_t word = 0;

	assert_cuda(CU(cuMemcpyDtoH_v2)(&word, at, 4), SUCCESS);
	return word;
}

static CUmemGenericAllocationHandle give(void)
{
	CUmemGenericAllocationHandle h;
	int fd;

	assert_cuda(CU(cuMemCreate)(&h, SIZE, &prop, 0), SUCCESS);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 0), SUCCESS);
	send_descriptor(fd);
	return h;
}

/*
 * g: sends memory filled with 7; d: releases it; c: makes more and releases
 * that; 9: reads 9.
 */
static void serve(struct orders *o)
{
	CUmemGenericAllocationHandle h = 0, more;
	CUdeviceptr at = 0;
	char what;

	begin_cuda(0);
	while (read(o->in, &what, 1) == 1) {
		if (what == 'g') {
			h = give();
			at = show(h);
			CU(cuMemsetD32_v2)(at, 7, SIZE / 4);
			CU(cuCtxSynchronize)();
		}
		if (what == 'd') {
			hide(at);
			assert_cuda(CU(cuMemRelease)(h), SUCCESS);
		}
		if (what == 'c') {
			assert_cuda(CU(cuMemCreate)(&more, SIZE, &prop, 0),
				    SUCCESS);
			CU(cuMemsetD8_v2)(show(more), 255, SIZE);
			CU(cuCtxSynchronize)();
		}
		if (what == '9')
			assert_int_equal(word_at(at + SIZE - 4), 9);
		peer_write(o->out, &what, 1);
	}
}

static CUdeviceptr take(const struct peer *p)
{
	CUmemGenericAllocationHandle h;
	CUmemAllocationProp told;
	CUdeviceptr at;
	int fd;

	peer_do(p, 'g');
	fd = receive_descriptor();
	assert_cuda(
	    CU(cuMemImportFromShareableHandle)(&h, (void *)(intptr_t)fd, FD),
	    SUCCESS);
	close(fd);
	assert_cuda(CU(cuMemGetAllocationPropertiesFromHandle)(&told, h),
		    SUCCESS);
	assert_memory_equal(&told, &prop, sizeof told);
	at = show(h);
	assert_cuda(CU(cuMemRelease)(h), SUCCESS);
	return at;
}

static void both_have_the_same_bytes(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	uint64_t held;
	CUdeviceptr at;

	begin_cuda(0);
	at = take(&p);
	held = gkf_held_bytes(fx->m, 0);
	assert_int_equal(word_at(at), 7);
	assert_int_equal(word_at(at + SIZE - 4), 7);
	assert_cuda(CU(cuMemsetD32_v2)(at, 9, SIZE / 4), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	peer_do(&p, '9');
	hide(at);
	assert_int_equal(gkf_held_bytes(fx->m, 0), held);
	peer_end(&p);
}

/* Its blocks are not reused while it is used here. */
static void it_lives_as_long_as_anybody_has_it(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	CUdeviceptr at;
	uint64_t held;

	begin_cuda(0);
	at = take(&p);
	held = gkf_held_bytes(fx->m, 0);
	peer_do(&p, 'd');
	assert_int_equal(gkf_held_bytes(fx->m, 0), held);
	peer_do(&p, 'c');
	assert_int_equal(gkf_held_bytes(fx->m, 0), held + SIZE);
	assert_int_equal(word_at(at + SIZE - 4), 7);
	hide(at);
	/* It is given back at the next such call of its process. */
	peer_do(&p, 'c');
	assert_int_equal(gkf_held_bytes(fx->m, 0), held + SIZE);
	peer_end(&p);
}

static void it_outlives_a_process_that_is_killed(struct fixture *fx)
{
	struct peer p = start_sender(serve);
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	at = take(&p);
	peer_kill(&p);
	assert_int_equal(word_at(at + SIZE - 4), 7);
	assert_cuda(CU(cuMemsetD32_v2)(at, 9, SIZE / 4), SUCCESS);
	assert_int_equal(word_at(at), 9);
	hide(at);
}

static void a_process_may_import_its_own(struct fixture *fx)
{
	CUmemGenericAllocationHandle h, same;
	CUdeviceptr a, b;
	int fd, again;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuMemCreate)(&h, SIZE, &prop, 0), SUCCESS);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 0), SUCCESS);
	assert_cuda(CU(cuMemExportToShareableHandle)(&again, h, FD, 0),
		    SUCCESS);
	close(again);
	assert_cuda(
	    CU(cuMemImportFromShareableHandle)(&same, (void *)(intptr_t)fd, FD),
	    SUCCESS);
	a = show(h);
	b = show(same);
	assert_cuda(CU(cuMemsetD32_v2)(a, 5, 1), SUCCESS);
	assert_int_equal(word_at(b), 5);
	assert_cuda(CU(cuMemExportToShareableHandle)(&again, same, FD, 0),
		    ERROR_NOT_SUPPORTED);
}

static CUresult import(int fd)
{
	CUmemGenericAllocationHandle h;

	return CU(cuMemImportFromShareableHandle)(&h, (void *)(intptr_t)fd, FD);
}

static void other_descriptors_are_refused(struct fixture *fx)
{
	CUmemGenericAllocationHandle h;
	CUmemAllocationProp without = prop;
	int fd, pipes[2], file = memfd_create("theirs", MFD_ALLOW_SEALING);

	(void)fx;
	begin_cuda(0);
	assert_int_equal(pipe(pipes), 0);
	assert_cuda(import(-1), ERROR_INVALID_VALUE);
	assert_cuda(import(1000), ERROR_INVALID_VALUE);
	assert_cuda(import(pipes[0]), ERROR_INVALID_VALUE);
	assert_cuda(import(open("/", O_RDONLY)), ERROR_INVALID_VALUE);
	assert_cuda(import(file), ERROR_INVALID_VALUE);
	assert_int_equal(ftruncate(file, 64 * MIB), 0);
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	for (off_t at = 0; at < 64 * (off_t)MIB; at += 65536) {
		assert_int_equal(lseek(file, at, SEEK_SET), at);
		assert_cuda(import(file), ERROR_INVALID_VALUE);
	}
	assert_cuda(CU(cuMemCreate)(&h, SIZE, &prop, 0), SUCCESS);
	assert_cuda(CU(cuMemExportToShareableHandle)(
			&fd, h, CU_MEM_HANDLE_TYPE_FABRIC, 0),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemExportToShareableHandle)(NULL, h, FD, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 0), SUCCESS);
	for (off_t by = -256; by <= 256; by += 16) {
		off_t at = lseek(fd, by, SEEK_CUR);

		assert_int_equal(import(fd),
				 by ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
		assert_int_equal(lseek(fd, at - by, SEEK_SET), at - by);
	}
	without.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	assert_cuda(CU(cuMemCreate)(&h, SIZE, &without, 0), SUCCESS);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 0),
		    ERROR_INVALID_VALUE);
}

/* A program without free descriptor numbers gets an error, and may continue. */
static void without_a_free_descriptor(struct fixture *fx)
{
	CUmemGenericAllocationHandle h;
	struct rlimit few = {0};
	int fd = 77;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuMemCreate)(&h, SIZE, &prop, 0), SUCCESS);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
	few.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 0),
		    ERROR_OUT_OF_MEMORY);
	assert_int_equal(fd, 77);
	few.rlim_cur = few.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_cuda(CU(cuMemExportToShareableHandle)(&fd, h, FD, 0), SUCCESS);
	assert_cuda(CU(cuMemRelease)(h), SUCCESS);
}

int main(int argc, char **argv)
{
	static const struct alone tests[] = {
	    ALONE(both_have_the_same_bytes),
	    ALONE(it_lives_as_long_as_anybody_has_it),
	    ALONE(it_outlives_a_process_that_is_killed),
	    ALONE(a_process_may_import_its_own),
	    ALONE(other_descriptors_are_refused),
	    ALONE(without_a_free_descriptor),
	};

	return alone_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
