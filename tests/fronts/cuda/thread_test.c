/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_test.c - checks contexts made, destroyed, pushed and popped by many
 * threads at once: each thread has its own stack.
 */
#include "fronts/cuda/alone.h"
#include "machine/file/numbers.h"
#include "machine/store/process/processes.h"

#include <stdatomic.h>
#include <pthread.h>

#define THREADS 8
#define ROUNDS  300

struct worker {
	pthread_t thread;
	unsigned number;
	unsigned wrong;
	CUcontext mine;
};

static void expect(struct worker *w, CUresult found, CUresult wanted)
{
	w->wrong += found != wanted;
}

/* Its own context below, the primary one above; then both are gone. */
static void one_round(struct worker *w, CUdevice device)
{
	CUcontext own = NULL, primary = NULL, now = NULL;
	CUdevice found = -1;

	expect(w, CU(cuCtxCreate_v2)(&own, 0, device), CUDA_SUCCESS);
	expect(w, CU(cuDevicePrimaryCtxRetain)(&primary, !device),
	       CUDA_SUCCESS);
	expect(w, CU(cuCtxPushCurrent_v2)(primary), CUDA_SUCCESS);
	expect(w, CU(cuCtxGetDevice)(&found), CUDA_SUCCESS);
	w->wrong += found != !device;
	expect(w, CU(cuCtxSynchronize)(), CUDA_SUCCESS);
	expect(w, CU(cuCtxPopCurrent_v2)(&now), CUDA_SUCCESS);
	w->wrong += now != primary;
	expect(w, CU(cuDevicePrimaryCtxRelease_v2)(!device), CUDA_SUCCESS);
	expect(w, CU(cuCtxGetDevice)(&found), CUDA_SUCCESS);
	w->wrong += found != device;
	expect(w, CU(cuCtxDestroy_v2)(own), CUDA_SUCCESS);
	expect(w, CU(cuCtxGetDevice)(&found), CUDA_ERROR_INVALID_CONTEXT);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++)
		one_round(w, (CUdevice)((w->number + (unsigned)i) % 2));
	return NULL;
}

static void start(struct worker *w, void *(*body)(void *))
{
	for (unsigned i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.number = i};
		pthread_create(&w[i].thread, NULL, body, &w[i]);
	}
}

static unsigned join(struct worker *w)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		wrong += w[i].wrong;
	}
	return wrong;
}

static void each_has_a_stack_of_its_own(struct fixture *fx)
{
	struct gkf_process row;
	struct worker w[THREADS];
	unsigned count, flags;
	int active;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	start(w, work);
	assert_int_equal(join(w), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_cuda(CU(cuDevicePrimaryCtxGetState)((CUdevice)i, &flags,
							   &active),
			    SUCCESS);
		assert_int_equal(active, 0);
		assert_int_equal(
		    gkf_processes(fx->m, i, GKF_COMPUTE, &row, 1, &count), 0);
		assert_int_equal(count, 0);
	}
}

static CUcontext victims[THREADS];
static _Atomic unsigned users;

/* Works on a context that another thread removes: two results are correct. */
static void *use_anyway(void *arg)
{
	struct worker *w = arg;
	CUdevice device;
	CUresult r;

	expect(w, CU(cuCtxPushCurrent_v2)(victims[w->number]), CUDA_SUCCESS);
	users++;
	do {
		r = CU(cuCtxGetDevice)(&device);
	} while (!r);
	expect(w, r, CUDA_ERROR_CONTEXT_IS_DESTROYED);
	return NULL;
}

static void one_destroys_what_another_uses(struct fixture *fx)
{
	struct worker w[THREADS];
	CUresult wrong = CUDA_SUCCESS;

	(void)fx;
	assert_cuda(CU(cuInit)(0), SUCCESS);
	for (int i = 0; i < THREADS; i++)
		assert_cuda(CU(cuCtxCreate_v2)(&victims[i], 0, i % 2), SUCCESS);
	start(w, use_anyway);
	while (users < THREADS)
		sched_yield();
	for (int i = 0; i < THREADS; i++)
		wrong |= CU(cuCtxDestroy_v2)(victims[i]);
	assert_int_equal(join(w), 0);
	assert_int_equal(wrong, CUDA_SUCCESS);
}

static _Atomic unsigned winners;

static void *destroy_too(void *arg)
{
	struct worker *w = arg;
	CUresult r = CU(cuCtxDestroy_v2)(victims[0]);

	if (!r)
		winners++;
	else
		expect(w, r, CUDA_ERROR_INVALID_CONTEXT);
	return NULL;
}

static void only_one_of_many_destroys_it(struct fixture *fx)
{
	struct worker w[THREADS];

	(void)fx;
	assert_cuda(CU(cuInit)(0), SUCCESS);
	for (unsigned i = 1; i <= 50; i++) {
		assert_cuda(CU(cuCtxCreate_v2)(&victims[0], 0, 0), SUCCESS);
		start(w, destroy_too);
		assert_int_equal(join(w), 0);
		assert_int_equal(winners, i);
	}
}

static void *end_with_a_stack(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < 100; i++)
		expect(w, CU(cuCtxPushCurrent_v2)(victims[0]), CUDA_SUCCESS);
	return NULL;
}

/* A context that was current in it lives on. */
static void a_thread_may_end_with_contexts_on_its_stack(struct fixture *fx)
{
	struct worker w[THREADS];

	(void)fx;
	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&victims[0], 0, 0), SUCCESS);
	start(w, end_with_a_stack);
	assert_int_equal(join(w), 0);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(victims[0]), SUCCESS);
}

static const struct alone tests[] = {
    ALONE(each_has_a_stack_of_its_own),
    ALONE(one_destroys_what_another_uses),
    ALONE(only_one_of_many_destroys_it),
    ALONE(a_thread_may_end_with_contexts_on_its_stack),
};

ALONE_MAIN(tests)
