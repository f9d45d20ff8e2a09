/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_test.c - checks communicators: how they are made, queried, split and
 * destroyed.
 */
#include "fronts/nccl/nccl_test.h"

#include <pthread.h>

#define AT(address) ((void *)(uintptr_t)(address))

/* The sum of one number from each rank of a communicator. */
static float sum_over(struct rank *r, ncclComm_t comm, float mine)
{
	float sum = -1;

	use(r);
	assert_cuda(CU(cuMemcpyHtoD_v2)(r->in, &mine, sizeof mine), SUCCESS);
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 1, ncclFloat32,
				     ncclSum, comm, r->stream),
		    Success);
	assert_cuda(CU(cuStreamSynchronize)(r->stream), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&sum, r->out, sizeof sum), SUCCESS);
	return sum;
}

static void ask(struct party *p)
{
	EACH_RANK(p, r)
	{
		int count = -1, device = -1, rank = -1;

		assert_nccl(N(ncclCommCount)(r->comm, &count), Success);
		assert_nccl(N(ncclCommCuDevice)(r->comm, &device), Success);
		assert_nccl(N(ncclCommUserRank)(r->comm, &rank), Success);
		assert_int_equal(count, p->n);
		assert_int_equal(device, r->rank);
		assert_int_equal(rank, r->rank);
	}
	close_party(p);
}

static void processes_know_their_ranks_and_devices(struct fixture *fx)
{
	in_processes(fx, 3, ask);
}

static void devices_of_a_process_are_known(struct fixture *fx)
{
	in_one_process(fx, 3, ask);
}

/* ---- splitting ---- */

/* Odd and even ranks, the last first; rank 4 is in none. */
static void split(struct party *p)
{
	struct rank *r = p->mine;
	ncclComm_t part = (ncclComm_t)(uintptr_t)1;
	int color = r->rank == 4 ? -1 : (int)r->rank % 2, count, rank;

	for (int round = 0; round < 3; round++) {
		assert_nccl(N(ncclCommSplit)(r->comm, color, -(int)r->rank,
					     &part, NULL),
			    Success);
		if (color < 0) {
			assert_null(part);
			continue;
		}
		assert_nccl(N(ncclCommCount)(part, &count), Success);
		assert_nccl(N(ncclCommUserRank)(part, &rank), Success);
		assert_int_equal(count, 2);
		assert_int_equal(rank, r->rank < 2);
		assert_true(sum_over(r, part, (float)(1 << r->rank)) ==
			    (color ? 10 : 5));
		assert_nccl(N(ncclCommDestroy)(part), Success);
	}
	assert_true(sum_over(r, r->comm, 1) == 5);
	close_party(p);
}

static void colors_and_keys_split_a_communicator(struct fixture *fx)
{
	in_processes(fx, 5, split);
}

/* In a group one thread splits all of its communicators. */
static void split_in_group(struct party *p)
{
	ncclComm_t parts[4];

	assert_nccl(N(ncclGroupStart)(), Success);
	EACH_RANK(p, r)
	assert_nccl(N(ncclCommSplit)(r->comm, (int)r->rank / 2, 0,
				     &parts[r->rank], NULL),
		    Success);
	assert_nccl(N(ncclGroupEnd)(), Success);
	for (int i = 0; i < 4; i++) {
		int count, rank;

		assert_nccl(N(ncclCommCount)(parts[i], &count), Success);
		assert_nccl(N(ncclCommUserRank)(parts[i], &rank), Success);
		assert_int_equal(count, 2);
		assert_int_equal(rank, i % 2);
		assert_nccl(N(ncclCommDestroy)(parts[i]), Success);
	}
	close_party(p);
}

static void a_thread_splits_all_it_has_in_a_group(struct fixture *fx)
{
	in_one_process(fx, 4, split_in_group);
}

