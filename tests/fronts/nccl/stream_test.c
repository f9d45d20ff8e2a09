/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_test.c - checks NCCL's work in the order of streams: across streams,
 * beside other communicators, in graphs; and what the machine reports of it.
 */
#include "fronts/nccl/nccl_test.h"
#include "machine/model/link.h"
#include "machine/model/model.h"

#define AT(address) ((void *)(uintptr_t)(address))

/*
 * It is ordered with earlier and later work of the stream, and the caller never
 * waits.
 */
static void follow_the_stream(struct party *p)
{
	size_t n = 1 << 20;
	struct rank *r = p->mine;
	unsigned got[4];

	use(r);
	for (unsigned round = 1; round < 20; round++) {
		assert_cuda(
		    CU(cuMemsetD32Async)(r->in, round + r->rank, n, r->stream),
		    SUCCESS);
		assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), n,
					     ncclInt32, ncclSum, r->comm,
					     r->stream),
			    Success);
		assert_cuda(CU(cuMemsetD32Async)(r->in, 0, n, r->stream),
			    SUCCESS);
		assert_cuda(CU(cuMemcpyDtoHAsync_v2)(got, r->out + 4 * (n - 4),
						     sizeof got, r->stream),
			    SUCCESS);
		await_party(p);
		for (int i = 0; i < 4; i++)
			assert_int_equal(got[i], 4 * round + 6);
	}
	close_party(p);
}

static void work_is_in_the_order_of_its_stream(struct fixture *fx)
{
	in_processes(fx, RANKS, follow_the_stream);
}

/* A communicator on two streams: its work stays in the order of the calls. */
static void use_two_streams(struct party *p)
{
	struct rank *r = p->mine;
	CUstream streams[2] = {r->stream, NULL};
	unsigned got;

	use(r);
	assert_cuda(CU(cuStreamCreate)(&streams[1], 1), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(r->in, 1, 1), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	for (int i = 0; i < 50; i++)
		assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->in), 1,
					     ncclUint32,
					     i % 16 ? ncclMax : ncclSum,
					     r->comm, streams[i % 3 == 0]),
			    Success);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&got, r->in, sizeof got), SUCCESS);
	assert_int_equal(got, 1 << (2 * 4)); /* four sums of four ranks */
	close_party(p);
}

static void calls_of_two_streams_keep_their_order(struct fixture *fx)
{
	in_processes(fx, RANKS, use_two_streams);
}

/*
 * Several communicators, each on its own stream, called in a different order by
 * each rank: none waits for another.
 */
static void use_many_communicators(struct party *p)
{
	enum { MANY = 6 };
	struct rank *r = p->mine;
	ncclComm_t comm[MANY];
	CUstream stream[MANY];
	unsigned got[MANY];

	use(r);
	for (int i = 0; i < MANY; i++) {
		assert_nccl(N(ncclCommSplit)(r->comm, 0, 0, &comm[i], NULL),
			    Success);
		assert_cuda(CU(cuStreamCreate)(&stream[i], 1), SUCCESS);
	}
	assert_cuda(CU(cuMemsetD32_v2)(r->in, 1, 1 << 16), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < MANY; i++) {
			int k = (i + round * (int)r->rank) % MANY;
			CUdeviceptr to = r->out + (1u << 18) * (unsigned)k;

			assert_nccl(N(ncclAllReduce)(AT(r->in), AT(to), 1 << 16,
						     ncclUint32, ncclSum,
						     comm[k], stream[k]),
				    Success);
		}
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	for (unsigned k = 0; k < MANY; k++) {
		assert_cuda(
		    CU(cuMemcpyDtoH_v2)(
			&got[k], r->out + (1u << 18) * k + (1u << 17), 4),
		    SUCCESS);
		assert_int_equal(got[k], 4);
		assert_nccl(N(ncclCommDestroy)(comm[k]), Success);
	}
	close_party(p);
}

static void communicators_do_not_wait_for_each_other(struct fixture *fx)
{
	in_processes(fx, RANKS, use_many_communicators);
}

/* A captured group, launched repeatedly on the current values. */
static void capture(struct party *p)
{
	struct rank *r = p->mine;
	int next = (int)((r->rank + 1) % p->n),
	    last = (int)((r->rank + p->n - 1) % p->n);
	CUgraphExec exec;
	CUgraph graph;
	unsigned got[2];

	use(r);
	assert_cuda(CU(cuStreamBeginCapture_v2)(
			r->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
		    SUCCESS);
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 1, ncclUint32,
				     ncclSum, r->comm, r->stream),
		    Success);
	assert_nccl(N(ncclGroupStart)(), Success);
	assert_nccl(
	    N(ncclSend)(AT(r->in), 1, ncclUint32, next, r->comm, r->stream),
	    Success);
	assert_nccl(N(ncclRecv)(AT(r->out + 4), 1, ncclUint32, last, r->comm,
				r->stream),
		    Success);
	assert_nccl(N(ncclGroupEnd)(), Success);
	assert_cuda(CU(cuStreamEndCapture)(r->stream, &graph), SUCCESS);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), SUCCESS);
	for (unsigned round = 1; round < 10; round++) {
		assert_cuda(CU(cuMemsetD32_v2)(r->in, round * (r->rank + 1), 1),
			    SUCCESS);
		assert_cuda(CU(cuGraphLaunch)(exec, r->stream), SUCCESS);
		await_party(p);
		assert_cuda(CU(cuMemcpyDtoH_v2)(got, r->out, sizeof got),
			    SUCCESS);
		assert_int_equal(got[0], 10 * round);
		assert_int_equal(got[1], round * ((unsigned)last + 1));
	}
	close_party(p);
}

static void a_graph_calls_it_again(struct fixture *fx)
{
	in_processes(fx, RANKS, capture);
}

/* ---- what NVML reports of it ---- */

static uint64_t link_bytes(struct fixture *fx, unsigned device,
			   enum gkf_way way)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < gkf_links(fx->m, device); i++)
		sum += gkf_link_bytes(fx->m, device, i, way);
	return sum;
}

static void reduce_much(struct party *p)
{
	struct rank *r = p->mine;

	for (int i = 0; i < 8; i++)
		assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 4 << 20,
					     ncclInt8, ncclSum, r->comm,
					     r->stream),
			    Success);
	await_party(p);
	/* The bin ends before the process does. */
	gk_sleep_until(gk_mono_ns() + 400 * GK_NS_PER_MS);
	close_party(p);
}

/* A ring of n ranks carries 2 (n - 1) / n of the buffer each way. */
static void links_carry_what_ranks_exchange(struct fixture *fx)
{
	uint64_t expected = 8ull * (4 << 20) * 2 * 3 / 4;

	in_processes(fx, RANKS, reduce_much);
	for (unsigned i = 0; i < RANKS; i++) {
		uint64_t in = link_bytes(fx, i, GKF_RECEIVED),
			 out = link_bytes(fx, i, GKF_SENT);

		assert_in_range(in, expected, expected + expected / 100);
		assert_in_range(out, expected, expected + expected / 100);
	}
}

static const struct alone tests[] = {
    ALONE(work_is_in_the_order_of_its_stream),
    ALONE(calls_of_two_streams_keep_their_order),
    ALONE(communicators_do_not_wait_for_each_other),
    ALONE(a_graph_calls_it_again),
    ALONE(links_carry_what_ranks_exchange),
};

ALONE_MAIN(tests)
