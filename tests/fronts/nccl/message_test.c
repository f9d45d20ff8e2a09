/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_test.c - checks sends and receives: alone, in groups, to itself,
 * crossing.
 */
#include "fronts/nccl/nccl_test.h"

#define AT(address) ((void *)(uintptr_t)(address))

/* What rank `from` sends to rank `to`, byte by byte. */
static void fill(char *bytes, size_t n, unsigned from, unsigned to)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(i * 7 + i / 251 + from * 31 + to * 101);
}

static void put(const struct rank *r, CUdeviceptr at, size_t n, unsigned to)
{
	char *bytes = malloc(n);

	fill(bytes, n, r->rank, to);
	use(r);
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, bytes, n), SUCCESS);
	free(bytes);
}

static void check(const struct rank *r, CUdeviceptr at, size_t n, unsigned from)
{
	char *got = malloc(n), *expected = malloc(n);

	use(r);
	assert_cuda(CU(cuMemcpyDtoH_v2)(got, at, n), SUCCESS);
	fill(expected, n, from, r->rank);
	for (size_t i = 0; i < n; i++)
		if (got[i] != expected[i])
			fail_msg("rank %u from %u: byte %zu of %zu", r->rank,
				 from, i, n);
	free(got);
	free(expected);
}

/* Large ones in odd pairs, so that each pair differs. */
static size_t size_of(unsigned from, unsigned to)
{
	static const size_t sizes[] = {1, 5000, 70001, 900000};

	return sizes[(from + 3 * to) % 4];
}

/* Everybody sends to everybody, including itself, in any order. */
static void exchange(struct party *p)
{
	enum { ROOM = 1 << 20 };

	for (int round = 0; round < 5; round++) {
		EACH_RANK(p, r)
		for (unsigned k = 0; k < p->n; k++)
			put(r, r->in + k * ROOM, size_of(r->rank, k), k);
		assert_nccl(N(ncclGroupStart)(), Success);
		EACH_RANK(p, r)
		{
			for (unsigned k = 0; k < p->n; k++) {
				assert_nccl(N(ncclSend)(AT(r->in + k * ROOM),
							size_of(r->rank, k),
							ncclInt8, (int)k,
							r->comm, r->stream),
					    Success);
				assert_nccl(N(ncclRecv)(AT(r->out + k * ROOM),
							size_of(k, r->rank),
							ncclInt8, (int)k,
							r->comm, r->stream),
					    Success);
			}
		}
		assert_nccl(N(ncclGroupEnd)(), Success);
		await_party(p);
		EACH_RANK(p, r)
		for (unsigned k = 0; k < p->n; k++)
			check(r, r->out + k * ROOM, size_of(k, r->rank), k);
	}
	close_party(p);
}

static void processes_exchange_messages(struct fixture *fx)
{
	in_processes(fx, RANKS, exchange);
}

static void devices_exchange_messages(struct fixture *fx)
{
	in_one_process(fx, RANKS, exchange);
}

static void a_rank_sends_to_itself(struct fixture *fx)
{
	in_one_process(fx, 1, exchange);
}

/* A pipeline: each receives from the previous rank and sends on. */
static void pass_on(struct party *p)
{
	struct rank *r = p->mine;
	size_t n = 300000;

	for (int round = 0; round < 20; round++) {
		if (r->rank == 0) {
			put(r, r->out, n, 99);
		} else {
			assert_nccl(N(ncclRecv)(AT(r->out), n, ncclInt8,
						(int)r->rank - 1, r->comm,
						r->stream),
				    Success);
		}
		if (r->rank + 1 < p->n)
			assert_nccl(N(ncclSend)(AT(r->out), n, ncclInt8,
						(int)r->rank + 1, r->comm,
						r->stream),
				    Success);
		await_party(p);
	}
	if (r->rank) {
		char *got = malloc(n), *expected = malloc(n);

		assert_cuda(CU(cuMemcpyDtoH_v2)(got, r->out, n), SUCCESS);
		fill(expected, n, 0, 99);
		assert_memory_equal(got, expected, n);
		free(got);
		free(expected);
	}
	close_party(p);
}

static void a_pipeline_passes_on_what_it_gets(struct fixture *fx)
{
	in_processes(fx, RANKS, pass_on);
}