/* Rank 1 is gone; the others continue without it. */
static void shrink(struct party *p)
{
	struct rank *r = p->mine;
	ncclComm_t rest;
	int without[] = {1}, rank;

	assert_true(sum_over(r, r->comm, 1) == 4);
	if (r->rank == 1)
		_exit(0);
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 5, ncclFloat32,
				     ncclSum, r->comm, r->stream),
		    Success);
	assert_nccl(N(ncclCommShrink)(r->comm, without, 1, &rest, NULL,
				      NCCL_SHRINK_ABORT),
		    Success);
	await_party(p);
	assert_nccl(N(ncclCommUserRank)(rest, &rank), Success);
	assert_int_equal(rank, r->rank ? r->rank - 1 : 0);
	assert_true(sum_over(r, rest, (float)(1 << r->rank)) == 1 + 4 + 8);
	assert_nccl(N(ncclCommDestroy)(rest), Success);
	assert_nccl(N(ncclCommAbort)(r->comm), Success);
}

static void those_who_are_left_shrink_the_communicator(struct fixture *fx)
{
	in_processes(fx, 4, shrink);
}

/* ---- how they meet ---- */

static void an_id_makes_one_communicator(struct fixture *fx)
{
	struct rank ranks[2] = {0};
	struct party p = {ranks, 2, 2, 4096};
	ncclUniqueId ids[2];

	open_machine(fx, 2);
	assert_nccl(N(ncclGetUniqueId)(&ids[0]), Success);
	assert_nccl(N(ncclGetUniqueId)(&ids[1]), Success);
	assert_memory_not_equal(&ids[0], &ids[1], sizeof ids[0]);
	for (unsigned i = 0; i < 2; i++)
		open_rank(&p, &ranks[i], i);
	assert_nccl(N(ncclGroupStart)(), Success);
	EACH_RANK(&p, r)
	{
		use(r);
		assert_nccl(N(ncclCommInitRankScalable)(
				&r->comm, 2, (int)r->rank, 2, ids, NULL),
			    Success);
	}
	assert_nccl(N(ncclGroupEnd)(), Success);
	ask(&p);
}

static void come_twice_to_a_device(struct party *p)
{
	struct rank *r = p->mine;
	ncclComm_t comm = (ncclComm_t)(uintptr_t)1;
	ncclUniqueId id;

	memset(&id, 0, sizeof id);
	if (r->rank == 0)
		assert_nccl(N(ncclGetUniqueId)(&id), Success);
	use(r);
	assert_cuda(CU(cuMemcpyHtoD_v2)(r->in, &id, sizeof id), SUCCESS);
	assert_nccl(
	    N(ncclBcast)(AT(r->in), sizeof id, ncclInt8, 0, r->comm, r->stream),
	    Success);
	await_party(p);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&id, r->in, sizeof id), SUCCESS);
	begin_cuda(0);
	assert_nccl(N(ncclCommInitRank)(&comm, (int)p->n, id, (int)r->rank),
		    InvalidUsage);
	assert_null(comm);
	if (!strstr(N(ncclGetLastError)(NULL),
		    "duplicate GPU: ranks 0 and 1 are both on device"))
		fail_msg("%s", N(ncclGetLastError)(NULL));
	close_party(p);
}

static void two_ranks_on_a_device_are_refused(struct fixture *fx)
{
	in_processes(fx, 2, come_twice_to_a_device);
}

/* ---- a non-blocking one ---- */

static ncclResult_t await_ready(ncclComm_t comm)
{
	ncclResult_t now = ncclInProgress;

	for (int i = 0; i < 20000 && now == ncclInProgress; i++) {
		assert_nccl(N(ncclCommGetAsyncError)(comm, &now), Success);
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS / 2);
	}
	return now;
}

static void do_not_block(struct party *p)
{
	struct rank *r = p->mine;
	ncclConfig_t config = {.size = sizeof config,
			       .magic = NCCL_CONFIG_MAGIC,
			       .version = 22809,
			       .blocking = 0};
	ncclComm_t part;
	ncclResult_t made;

	made = N(ncclCommSplit)(r->comm, 0, (int)r->rank, &part, &config);
	assert_int_equal(made, ncclInProgress);
	assert_int_equal(await_ready(part), ncclSuccess);
	assert_true(sum_over(r, part, 2) == 6);
	assert_nccl(N(ncclCommFinalize)(part), InProgress);
	assert_int_equal(await_ready(part), ncclSuccess);
	assert_nccl(N(ncclCommDestroy)(part), Success);
	close_party(p);
}

