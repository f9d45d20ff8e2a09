/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_test.c - compares every collective, with every type and operator,
 * with plain loops over the ranks' inputs.
 */
#include "fronts/nccl/nccl_test.h"

static const struct {
	ncclDataType_t type;
	size_t size;
	int exponent, mantissa; /* bits of a float; 0: an integer */
} types[] = {
    {ncclInt8, 1, 0, 0},       {ncclUint8, 1, 0, 0},
    {ncclInt32, 4, 0, 0},      {ncclUint32, 4, 0, 0},
    {ncclInt64, 8, 0, 0},      {ncclUint64, 8, 0, 0},
    {ncclFloat16, 2, 5, 10},   {ncclFloat32, 4, 8, 23},
    {ncclFloat64, 8, 11, 52},  {ncclBfloat16, 2, 8, 7},
    {ncclFloat8e4m3, 1, 4, 3}, {ncclFloat8e5m2, 1, 5, 2},
};

#define TYPES (sizeof types / sizeof *types)

/* The bits of a number that the type holds exactly. */
static uint64_t bits_of(unsigned t, double value)
{
	int exponent = 0;

	if (!types[t].exponent)
		return (uint64_t)value;
	while (value >= 2) {
		value /= 2;
		exponent++;
	}
	while (value < 1) {
		value *= 2;
		exponent--;
	}
	return (uint64_t)(exponent + (1 << (types[t].exponent - 1)) - 1)
		   << types[t].mantissa |
	       (uint64_t)((value - 1) * (double)(1ULL << types[t].mantissa));
}

/* 1 or 2; sums, products and means of four of them are exact in all types. */
static double value_of(unsigned rank, size_t i)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15 + rank * 0xbf58476d1ce4e5b9;

	x ^= x >> 29;
	x *= 0x94d049bb133111eb;
	return 1 + (double)(x >> 40 & 1);
}

static double reduced(ncclRedOp_t op, unsigned n, size_t i)
{
	double result = value_of(0, i);

	for (unsigned k = 1; k < n; k++) {
		double v = value_of(k, i);

		if (op == ncclProd)
			result *= v;
		else if (op == ncclMax)
			result = v > result ? v : result;
		else if (op == ncclMin)
			result = v < result ? v : result;
		else
			result += v;
	}
	return op == ncclAvg ? result / n : result;
}

/* ---- inputs and outputs of ranks ---- */

static void upload(const struct party *p, unsigned t, size_t elements,
		   CUdeviceptr (*where)(const struct rank *r))
{
	char *bytes = malloc(p->room);

	EACH_RANK(p, r)
	{
		for (size_t i = 0; i < elements; i++) {
			uint64_t bits = bits_of(t, value_of(r->rank, i));

			memcpy(bytes + i * types[t].size, &bits, types[t].size);
		}
		use(r);
		assert_cuda(CU(cuMemcpyHtoD_v2)(where(r), bytes,
						elements * types[t].size),
			    SUCCESS);
	}
	free(bytes);
}

static CUdeviceptr input_of(const struct rank *r)
{
	return r->in;
}

struct expected {
	const struct party *p;
	size_t count;
	ncclRedOp_t op;
	unsigned root;
};

/* Element i of a rank's output; -1: nothing is written there. */
typedef double (*expectation)(const struct expected *e, unsigned rank,
			      size_t i);

static void check(const struct expected *e, unsigned t, size_t elements,
		  expectation expect,
		  CUdeviceptr (*where)(const struct rank *r))
{
	char *bytes = malloc(e->p->room);

	await_party(e->p);
	EACH_RANK(e->p, r)
	{
		use(r);
		assert_cuda(CU(cuMemcpyDtoH_v2)(bytes, where(r),
						elements * types[t].size),
			    SUCCESS);
		for (size_t i = 0; i < elements; i++) {
			uint64_t got = 0, bits;
			double value = expect(e, r->rank, i);

			if (value < 0)
				continue;
			memcpy(&got, bytes + i * types[t].size, types[t].size);
			bits = bits_of(t, types[t].exponent
					      ? value
					      : (double)(int64_t)value);
			if (got != bits)
				fail_msg("type %d, op %d, count %zu, rank %u, "
					 "element %zu: %#llx, not %#llx",
					 types[t].type, e->op, e->count,
					 r->rank, i, (unsigned long long)got,
					 (unsigned long long)bits);
		}
	}
	free(bytes);
}