/* Several small messages in transit at once arrive in order. */
static void send_many(struct party *p)
{
	struct rank *r = p->mine;
	int values[100], got[100];

	for (int i = 0; i < 100; i++)
		values[i] = i * i + 1;
	use(r);
	assert_cuda(CU(cuMemcpyHtoD_v2)(r->in, values, sizeof values), SUCCESS);
	for (int i = 0; i < 100; i++) {
		if (r->rank == 0)
			assert_nccl(N(ncclSend)(AT(r->in + 4u * (unsigned)i), 1,
						ncclInt32, 1, r->comm,
						r->stream),
				    Success);
		else
			assert_nccl(N(ncclRecv)(AT(r->out + 4u * (unsigned)i),
						1, ncclInt32, 0, r->comm,
						r->stream),
				    Success);
	}
	await_party(p);
	if (r->rank) {
		assert_cuda(CU(cuMemcpyDtoH_v2)(got, r->out, sizeof got),
			    SUCCESS);
		assert_memory_equal(got, values, sizeof got);
	}
	close_party(p);
}

static void messages_keep_their_order(struct fixture *fx)
{
	in_processes(fx, 2, send_many);
}

/* Memory of a pool cannot be opened by others: it goes through the window. */
static void send_of_pool(struct party *p)
{
	struct rank *r = p->mine;
	size_t n = 5 * MIB + 3;
	CUdeviceptr at;

	use(r);
	assert_cuda(CU(cuMemAllocAsync)(&at, n, r->stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(r->stream), SUCCESS);
	put(r, at, n, 1 - r->rank);
	for (int i = 0; i < 3; i++) {
		if (r->rank == 0)
			assert_nccl(N(ncclSend)(AT(at), n, ncclInt8, 1, r->comm,
						r->stream),
				    Success);
		else
			assert_nccl(N(ncclRecv)(AT(r->out), n, ncclInt8, 0,
						r->comm, r->stream),
				    Success);
	}
	await_party(p);
	if (r->rank)
		check(r, r->out, n, 0);
	close_party(p);
}

static void memory_of_a_pool_is_sent_too(struct fixture *fx)
{
	in_processes(fx, 2, send_of_pool);
}

/* Nothing is sent, and nobody waits for it. */
static void send_nothing(struct party *p)
{
	struct rank *r = p->mine;

	if (r->rank == 0)
		assert_nccl(
		    N(ncclSend)(AT(r->in), 0, ncclInt8, 1, r->comm, r->stream),
		    Success);
	assert_nccl(N(ncclAllReduce)(NULL, NULL, 0, ncclInt8, ncclSum, r->comm,
				     r->stream),
		    Success);
	await_party(p);
	close_party(p);
}

static void nothing_is_waited_for_where_nothing_is_sent(struct fixture *fx)
{
	in_processes(fx, 2, send_nothing);
}

/* PyTorch's pipelines send an int64 to a receiver of a float32. */
static void send_a_longer_number(struct party *p)
{
	struct rank *r = p->mine;
	const uint64_t number = 0x1122334455667788, before = UINT64_MAX;
	uint64_t got;

	use(r);
	if (r->rank == 0) {
		assert_cuda(CU(cuMemcpyHtoD_v2)(r->in, &number, sizeof number),
			    SUCCESS);
		assert_nccl(
		    N(ncclSend)(AT(r->in), 1, ncclInt64, 1, r->comm, r->stream),
		    Success);
	} else {
		assert_cuda(CU(cuMemcpyHtoD_v2)(r->out, &before, sizeof before),
			    SUCCESS);
		assert_nccl(N(ncclRecv)(AT(r->out), 1, ncclFloat32, 0, r->comm,
					r->stream),
			    Success);
	}
	await_party(p);
	if (r->rank == 1) {
		assert_cuda(CU(cuMemcpyDtoH_v2)(&got, r->out, sizeof got),
			    SUCCESS);
		assert_int_equal(got, 0xffffffff55667788);
	}
	close_party(p);
}

static void of_a_longer_number_what_is_wanted_arrives(struct fixture *fx)
{
	in_processes(fx, 2, send_a_longer_number);
}

static const struct alone tests[] = {
    ALONE(processes_exchange_messages),
    ALONE(devices_exchange_messages),
    ALONE(a_rank_sends_to_itself),
    ALONE(a_pipeline_passes_on_what_it_gets),
    ALONE(messages_keep_their_order),
    ALONE(memory_of_a_pool_is_sent_too),
    ALONE(nothing_is_waited_for_where_nothing_is_sent),
    ALONE(of_a_longer_number_what_is_wanted_arrives),
};

ALONE_MAIN(tests)
