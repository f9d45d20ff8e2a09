/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trouble_test.c - checks ranks that are killed, leave, are aborted or make
 * another call: the others learn what and who, soon, and nobody hangs.
 */
#include "fronts/nccl/nccl_test.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define AT(address) ((void *)(uintptr_t)(address))

#define SOON_NS GK_NS_PER_S

static uint64_t *shared_words;

/* Words that the ranks of a test share, made before they start. */
static void share_words(void)
{
	shared_words = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared_words != MAP_FAILED);
}

static void reduce(struct rank *r, size_t count)
{
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), count, ncclFloat32,
				     ncclSum, r->comm, r->stream),
		    Success);
}

/* Checks that the stream's work has ended, and why. */
static void expect_failure(struct party *p, ncclResult_t expected,
			   const char *text)
{
	struct rank *r = p->mine;
	ncclResult_t error = ncclSuccess;

	await_party(p);
	assert_nccl(N(ncclCommGetAsyncError)(r->comm, &error), Success);
	if (error != expected || !strstr(N(ncclGetLastError)(r->comm), text))
		fail_msg("rank %u: %d, %s", r->rank, error,
			 N(ncclGetLastError)(r->comm));
	/* Later work fails at once. */
	assert_int_equal(N(ncclAllReduce)(AT(r->in), AT(r->out), 4, ncclFloat32,
					  ncclSum, r->comm, r->stream),
			 expected);
	assert_nccl(N(ncclCommAbort)(r->comm), Success);
}

/* ---- a rank is killed ---- */

static void lose_a_rank(struct party *p)
{
	struct rank *r = p->mine;
	uint64_t began;

	reduce(r, 1000);
	await_party(p);
	if (r->rank == 2)
		raise(SIGKILL);
	began = gk_mono_ns();
	reduce(r, 1000000);
	expect_failure(p, ncclRemoteError, "rank 2");
	assert_true(gk_mono_ns() - began < SOON_NS);
}

/* Like in_processes(), but one is killed. */
static void in_processes_but(struct fixture *fx, void (*body)(struct party *p),
			     unsigned killed)
{
	ncclUniqueId id;
	pid_t child[RANKS];

	open_machine(fx, RANKS);
	assert_nccl(N(ncclGetUniqueId)(&id), Success);
	for (unsigned i = 0; i < RANKS; i++) {
		child[i] = fork();
		if (!child[i])
			run_rank(RANKS, i, id, body);
	}
	for (unsigned i = 0; i < RANKS; i++) {
		int status;

		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, i == killed ? SIGKILL : 0);
	}
}

static void a_killed_rank_is_told_within_a_second(struct fixture *fx)
{
	in_processes_but(fx, lose_a_rank, 2);
}

/* Its kernel is running when it dies, at any point. */
static void lose_a_rank_at_work(struct party *p)
{
	struct rank *r = p->mine;
	ncclResult_t error = ncclSuccess;

	atomic_fetch_add((_Atomic uint64_t *)&shared_words[0], 1);
	for (int i = 0; i < 100000 && !error; i++) {
		ncclResult_t called =
		    N(ncclAllReduce)(AT(r->in), AT(r->out), 700000, ncclFloat32,
				     ncclSum, r->comm, r->stream);

		await_party(p);
		if (r->rank == 1)
			shared_words[1]++;
		assert_nccl(N(ncclCommGetAsyncError)(r->comm, &error), Success);
		assert_true(called == ncclSuccess || called == error);
	}
	expect_failure(p, ncclRemoteError, "rank 1");
}

static void a_rank_killed_at_work_is_told(struct fixture *fx)
{
	for (unsigned round = 0; round < 5; round++) {
		ncclUniqueId id;
		pid_t child[RANKS];
		uint64_t began;

		share_words();
		if (!round)
			open_machine(fx, RANKS);
		assert_nccl(N(ncclGetUniqueId)(&id), Success);
		for (unsigned i = 0; i < RANKS; i++) {
			child[i] = fork();
			if (!child[i])
				run_rank(RANKS, i, id, lose_a_rank_at_work);
		}
		while (atomic_load((_Atomic uint64_t *)&shared_words[1]) <
		       3 + round)
			gk_sleep_until(gk_mono_ns() + round * 137000 + 1000);
		kill(child[1], SIGKILL);
		began = gk_mono_ns();
		for (unsigned i = 0; i < RANKS; i++) {
			int status;

			assert_int_equal(waitpid(child[i], &status, 0),
					 child[i]);
			assert_int_equal(status, i == 1 ? SIGKILL : 0);
		}
		assert_true(gk_mono_ns() - began < 2 * SOON_NS);
	}
}

/* ---- a rank leaves ---- */

static void leave_others_alone(struct party *p)
{
	struct rank *r = p->mine;

	reduce(r, 1000);
	await_party(p);
	if (r->rank == 3) {
		assert_nccl(N(ncclCommDestroy)(r->comm), Success);
		return;
	}
	reduce(r, 1000);
	expect_failure(p, ncclRemoteError, "rank 3");
}

static void a_rank_that_left_is_told(struct fixture *fx)
{
	in_processes(fx, RANKS, leave_others_alone);
}

/*
 * The reduction is large: the first step of a small one publishes all data, and
 * an aborted rank may have taken it.
 */