static CUdeviceptr output_of(const struct rank *r)
{
	return r->out;
}

static void clear_outputs(const struct party *p, size_t bytes)
{
	EACH_RANK(p, r)
	{
		use(r);
		assert_cuda(CU(cuMemsetD8_v2)(r->out, 0x55, bytes), SUCCESS);
	}
}

/* ---- reductions ---- */

static double sum_of_all(const struct expected *e, unsigned rank, size_t i)
{
	(void)rank;
	return reduced(e->op, e->p->n, i);
}

static double sum_at_root(const struct expected *e, unsigned rank, size_t i)
{
	return rank == e->root ? reduced(e->op, e->p->n, i) : -1;
}

static double part_of_sum(const struct expected *e, unsigned rank, size_t i)
{
	return reduced(e->op, e->p->n, rank * e->count + i);
}

#define CALL_ALL(p, ...)                                                       \
	do {                                                                   \
		assert_nccl(N(ncclGroupStart)(), Success);                     \
		EACH_RANK(p, r)                                                \
		assert_nccl(__VA_ARGS__, Success);                             \
		assert_nccl(N(ncclGroupEnd)(), Success);                       \
	} while (0)
#define AT(address) ((void *)(uintptr_t)(address))

static void reduce_every_way(struct party *p, unsigned t, ncclRedOp_t op,
			     size_t count)
{
	struct expected e = {p, count, op, (unsigned)count % p->n};
	ncclDataType_t type = types[t].type;
	size_t size = types[t].size;

	upload(p, t, count * p->n, input_of);
	clear_outputs(p, count * size);
	CALL_ALL(p, N(ncclAllReduce)(AT(r->in), AT(r->out), count, type, op,
				     r->comm, r->stream));
	check(&e, t, count, sum_of_all, output_of);
	clear_outputs(p, count * size);
	CALL_ALL(p, N(ncclReduceScatter)(AT(r->in), AT(r->out), count, type, op,
					 r->comm, r->stream));
	check(&e, t, count, part_of_sum, output_of);
	clear_outputs(p, count * size);
	CALL_ALL(p, N(ncclReduce)(AT(r->in), AT(r->out), count, type, op,
				  (int)e.root, r->comm, r->stream));
	check(&e, t, count, sum_at_root, output_of);
	/* In place, as the last one, since it overwrites the inputs. */
	CALL_ALL(p, N(ncclAllReduce)(AT(r->in), AT(r->in), count, type, op,
				     r->comm, r->stream));
	check(&e, t, count, sum_of_all, input_of);
}

static void all_reductions(struct party *p)
{
	static const size_t counts[] = {1, 3, 1000, 70000};

	for (unsigned t = 0; t < TYPES; t++)
		for (ncclRedOp_t op = ncclSum; op <= ncclAvg; op++)
			for (unsigned i = 0; i < 4; i++)
				reduce_every_way(p, t, op, counts[i]);
	close_party(p);
}

static void processes_reduce_every_type(struct fixture *fx)
{
	in_processes(fx, RANKS, all_reductions);
}

static void devices_reduce_every_type(struct fixture *fx)
{
	in_one_process(fx, RANKS, all_reductions);
}

/* ---- moves ---- */

static double of_all(const struct expected *e, unsigned rank, size_t i)
{
	(void)rank;
	return value_of((unsigned)(i / e->count), i % e->count);
}

static double of_all_at_root(const struct expected *e, unsigned rank, size_t i)
{
	return rank == e->root ? of_all(e, rank, i) : -1;
}