static void one_that_does_not_block_tells_when_it_is_ready(struct fixture *fx)
{
	in_processes(fx, 3, do_not_block);
}

/* The other rank never comes; another thread ends the wait. */
static void *abort_it(void *comm)
{
	_Atomic(ncclComm_t) *at = comm;

	while (!*at)
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
	assert_nccl(N(ncclCommAbort)(*at), Success);
	return NULL;
}

static void waiting_for_ranks_is_aborted(struct fixture *fx)
{
	static _Atomic(ncclComm_t) comm;
	ncclUniqueId id;
	pthread_t thread;

	open_machine(fx, 2);
	begin_cuda(0);
	assert_nccl(N(ncclGetUniqueId)(&id), Success);
	assert_int_equal(pthread_create(&thread, NULL, abort_it, &comm), 0);
	assert_nccl(
	    N(ncclCommInitRank)((ncclComm_t *)(uintptr_t)&comm, 2, id, 0),
	    InternalError);
	pthread_join(thread, NULL);
}

/* An id left over from a process that was killed, as after a restart. */
static void an_id_of_the_dead_is_told(struct fixture *fx)
{
	ncclUniqueId id;
	ncclComm_t comm;
	int pipes[2];
	pid_t child;

	open_machine(fx, 2);
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		assert_nccl(N(ncclGetUniqueId)(&id), Success);
		peer_write(pipes[1], &id, sizeof id);
		_exit(0);
	}
	peer_read(pipes[0], &id, sizeof id);
	fixture_await(child, 0);
	begin_cuda(0);
	assert_nccl(N(ncclCommInitRank)(&comm, 2, id, 0), RemoteError);
	assert_non_null(strstr(N(ncclGetLastError)(NULL), "made the id"));
}

/* ---- wrong arguments ---- */

static void wrong_arguments_are_told(struct fixture *fx)
{
	ncclComm_t comm, old;
	ncclUniqueId id, none = {{0}};
	ncclConfig_t config = {.size = sizeof config};
	int value;

	open_machine(fx, 1);
	begin_cuda(0);
	assert_nccl(N(ncclGetUniqueId)(&id), Success);
	assert_nccl(N(ncclGetUniqueId)(NULL), InvalidArgument);
	assert_nccl(N(ncclCommInitRank)(NULL, 1, id, 0), InvalidArgument);
	assert_nccl(N(ncclCommInitRank)(&comm, 0, id, 0), InvalidArgument);
	assert_nccl(N(ncclCommInitRank)(&comm, 1, id, 1), InvalidArgument);
	assert_nccl(N(ncclCommInitRank)(&comm, 1, none, 0), InvalidArgument);
	assert_nccl(N(ncclCommInitRankConfig)(&comm, 1, id, 0, &config),
		    InvalidArgument);
	assert_nccl(N(ncclCommInitRank)(&comm, 1, id, 0), Success);
	assert_nccl(N(ncclCommCount)(comm, NULL), InvalidArgument);
	assert_nccl(N(ncclCommCount)(NULL, &value), InvalidArgument);
	assert_nccl(
	    N(ncclAllReduce)(AT(64), AT(64), 4, 12, ncclSum, comm, NULL),
	    InvalidArgument);
	assert_nccl(
	    N(ncclAllReduce)(AT(64), AT(64), 4, ncclInt8, 5, comm, NULL),
	    InvalidArgument);
	assert_nccl(N(ncclAllReduce)(NULL, AT(64), 4, ncclInt8, 0, comm, NULL),
		    InvalidArgument);
	assert_nccl(
	    N(ncclBroadcast)(AT(64), AT(64), 4, ncclInt8, 1, comm, NULL),
	    InvalidArgument);
	assert_nccl(N(ncclSend)(AT(64), 4, ncclInt8, 1, comm, NULL),
		    InvalidArgument);
	assert_nccl(N(ncclGroupEnd)(), InvalidUsage);
	old = comm;
	assert_nccl(N(ncclCommDestroy)(comm), Success);
	assert_nccl(N(ncclCommDestroy)(old), InvalidArgument);
	assert_nccl(N(ncclCommAbort)(old), InvalidArgument);
	assert_nccl(N(ncclCommDestroy)(NULL), Success);
	assert_nccl(N(ncclAllReduce)(AT(64), AT(64), 4, ncclInt8, 0, old, NULL),
		    InvalidArgument);
}

