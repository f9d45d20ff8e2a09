/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_fixture.h - work for tests of streams: host functions that stay until
 * they are released, and that tell when they were called.
 */
#ifndef TESTS_CUDA_STREAM_H
#define TESTS_CUDA_STREAM_H

#include "base/clock.h"
#include "fronts/cuda/cuda_test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/*
 * A function in a stream that stays there, and one that only passes. A function
 * that is in a gate must still find it after the test has failed and its
 * variables are gone: gates are here, and the teardown opens them.
 */
enum { GATES = 64 };
static struct gate_room {
	sem_t inside, open;
} gate_rooms[GATES];
static unsigned gates_made;
static _Atomic bool is_test_over;

struct gate {
	struct gate_room *room;
};
struct mark {
	sem_t passed;
};

static inline void await(sem_t *sem)
{
	while (sem_wait(sem))
		assert_int_equal(errno, EINTR);
}

static inline void gate_stay(void *data)
{
	struct gate_room *room = data;

	sem_post(&room->inside);
	await(&room->open);
}

static inline void mark_pass(void *data)
{
	if (!atomic_load(&is_test_over))
		sem_post(&((struct mark *)data)->passed);
}

/* At most GATES of a test are closed at once. */
static inline void gate_init(struct gate *gate)
{
	gate->room = &gate_rooms[gates_made++ % GATES];
	sem_init(&gate->room->inside, 0, 0);
	sem_init(&gate->room->open, 0, 0);
}

/* Puts it into the stream; it runs when the stream reaches it. */
static inline void gate_put(struct gate *gate, CUstream stream)
{
	gate_init(gate);
	assert_cuda(CU(cuLaunchHostFunc)(stream, gate_stay, gate->room),
		    SUCCESS);
}

static inline void gate_await(struct gate *gate)
{
	await(&gate->room->inside);
}

/* The same as gate_put(), and waits until it runs. */
static inline void gate_enter(struct gate *gate, CUstream stream)
{
	gate_put(gate, stream);
	gate_await(gate);
}

static inline void gate_open(struct gate *gate)
{
	sem_post(&gate->room->open);
}

/* Called before the test leaves a gate: a function may still be in it. */
static inline void all_done(void)
{
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static inline void mark_put(struct mark *mark, CUstream stream)
{
	sem_init(&mark->passed, 0, 0);
	assert_cuda(CU(cuLaunchHostFunc)(stream, mark_pass, mark), SUCCESS);
}

static inline bool mark_is_passed(struct mark *mark)
{
	int n;

	sem_getvalue(&mark->passed, &n);
	return n > 0;
}

/* Within 20 s, which is exceeded only by what is stuck. */
static inline void mark_await(struct mark *mark)
{
	struct timespec end = gk_timespec(gk_wall_ns() + 20 * GK_NS_PER_S);

	assert_int_equal(sem_timedwait(&mark->passed, &end), 0);
	sem_post(&mark->passed);
}

static inline CUstream stream_made(unsigned flags)
{
	CUstream stream = NULL;

	assert_cuda(CU(cuStreamCreate)(&stream, flags), SUCCESS);
	return stream;
}

/* Waits until other streams have made progress. */
static inline void let_others_on(void)
{
	CUstream other = stream_made(CU_STREAM_NON_BLOCKING);
	struct mark mark;

	for (int i = 0; i < 20; i++) {
		mark_put(&mark, other);
		mark_await(&mark);
	}
	assert_cuda(CU(cuStreamDestroy_v2)(other), SUCCESS);
}

static inline CUevent event_made(unsigned flags)
{
	CUevent event = NULL;

	assert_cuda(CU(cuEventCreate)(&event, flags), SUCCESS);
	return event;
}

/* A context for each test. */
static CUcontext test_ctx;

static inline int ctx_setup(void **state)
{
	(void)state;
	atomic_store(&is_test_over, false);
	return CU(cuCtxCreate_v2)(&test_ctx, 0, 0);
}

/* A gate that a failed test left closed would hold it up for ever. */
static inline int ctx_teardown(void **state)
{
	(void)state;
	atomic_store(&is_test_over, true);
	for (unsigned i = 0; i < gates_made && i < GATES; i++)
		sem_post(&gate_rooms[i].open);
	return CU(cuCtxDestroy_v2)(test_ctx);
}

#define IN_CTX(test)                                                           \
	cmocka_unit_test_setup_teardown(test, ctx_setup, ctx_teardown)

#endif