static double of_root(const struct expected *e, unsigned rank, size_t i)
{
	(void)rank;
	return value_of(e->root, i);
}

static double part_of_root(const struct expected *e, unsigned rank, size_t i)
{
	return value_of(e->root, rank * e->count + i);
}

static double part_of_each(const struct expected *e, unsigned rank, size_t i)
{
	return value_of((unsigned)(i / e->count),
			rank * e->count + i % e->count);
}

static void move_every_way(struct party *p, unsigned t, size_t count)
{
	struct expected e = {p, count, 0, (unsigned)count % p->n};
	ncclDataType_t type = types[t].type;
	size_t bytes = count * types[t].size;

	upload(p, t, count * p->n, input_of);
#define MOVE(elements, expect, ...)                                            \
	clear_outputs(p, bytes * p->n);                                        \
	CALL_ALL(p, __VA_ARGS__);                                              \
	check(&e, t, elements, expect, output_of)
	MOVE(count * p->n, of_all,
	     N(ncclAllGather)(AT(r->in), AT(r->out), count, type, r->comm,
			      r->stream));
	MOVE(count * p->n, part_of_each,
	     N(ncclAlltoAll)(AT(r->in), AT(r->out), count, type, r->comm,
			     r->stream));
	MOVE(count, of_root,
	     N(ncclBroadcast)(AT(r->in), AT(r->out), count, type, (int)e.root,
			      r->comm, r->stream));
	MOVE(count * p->n, of_all_at_root,
	     N(ncclGather)(AT(r->in), r->rank == e.root ? AT(r->out) : NULL,
			   count, type, (int)e.root, r->comm, r->stream));
	MOVE(count, part_of_root,
	     N(ncclScatter)(r->rank == e.root ? AT(r->in) : NULL, AT(r->out),
			    count, type, (int)e.root, r->comm, r->stream));
	CALL_ALL(p, N(ncclAlltoAll)(AT(r->in), AT(r->in), count, type, r->comm,
				    r->stream));
	check(&e, t, count * p->n, part_of_each, input_of);
	upload(p, t, count, input_of);
	CALL_ALL(p, N(ncclBcast)(AT(r->in), count, type, (int)e.root, r->comm,
				 r->stream));
	check(&e, t, count, of_root, input_of);
}

/* Its own part is already in place. */
static void gather_in_place(struct party *p, size_t count)
{
	struct expected e = {p, count, 0, 0};
	unsigned t = 2;
	size_t part = count * types[t].size;

	upload(p, t, count, input_of);
	EACH_RANK(p, r)
	{
		use(r);
		assert_cuda(
		    CU(cuMemcpyDtoD_v2)(r->out + r->rank * part, r->in, part),
		    SUCCESS);
	}
	CALL_ALL(p, N(ncclAllGather)(AT(r->out + r->rank * part), AT(r->out),
				     count, types[t].type, r->comm, r->stream));
	check(&e, t, count * p->n, of_all, output_of);
}

static void all_moves(struct party *p)
{
	static const size_t counts[] = {1, 1000, 20000, 400000};

	for (unsigned i = 0; i < 4; i++) {
		move_every_way(p, 0, counts[i]);
		move_every_way(p, 7, counts[i]);
		move_every_way(p, 8, counts[i]);
		gather_in_place(p, counts[i]);
	}
	close_party(p);
}

static void processes_move_everywhere(struct fixture *fx)
{
	in_processes(fx, RANKS, all_moves);
}

static void devices_move_everywhere(struct fixture *fx)
{
	in_one_process(fx, RANKS, all_moves);
}

static void one_rank_gets_what_it_gives(struct fixture *fx)
{
	in_one_process(fx, 1, all_moves);
}

static const struct alone tests[] = {
    ALONE(processes_reduce_every_type), ALONE(devices_reduce_every_type),
    ALONE(processes_move_everywhere),   ALONE(devices_move_everywhere),
    ALONE(one_rank_gets_what_it_gives),
};

ALONE_MAIN(tests)