/* An error in a group is returned for the group, and none of it is launched. */
static void spoil_a_group(struct party *p)
{
	float out[2] = {7, 7};

	EACH_RANK(p, r)
	{
		use(r);
		assert_cuda(CU(cuMemcpyHtoD_v2)(r->out, out, sizeof out),
			    SUCCESS);
	}
	assert_nccl(N(ncclGroupStart)(), Success);
	EACH_RANK(p, r)
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 1, ncclFloat32,
				     ncclSum, r->comm, r->stream),
		    Success);
	assert_nccl(N(ncclSend)(AT(64), 4, ncclInt8, 77, p->mine->comm, NULL),
		    InvalidArgument);
	assert_nccl(N(ncclGroupEnd)(), InvalidArgument);
	await_party(p);
	use(p->mine);
	assert_cuda(CU(cuMemcpyDtoH_v2)(out, p->mine->out, sizeof out),
		    SUCCESS);
	assert_true(out[0] == 7);
	close_party(p);
}

static void a_wrong_call_spoils_its_group(struct fixture *fx)
{
	in_one_process(fx, 2, spoil_a_group);
}

/* ---- scaled sums, registered memory ---- */

static void scale(struct party *p)
{
	struct rank *r = p->mine;
	float factor = (float)(r->rank + 1), value = 10, sum;
	ncclRedOp_t given, read;

	use(r);
	assert_cuda(CU(cuMemcpyHtoD_v2)(r->in + 64, &factor, sizeof factor),
		    SUCCESS);
	assert_nccl(N(ncclRedOpCreatePreMulSum)(&given, &factor, ncclFloat32,
						ncclScalarHostImmediate,
						r->comm),
		    Success);
	assert_nccl(N(ncclRedOpCreatePreMulSum)(&read, AT(r->in + 64),
						ncclFloat32, ncclScalarDevice,
						r->comm),
		    Success);
	factor = 99;
	for (int i = 0; i < 2; i++) {
		assert_cuda(CU(cuMemcpyHtoD_v2)(r->in, &value, sizeof value),
			    SUCCESS);
		assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 1,
					     ncclFloat32, i ? given : read,
					     r->comm, r->stream),
			    Success);
		await_party(p);
		assert_cuda(CU(cuMemcpyDtoH_v2)(&sum, r->out, sizeof sum),
			    SUCCESS);
		assert_true(sum == 10 + 20 + 30);
	}
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 1, ncclFloat64,
				     given, r->comm, r->stream),
		    InvalidArgument);
	assert_nccl(N(ncclRedOpDestroy)(given, r->comm), Success);
	assert_nccl(N(ncclRedOpDestroy)(given, r->comm), InvalidArgument);
	close_party(p);
}

static void each_rank_scales_its_own_part_of_a_sum(struct fixture *fx)
{
	in_processes(fx, 3, scale);
}

enum { OPERATORS = 64 };

/* Where there is no room for another, the existing ones keep working. */
static void make_too_many_operators(struct party *p)
{
	struct rank *r = p->mine;
	ncclRedOp_t made[OPERATORS + 1];
	float value = 10, sum;

	alarm(60); /* a kernel that waits for ever is a failure */
	use(r);
	for (int i = 0; i <= OPERATORS; i++) {
		float factor = (float)i;
		ncclResult_t got = N(ncclRedOpCreatePreMulSum)(
		    &made[i], &factor, ncclFloat32, ncclScalarHostImmediate,
		    r->comm);

		assert_int_equal(got, i < OPERATORS ? ncclSuccess
						    : ncclInternalError);
		assert_true(i == OPERATORS || !i || made[i] != made[i - 1]);
	}
	assert_cuda(CU(cuMemcpyHtoD_v2)(r->in, &value, sizeof value), SUCCESS);
	assert_nccl(N(ncclAllReduce)(AT(r->in), AT(r->out), 1, ncclFloat32,
				     made[OPERATORS - 1], r->comm, r->stream),
		    Success);
	await_party(p);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&sum, r->out, sizeof sum), SUCCESS);
	assert_true(sum == 630);
	assert_nccl(N(ncclRedOpDestroy)(made[7], r->comm), Success);
	assert_nccl(N(ncclRedOpCreatePreMulSum)(&made[7], &value, ncclFloat32,
						ncclScalarHostImmediate,
						r->comm),
		    Success);
	close_party(p);
}

