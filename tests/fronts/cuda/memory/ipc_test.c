/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_test.c - checks memory that another process shares by a handle: both see
 * the same bytes; an invalid or dead handle opens nothing and harms nobody.
 */
#include "base/mix.h"
#include "device/share_file.h"
#include "fronts/cuda/peer.h"
#include "machine/store/process/ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MUCH       (40 * MIB)
#define SMALL      10000u
#define LARGE      (5 * MIB + 8)
#define OPEN(p, h) CU(cuIpcOpenMemHandle_v2)(p, h, 1)

/* ---- the other process ---- */

/* Where this process finds the keeper's descriptor of the memory. */
static void find_file(char *path, size_t size)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;

	while ((task = readdir(tasks))) {
		char target[80] = "";

		snprintf(path, size, "/proc/self/task/%.20s/fd/0",
			 task->d_name);
		if (readlink(path, target, sizeof target - 1) > 0 &&
		    strstr(target, "gpukit"))
			break;
	}
	assert_non_null(task);
	closedir(tasks);
}

/* Overwrites a word in the row of a handle. */
static void spoil(const CUipcMemHandle *h, size_t offset, uint64_t value)
{
	const struct share_words *w = (const struct share_words *)h;
	struct stat st;
	char path[80];
	int fd;

	find_file(path, sizeof path);
	fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(
	    pwrite(fd, &value, 8,
		   st.st_size - (off_t)SHARE_ROWS_SIZE +
		       (off_t)(w->row * sizeof(struct share_row) + offset)),
	    8);
	close(fd);
}

struct told {
	CUdeviceptr at;
	CUipcMemHandle handle;
};

static void share(struct orders *o, struct told *t, size_t size)
{
	CUdeviceptr before;

	assert_cuda(CU(cuMemAlloc_v2)(&before, 4096), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&t->at, size), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(t->at, 7, size / 4), SUCCESS);
	assert_cuda(CU(cuIpcGetMemHandle)(&t->handle, t->at + size / 2),
		    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	peer_write(o->out, t, sizeof *t);
}

static void spoil_row(const struct told *t, char what)
{
	switch (what) {
	case '1':
		spoil(&t->handle, offsetof(struct share_row, size), UINT64_MAX);
		break;
	case '2':
		spoil(&t->handle, offsetof(struct share_row, offset),
		      UINT64_MAX - 100);
		break;
	case '3':
		spoil(&t->handle, offsetof(struct share_row, device), 63);
		break;
	case '4':
		spoil(&t->handle, offsetof(struct share_row, kind),
		      GKF_SHARE_EVENT);
		break;
	case '5':
		spoil(&t->handle, offsetof(struct share_row, size), 0);
		break;
	default:
		spoil(&t->handle, offsetof(struct share_row, board), 1);
	}
}

static void obey(struct orders *o, struct told *t, char what)
{
	uint32_t value = 0;

	if (what == 's' || what == 'l') {
		share(o, t, what == 's' ? SMALL : LARGE);
		return;
	}
	if (what == 'f')
		assert_cuda(CU(cuMemFree_v2)(t->at), SUCCESS);
	if (what == 'r') {
		assert_cuda(CU(cuMemcpyDtoH_v2)(&value, t->at + 8, 4), SUCCESS);
		assert_int_equal(value, 99);
	}
	if (what == 'm') { /* memory that is not shared */
		CUdeviceptr more;

		assert_cuda(CU(cuMemAlloc_v2)(&more, MUCH), SUCCESS);
		assert_cuda(CU(cuMemsetD8_v2)(more, 1, MUCH), SUCCESS);
		assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	}
	if (what == 'x')
		exit(0);
	if (what == 'c') /* as a daemon does */
		for (int fd = 3; fd < 64; fd++)
			if (fd != o->in && fd != o->out)
				close(fd);
	if (what >= '1' && what <= '6')
		spoil_row(t, what);
	peer_write(o->out, &what, 1);
}

static void serve(struct orders *o)
{
	struct told t = {0};
	char what;

	begin_cuda(0);
	while (read(o->in, &what, 1) == 1)
		obey(o, &t, what);
}

/* ---- tests ---- */

static struct told shared(const struct peer *p, char what)
{
	struct told t;

	peer_tell(p, what, &t, sizeof t);
	return t;
}

static uint32_t word_at(CUdeviceptr at)
{
	uint32_t word = 0;

	assert_cuda(CU(cuMemcpyDtoH_v2)(&word, at, 4), SUCCESS);
	return word;
}

static unsigned open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void check_shared(const struct peer *p, char what, size_t size)
{
	struct told t = shared(p, what);
	CUdeviceptr at, base;
	size_t told;

	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	assert_cuda(CU(cuMemGetAddressRange_v2)(&base, &told, at + size - 1),
		    SUCCESS);
	assert_int_equal(base, at);
	assert_int_equal(told, size);
	assert_int_equal(word_at(at), 7);
	assert_int_equal(word_at(at + (size & ~3UL) - 4), 7);
	assert_cuda(CU(cuMemsetD32_v2)(at + 8, 99, 1), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	peer_do(p, 'r');
	assert_cuda(CU(cuMemsetD8_v2)(at + size, 1, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)(at), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuIpcGetMemHandle)(&t.handle, at), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(at, 1, 1), ERROR_INVALID_VALUE);
}

