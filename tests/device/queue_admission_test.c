/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_admission_test.c - checks how many tasks of a kind a device admits, and
 * who is next.
 */
#include "device/queue_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static struct gkf_executors executors;
static struct gkf_queue queue[4];

static int empty(void **state)
{
	(void)state;
	memset(&executors, 0, sizeof executors);
	memset(queue, 0, sizeof queue);
	for (unsigned i = 0; i < 4; i++)
		queue[i].executors = &executors;
	return 0;
}

static bool take(unsigned i, unsigned work)
{
	const struct gkf_task task = {.work = work};
	bool admitted;

	pthread_mutex_lock(&executors.lock);
	admitted = gkf_admission_take(&queue[i], &task);
	pthread_mutex_unlock(&executors.lock);
	return admitted;
}

static struct gkf_queue *leave(unsigned work)
{
	const struct gkf_task task = {.work = work};
	struct gkf_queue *next;

	pthread_mutex_lock(&executors.lock);
	next = gkf_admission_leave(&executors, &task);
	pthread_mutex_unlock(&executors.lock);
	return next;
}

static void admits_so_many(unsigned work, unsigned most,
			   const struct gkf_admission *admission)
{
	for (unsigned i = 0; i < most; i++)
		assert_true(take(0, work));
	assert_int_equal(admission->taken, most);
	assert_null(admission->waiting.first);
	assert_false(take(1, work));
	assert_false(take(2, work));
	assert_int_equal(admission->taken, most);
	/* The first that came continues first, and takes admission again. */
	assert_ptr_equal(leave(work), &queue[1]);
	assert_int_equal(admission->taken, most - 1);
	assert_true(take(1, work));
	assert_false(take(3, work));
	assert_ptr_equal(leave(work), &queue[2]);
	assert_ptr_equal(leave(work), &queue[3]);
	assert_null(leave(work));
	assert_int_equal(admission->taken, most - 3);
}

static void kernels_are_128_at_once(void **state)
{
	(void)state;
	admits_so_many(GKF_WORK_KERNEL, 128, &executors.kernel_admission);
	assert_int_equal(executors.host_admission.taken, 0);
}

static void functions_of_the_host_are_48_at_once(void **state)
{
	(void)state;
	admits_so_many(GKF_WORK_HOST, 48, &executors.host_admission);
	assert_int_equal(executors.kernel_admission.taken, 0);
}

static void what_ends_by_itself_needs_no_admission(void **state)
{
	static const unsigned works[] = {GKF_WORK_NONE, GKF_WORK_COPY_IN,
					 GKF_WORK_COPY_OUT,
					 GKF_WORK_COPY_DEVICE};

	(void)state;
	take(0, GKF_WORK_KERNEL);
	take(0, GKF_WORK_HOST);
	executors.kernel_admission.waiting.first = &queue[1];
	executors.host_admission.waiting.first = &queue[1];
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned n = 0; n < 1000; n++)
			assert_true(take(0, works[i]));
		assert_null(leave(works[i]));
	}
	assert_int_equal(executors.kernel_admission.taken, 1);
	assert_int_equal(executors.host_admission.taken, 1);
}

/*
 * It is admitted only to be dropped, and nobody takes its place when it leaves.
 */
static void one_that_was_stopped_is_always_admitted(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 48; i++)
		take(0, GKF_WORK_HOST);
	assert_false(take(1, GKF_WORK_HOST));
	queue[2].result = 719;
	assert_true(take(2, GKF_WORK_HOST));
	assert_int_equal(executors.host_admission.taken, 49);
	assert_null(leave(GKF_WORK_HOST));
	assert_int_equal(executors.host_admission.taken, 48);
	assert_ptr_equal(leave(GKF_WORK_HOST), &queue[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(kernels_are_128_at_once, empty),
	    cmocka_unit_test_setup(functions_of_the_host_are_48_at_once, empty),
	    cmocka_unit_test_setup(what_ends_by_itself_needs_no_admission,
				   empty),
	    cmocka_unit_test_setup(one_that_was_stopped_is_always_admitted,
				   empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