static void a_communicator_has_64_operators(struct fixture *fx)
{
	in_processes(fx, 1, make_too_many_operators);
}

static void register_memory(struct party *p)
{
	struct rank *r = p->mine;
	void *buffer = NULL, *handle = NULL;
	ncclWindow_t window = NULL;

	use(r);
	assert_nccl(N(ncclMemAlloc)(&buffer, MIB), Success);
	assert_nccl(N(ncclCommRegister)(r->comm, buffer, MIB, &handle),
		    Success);
	assert_nccl(N(ncclCommWindowRegister)(r->comm, buffer, MIB, &window, 1),
		    Success);
	assert_non_null(handle);
	assert_non_null(window);
	assert_nccl(N(ncclBcast)(buffer, MIB, ncclInt8, 0, r->comm, r->stream),
		    Success);
	await_party(p);
	assert_nccl(N(ncclCommWindowDeregister)(r->comm, window), Success);
	assert_nccl(N(ncclCommDeregister)(r->comm, handle), Success);
	assert_nccl(N(ncclMemFree)(buffer), Success);
	close_party(p);
}

static void buffers_are_registered(struct fixture *fx)
{
	in_processes(fx, 2, register_memory);
}

static void a_simulated_group_does_nothing(struct fixture *fx)
{
	ncclSimInfo_t info = {sizeof info, NCCL_SIM_INFO_MAGIC, 22809, -1};
	struct rank r = {0};
	struct party p = {&r, 1, 1, 4096};
	float out = 7;

	open_machine(fx, 1);
	open_rank(&p, &r, 0);
	assert_nccl(N(ncclCommInitAll)(&r.comm, 1, NULL), Success);
	assert_cuda(CU(cuMemcpyHtoD_v2)(r.out, &out, sizeof out), SUCCESS);
	assert_nccl(N(ncclGroupStart)(), Success);
	assert_nccl(N(ncclAllReduce)(AT(r.in), AT(r.out), 1, ncclFloat32,
				     ncclSum, r.comm, r.stream),
		    Success);
	assert_nccl(N(ncclGroupSimulateEnd)(&info), Success);
	assert_true(info.estimatedTime > 0);
	await_party(&p);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&out, r.out, sizeof out), SUCCESS);
	assert_true(out == 7);
	close_party(&p);
}

static void the_version_and_the_words_of_errors(struct fixture *fx)
{
	int version = 0;

	(void)fx;
	assert_nccl(N(ncclGetVersion)(&version), Success);
	assert_int_equal(version, 22809);
	for (int i = 0; i < 9; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(
			    N(ncclGetErrorString)((ncclResult_t)i),
			    N(ncclGetErrorString)((ncclResult_t)k));
	assert_non_null(N(ncclGetErrorString)((ncclResult_t)99));
	N(ncclResetDebugInit)();
}

static const struct alone tests[] = {
    ALONE(processes_know_their_ranks_and_devices),
    ALONE(devices_of_a_process_are_known),
    ALONE(colors_and_keys_split_a_communicator),
    ALONE(a_thread_splits_all_it_has_in_a_group),
    ALONE(those_who_are_left_shrink_the_communicator),
    ALONE(an_id_makes_one_communicator),
    ALONE(two_ranks_on_a_device_are_refused),
    ALONE(one_that_does_not_block_tells_when_it_is_ready),
    ALONE(waiting_for_ranks_is_aborted),
    ALONE(an_id_of_the_dead_is_told),
    ALONE(wrong_arguments_are_told),
    ALONE(a_wrong_call_spoils_its_group),
    ALONE(each_rank_scales_its_own_part_of_a_sum),
    ALONE(a_communicator_has_64_operators),
    ALONE(buffers_are_registered),
    ALONE(a_simulated_group_does_nothing),
    ALONE(the_version_and_the_words_of_errors),
};

ALONE_MAIN(tests)