static void both_have_the_same_bytes(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	unsigned before;

	(void)fx;
	begin_cuda(0);
	check_shared(&p, 's', SMALL);
	before = open_descriptors();
	check_shared(&p, 'l', LARGE);
	assert_int_equal(open_descriptors(), before);
	peer_end(&p);
}

static void who_closed_all_descriptors_still_shares(struct fixture *fx)
{
	struct peer p = peer_start(serve);

	(void)fx;
	begin_cuda(0);
	check_shared(&p, 's', SMALL);
	peer_do(&p, 'c');
	check_shared(&p, 'l', LARGE);
	peer_end(&p);
}

static void only_who_shares_pays(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	uint64_t held;
	struct told t;
	CUdeviceptr at;

	begin_cuda(0);
	t = shared(&p, 'l');
	held = gkf_held_bytes(fx->m, 0);
	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), held);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), SUCCESS);
	assert_int_equal(gkf_held_bytes(fx->m, 0), held);
	peer_end(&p);
}

static void what_is_freed_or_of_the_dead_cannot_be_opened(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	struct told t;
	CUdeviceptr at = 5;

	(void)fx;
	begin_cuda(0);
	t = shared(&p, 's');
	peer_do(&p, 'f');
	assert_cuda(OPEN(&at, t.handle), ERROR_INVALID_HANDLE);
	t = shared(&p, 's');
	peer_kill(&p);
	assert_cuda(OPEN(&at, t.handle), ERROR_INVALID_HANDLE);
	assert_int_equal(at, 5);
}

static void what_is_open_outlives_who_shared_it(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	struct told t;
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	t = shared(&p, 'l');
	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	peer_kill(&p);
	assert_int_equal(word_at(at + LARGE - 8), 7);
	assert_cuda(CU(cuMemsetD32_v2)(at, 3, LARGE / 4), SUCCESS);
	assert_int_equal(word_at(at + LARGE - 8), 3);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), SUCCESS);
}

static void freeing_it_meanwhile_harms_nobody(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	struct told t;
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	t = shared(&p, 'l');
	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	peer_do(&p, 'f');
	assert_cuda(CU(cuMemsetD32_v2)(at, 3, LARGE / 4), SUCCESS);
	word_at(at);
	peer_end(&p);
	word_at(at);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), SUCCESS);
}

/* Memory that nobody can reach any more goes back to the host. */
static void who_ends_leaves_only_what_it_shared(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	struct told t;
	struct stat st;
	CUdeviceptr at;
	char path[80], bye = 'x';
	int fd;

	(void)fx;
	begin_cuda(0);
	t = shared(&p, 'l');
	peer_do(&p, 'm');
	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%u", (int)p.pid,
		 ((struct share_words *)&t.handle)->thread,
		 ((struct share_words *)&t.handle)->file);
	fd = open(path, O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_blocks * 512ULL >= MUCH);
	peer_write(p.to, &bye, 1);
	fixture_await(p.pid, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_in_range(st.st_blocks * 512ULL, LARGE & -4096UL,
			LARGE + 6 * MIB);
	assert_int_equal(word_at(at), 7);
	assert_int_equal(word_at(at + LARGE - 8), 7);
}

static void a_handle_belongs_to_one_context(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUcontext second, first = begin_cuda(0);
	struct told t = shared(&p, 's');
	CUdeviceptr at, again;

	(void)fx;
	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	assert_cuda(OPEN(&again, t.handle), SUCCESS);
	assert_int_equal(again, at);
	assert_cuda(CU(cuIpcOpenMemHandle)(&again, t.handle, 1),
		    ERROR_ALREADY_MAPPED);
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 0), SUCCESS);
	assert_cuda(OPEN(&again, t.handle), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), ERROR_INVALID_VALUE);
	/* It may be opened once more for another device. */
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	assert_cuda(CU(cuIpcOpenMemHandle_v2)(&again, t.handle, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(OPEN(&again, t.handle), SUCCESS);
	assert_int_equal(word_at(again), 7);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(first), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(again, 1, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), SUCCESS);
	assert_int_equal(word_at(at), 7);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), SUCCESS);
	assert_cuda(CU(cuIpcCloseMemHandle)(at), ERROR_INVALID_VALUE);
	peer_end(&p);
}

static void what_has_no_handle(struct fixture *fx)
{
	CUipcMemHandle handle;
	CUdeviceptr p;
	void *host;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuIpcGetMemHandle)(&handle, 4096), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocManaged)(&p, 4096, CU_MEM_ATTACH_GLOBAL),
		    SUCCESS);
	assert_cuda(CU(cuIpcGetMemHandle)(&handle, p), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostAlloc)(&host, 4096, 0), SUCCESS);
	assert_cuda(CU(cuIpcGetMemHandle)(&handle, (uintptr_t)host),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocAsync)(&p, 4096, NULL), SUCCESS);
	assert_cuda(CU(cuIpcGetMemHandle)(&handle, p), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAlloc_v2)(&p, 4096), SUCCESS);
	assert_cuda(CU(cuIpcGetMemHandle)(NULL, p), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuIpcGetMemHandle)(&handle, p), SUCCESS);
	assert_cuda(OPEN(&p, handle), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuIpcOpenMemHandle_v2)(&p, handle, 2),
		    ERROR_INVALID_VALUE);
}