static void abort_alone(struct party *p)
{
	struct rank *r = p->mine;
	uint64_t began = gk_mono_ns();

	if (r->rank == 0) {
		reduce(r, 1000000);
		assert_cuda(CU(cuStreamQuery)(r->stream), ERROR_NOT_READY);
		assert_nccl(N(ncclCommAbort)(r->comm), Success);
		await_party(p);
	} else {
		while (!shared_words[0] && gk_mono_ns() - began < SOON_NS)
			gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
		reduce(r, 1000000);
		expect_failure(p, ncclRemoteError, "rank 0");
	}
	shared_words[0] = 1;
	assert_true(gk_mono_ns() - began < 3 * SOON_NS);
}

static void an_aborted_rank_does_not_wait_and_is_told(struct fixture *fx)
{
	share_words();
	in_processes(fx, RANKS, abort_alone);
}

/* ---- calls that do not match ---- */

static const struct {
	size_t count;
	ncclDataType_t type;
	ncclRedOp_t op;
	const char *text;
} wrong[] = {
    {999, ncclFloat32, ncclSum, "rank 2 calls AllReduce(999 x float32, sum)"},
    {1000, ncclInt32, ncclSum, "rank 2 calls AllReduce(1000 x int32, sum)"},
    {1000, ncclFloat32, ncclMax, "rank 2 calls AllReduce(1000 x float32, max)"},
};
static unsigned wrong_row;

static void reduce_otherwise(struct party *p)
{
	struct rank *r = p->mine;

	if (r->rank == 2)
		assert_nccl(N(ncclAllReduce)(
				AT(r->in), AT(r->out), wrong[wrong_row].count,
				wrong[wrong_row].type, wrong[wrong_row].op,
				r->comm, r->stream),
			    Success);
	else
		reduce(r, 1000);
	expect_failure(p, ncclInvalidUsage, wrong[wrong_row].text);
}

static void another_count_type_or_operator_is_named(struct fixture *fx)
{
	for (wrong_row = 0; wrong_row < 3; wrong_row++)
		in_processes(fx, RANKS, reduce_otherwise);
}

static void call_another(struct party *p)
{
	struct rank *r = p->mine;

	if (r->rank == 1)
		assert_nccl(N(ncclBroadcast)(AT(r->in), AT(r->out), 1000,
					     ncclFloat32, 1, r->comm,
					     r->stream),
			    Success);
	else
		reduce(r, 1000);
	expect_failure(p, ncclInvalidUsage,
		       "rank 0 calls AllReduce(1000 x float32, sum), rank 1 "
		       "calls Broadcast(1000 x float32, root 1)");
}

static void another_collective_is_named(struct fixture *fx)
{
	in_processes(fx, RANKS, call_another);
}

static void name_another_root(struct party *p)
{
	struct rank *r = p->mine;

	assert_nccl(N(ncclBroadcast)(AT(r->in), AT(r->out), 10, ncclInt8,
				     r->rank == 3 ? 1 : 0, r->comm, r->stream),
		    Success);
	expect_failure(
	    p, ncclInvalidUsage,
	    "rank 0 calls Broadcast(10 x int8, root 0), rank 3 calls "
	    "Broadcast(10 x int8, root 1)");
}

static void another_root_is_named(struct fixture *fx)
{
	in_processes(fx, RANKS, name_another_root);
}

static void send_too_much(struct party *p)
{
	struct rank *r = p->mine;

	if (r->rank == 0)
		assert_nccl(N(ncclSend)(AT(r->in), 2000, ncclFloat32, 1,
					r->comm, r->stream),
			    Success);
	else
		assert_nccl(N(ncclRecv)(AT(r->out), 1000, ncclFloat32, 0,
					r->comm, r->stream),
			    Success);
	if (r->rank == 0) {
		/* A small one has left when it is sent. */
		await_party(p);
		reduce(r, 10);
	}
	expect_failure(p, ncclInvalidUsage,
		       "rank 0 sends 8000 bytes, rank 1 receives 4000");
}

static void another_size_of_a_message_is_named(struct fixture *fx)
{
	in_processes(fx, 2, send_too_much);
}

static void cross(struct party *p)
{
	struct rank *r = p->mine;

	if (r->rank == 0)
		reduce(r, 10);
	else
		assert_nccl(N(ncclRecv)(AT(r->out), 1000, ncclFloat32, 0,
					r->comm, r->stream),
			    Success);
	expect_failure(p, ncclInvalidUsage,
		       "rank 1 waits in a Recv from rank 0");
}

static void a_receive_against_a_collective_is_named(struct fixture *fx)
{
	in_processes(fx, 2, cross);
}

static const struct alone tests[] = {
    ALONE(a_killed_rank_is_told_within_a_second),
    ALONE(a_rank_killed_at_work_is_told),
    ALONE(a_rank_that_left_is_told),
    ALONE(an_aborted_rank_does_not_wait_and_is_told),
    ALONE(another_count_type_or_operator_is_named),
    ALONE(another_collective_is_named),
    ALONE(another_root_is_named),
    ALONE(another_size_of_a_message_is_named),
    ALONE(a_receive_against_a_collective_is_named),
};

ALONE_MAIN(tests)
