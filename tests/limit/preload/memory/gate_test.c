/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_test.c - checks threads that pass a gate: whenever it is closed, they
 * have counted exactly what they have taken.
 */
#include "limit/preload/memory/gate.h"
#include "limit/preload/own.h"
#include "unit.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICE = 3, CLOSINGS = 20000 };

struct crowd {
	struct gate *gate;
	_Atomic uint64_t taken;
	_Atomic bool ended;
	pthread_barrier_t together;
};

static struct gate *new_gate(void)
{
	struct gate *gate = own_map(sizeof(*gate));

	assert_non_null(gate);
	return gate;
}

/* The driver's call, followed by its counting. */
static void pass(struct crowd *crowd, int64_t bytes)
{
	gate_enter(crowd->gate);
	atomic_fetch_add(&crowd->taken, (uint64_t)bytes);
	gate_count(crowd->gate, DEVICE, bytes);
	gate_leave(crowd->gate);
}

static void *pass_often(void *arg)
{
	struct crowd *crowd = arg;

	while (!atomic_load(&crowd->ended)) {
		pass(crowd, 5);
		pass(crowd, -3);
	}
	return NULL;
}

static void close_often(struct crowd *crowd)
{
	for (unsigned i = 0; i < CLOSINGS;) {
		if (!gate_close(crowd->gate))
			continue;
		assert_int_equal(gate_counted(crowd->gate, DEVICE),
				 atomic_load(&crowd->taken));
		gate_open(crowd->gate);
		i++;
	}
}

static void counted_is_taken_whenever_it_is_closed(void **state)
{
	struct crowd crowd = {.gate = new_gate()};
	pthread_t threads[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, pass_often, &crowd), 0);
	close_often(&crowd);
	atomic_store(&crowd.ended, true);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(gate_counted(crowd.gate, 0), 0);
}

static void *pass_together(void *arg)
{
	struct crowd *crowd = arg;

	pthread_barrier_wait(&crowd->together);
	pass(crowd, 7);
	pthread_barrier_wait(&crowd->together);
	return NULL;
}

static pthread_t start_small(struct crowd *crowd)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	assert_int_equal(pthread_create(&thread, &attr, pass_together, crowd),
			 0);
	pthread_attr_destroy(&attr);
	return thread;
}

/* All are alive at the same time, so that none reuses the place of another. */
static void more_threads_than_places_are_counted(void **state)
{
	enum { MANY = GATE_THREADS + 20 };
	struct crowd crowd = {.gate = new_gate()};
	pthread_t threads[MANY];

	(void)state;
	pthread_barrier_init(&crowd.together, NULL, MANY);
	for (unsigned i = 0; i < MANY; i++)
		threads[i] = start_small(&crowd);
	for (unsigned i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&crowd.together);
	assert_true(gate_close(crowd.gate));
	assert_int_equal(gate_counted(crowd.gate, DEVICE), 7 * MANY);
	gate_open(crowd.gate);
}

static void *close_once(void *arg)
{
	struct crowd *crowd = arg;
	bool closed = gate_close(crowd->gate);

	if (closed)
		gate_open(crowd->gate);
	return closed ? crowd : NULL;
}

static bool can_be_closed(struct crowd *crowd)
{
	pthread_t thread;
	void *closed;

	assert_int_equal(pthread_create(&thread, NULL, close_once, crowd), 0);
	pthread_join(thread, &closed);
	return closed;
}

static void who_does_not_leave_keeps_it_open(void **state)
{
	struct crowd crowd = {.gate = new_gate()};

	(void)state;
	gate_enter(crowd.gate);
	gate_enter(crowd.gate);
	gate_leave(crowd.gate);
	assert_false(can_be_closed(&crowd));
	pass(&crowd, 1);
	gate_leave(crowd.gate);
	assert_true(can_be_closed(&crowd));
}

static void a_forked_child_is_not_inside_with_its_parent(void **state)
{
	struct crowd crowd = {.gate = new_gate()};
	int status;
	pid_t pid;

	(void)state;
	gate_enter(crowd.gate);
	gate_count(crowd.gate, DEVICE, 9);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (!pid) {
		pass(&crowd, 2);
		_exit(!(gate_close(crowd.gate) &&
			gate_counted(crowd.gate, DEVICE) == 2));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	gate_leave(crowd.gate);
	assert_true(gate_close(crowd.gate));
	assert_int_equal(gate_counted(crowd.gate, DEVICE), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counted_is_taken_whenever_it_is_closed),
	    cmocka_unit_test(more_threads_than_places_are_counted),
	    cmocka_unit_test(who_does_not_leave_keeps_it_open),
	    cmocka_unit_test(a_forked_child_is_not_inside_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