/* ---- corrupted bytes ---- */

static uint64_t dice(uint64_t *seed)
{
	return gkf_mix((*seed)++);
}

static void bytes_that_are_no_handle_open_nothing(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	uint64_t seed = 1;
	struct told t;
	CUdeviceptr at = 5;
	unsigned before;

	(void)fx;
	begin_cuda(0);
	t = shared(&p, 's');
	before = open_descriptors();
	for (unsigned bit = 0; bit < 8 * sizeof t.handle; bit++) {
		CUipcMemHandle h = t.handle;

		h.reserved[bit / 8] ^= (char)(1 << bit % 8);
		assert_cuda(OPEN(&at, h), ERROR_INVALID_HANDLE);
	}
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t words[8];
		CUipcMemHandle h;

		for (unsigned k = 0; k < 8; k++)
			words[k] = dice(&seed);
		memcpy(&h, words, sizeof h);
		assert_cuda(OPEN(&at, h), ERROR_INVALID_HANDLE);
	}
	assert_int_equal(at, 5);
	assert_int_equal(open_descriptors(), before);
	peer_end(&p);
}

static uint64_t sum_of(const struct share_words *w)
{
	const uint64_t *word = (const uint64_t *)w;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 7; i++)
		sum = gkf_mix(sum ^ word[i]);
	return sum;
}

static CUresult open_lie(struct share_words w)
{
	CUipcMemHandle h;
	CUdeviceptr at;

	w.check = sum_of(&w);
	memcpy(&h, &w, sizeof h);
	return OPEN(&at, h);
}

/* A file of this process that is not CUDA memory. */
static CUresult open_own_file(struct share_words w, int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	w.start = 0; /* memory that claims to be its own is refused anyway */
	w.pid = w.thread = getpid();
	w.file = (uint32_t)fd;
	w.inode = st.st_ino;
	return open_lie(w);
}

static void handles_that_lie_open_nothing(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	struct share_words w;
	struct told t;
	CUdeviceptr at;
	int pipes[2], unsealed;

	(void)fx;
	begin_cuda(0);
	t = shared(&p, 's');
	memcpy(&w, &t.handle, sizeof w);
	assert_int_equal(w.check, sum_of(&w));
	for (uint32_t row = 0; row < 300; row++) {
		struct share_words lie = w;

		lie.row = row == w.row ? SHARE_ROWS : row;
		assert_cuda(open_lie(lie), ERROR_INVALID_HANDLE);
	}
	w.id ^= 2;
	assert_cuda(open_lie(w), ERROR_INVALID_HANDLE);
	w.id ^= 2;
	assert_int_equal(pipe(pipes), 0);
	assert_cuda(open_own_file(w, pipes[0]), ERROR_INVALID_HANDLE);
	assert_cuda(open_own_file(w, open("/", O_RDONLY)),
		    ERROR_INVALID_HANDLE);
	assert_cuda(open_own_file(w, open("/proc/self/exe", O_RDONLY)),
		    ERROR_INVALID_HANDLE);
	unsealed = memfd_create("theirs", 0);
	assert_int_equal(ftruncate(unsealed, 64 * MIB), 0);
	assert_cuda(open_own_file(w, unsealed), ERROR_INVALID_HANDLE);
	assert_int_equal(ftruncate(unsealed, 100), 0);
	assert_cuda(open_own_file(w, unsealed), ERROR_INVALID_HANDLE);
	assert_cuda(OPEN(&at, t.handle), SUCCESS);
	peer_end(&p);
}

static void rows_that_lie_open_nothing(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	struct told t;
	CUdeviceptr at;

	(void)fx;
	begin_cuda(0);
	for (char how = '1'; how <= '6'; how++) {
		t = shared(&p, 's');
		peer_do(&p, how);
		assert_cuda(OPEN(&at, t.handle), ERROR_INVALID_HANDLE);
	}
	check_shared(&p, 's', SMALL);
	peer_end(&p);
}

int main(int argc, char **argv)
{
	static const struct alone tests[] = {
	    ALONE(both_have_the_same_bytes),
	    ALONE(who_closed_all_descriptors_still_shares),
	    ALONE(only_who_shares_pays),
	    ALONE(what_is_freed_or_of_the_dead_cannot_be_opened),
	    ALONE(what_is_open_outlives_who_shared_it),
	    ALONE(freeing_it_meanwhile_harms_nobody),
	    ALONE(who_ends_leaves_only_what_it_shared),
	    ALONE(a_handle_belongs_to_one_context),
	    ALONE(what_has_no_handle),
	    ALONE(bytes_that_are_no_handle_open_nothing),
	    ALONE(handles_that_lie_open_nothing),
	    ALONE(rows_that_lie_open_nothing),
	};

	return alone_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
