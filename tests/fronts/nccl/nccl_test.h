/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_test.h - NCCL on a fake machine, as programs use it: with ranks that are
 * processes, and with ranks that are devices of one process. A test does the
 * same for both: it acts for all ranks of its process.
 */
#ifndef TESTS_NCCL_TEST_H
#define TESTS_NCCL_TEST_H

#include "abi/libraries/nccl_abi.h"
#include "base/clock.h"
#include "fronts/cuda/peer.h"
#include "machine/file/profile.h"

/* N(ncclAllReduce)(...) calls it with its row's type. */
#define N(symbol) ((__typeof__(&symbol))nccl_symbol(#symbol))

#define assert_nccl(call, result)                                              \
	do {                                                                   \
		ncclResult_t nccl_got = (call);                                \
		if (nccl_got != ncclInProgress && nccl_got != nccl##result)    \
			print_error("%s\n", N(ncclGetLastError)(NULL));        \
		assert_int_equal(nccl_got, nccl##result);                      \
	} while (0)

#define RANKS 4

static inline void *nccl_symbol(const char *name)
{
	static void *library;
	void *at;

	if (!library)
		library =
		    dlopen(FAKE_DIR "/libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	at = dlsym(library, name);
	if (!at)
		fail_msg("no %s", name);
	return at;
}

struct rank {
	unsigned rank;
	CUcontext ctx;
	CUstream stream;
	ncclComm_t comm;
	CUdeviceptr in, out;
};

/* The ranks of this process, of the communicator's `n`. */
struct party {
	struct rank *mine;
	unsigned count, n;
	size_t room; /* bytes of `in` and `out` each */
};

#define EACH_RANK(p, r)                                                        \
	for (struct rank * (r) = (p)->mine; (r) < (p)->mine + (p)->count; (r)++)

static inline void use(const struct rank *r)
{
	assert_cuda(CU(cuCtxSetCurrent)(r->ctx), SUCCESS);
}

static inline void open_rank(struct party *p, struct rank *r, unsigned rank)
{
	r->rank = rank;
	r->ctx = begin_cuda((CUdevice)rank);
	assert_cuda(CU(cuStreamCreate)(&r->stream, 0), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&r->in, p->room), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&r->out, p->room), SUCCESS);
}

static inline void close_party(struct party *p)
{
	EACH_RANK(p, r)
	{
		use(r);
		assert_nccl(N(ncclCommDestroy)(r->comm), Success);
	}
}

static inline void await_party(const struct party *p)
{
	EACH_RANK(p, r)
	{
		use(r);
		assert_cuda(CU(cuStreamSynchronize)(r->stream), SUCCESS);
	}
}

#define PARTY_ROOM (16 * MIB)

/* GPUs of capability 9.0: earlier ones do not reduce floats of 8 bits. */
static inline void open_machine(struct fixture *fx, unsigned n)
{
	struct gkf_profile profiles[16];

	fixture_close(fx);
	for (unsigned i = 0; i < n; i++) {
		profiles[i] = gkf_profile_default;
		profiles[i].compute_major = 9;
		profiles[i].compute_minor = 0;
	}
	fixture_open_of(fx, profiles, n);
}

/* A forked process with one rank. */
static inline void run_rank(unsigned n, unsigned rank, ncclUniqueId id,
			    void (*body)(struct party *p))
{
	struct rank r = {0};
	struct party p = {&r, 1, n, PARTY_ROOM};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_rank(&p, &r, rank);
	assert_nccl(N(ncclCommInitRank)(&r.comm, (int)n, id, (int)rank),
		    Success);
	body(&p);
	_exit(0);
}

/* Runs the body in `n` processes with one rank each; they must succeed. */
static inline void in_processes(struct fixture *fx, unsigned n,
				void (*body)(struct party *p))
{
	ncclUniqueId id;
	pid_t child[16];

	open_machine(fx, n);
	assert_nccl(N(ncclGetUniqueId)(&id), Success);
	for (unsigned i = 0; i < n; i++) {
		child[i] = fork();
		if (!child[i]) {
			struct rank r = {0};
			struct party p = {&r, 1, n, PARTY_ROOM};

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			open_rank(&p, &r, i);
			assert_nccl(
			    N(ncclCommInitRank)(&r.comm, (int)n, id, (int)i),
			    Success);
			body(&p);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < n; i++)
		fixture_await(child[i], 0);
}

/* Runs the body in this process, which has all ranks. */
static inline void in_one_process(struct fixture *fx, unsigned n,
				  void (*body)(struct party *p))
{
	struct rank ranks[16] = {0};
	struct party p = {ranks, n, n, PARTY_ROOM};
	ncclComm_t comms[16];

	open_machine(fx, n);
	for (unsigned i = 0; i < n; i++)
		open_rank(&p, &ranks[i], i);
	assert_nccl(N(ncclCommInitAll)(comms, (int)n, NULL), Success);
	for (unsigned i = 0; i < n; i++)
		ranks[i].comm = comms[i];
	body(&p);
}

#endif
