/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_memory_test.c - checks the memory of tasks and queues: rooms, chunks,
 * reuse.
 */
#include "device/held_locks.h"
#include "device/no_memory.h"
#include "device/queue_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static int none_held(void **state)
{
	(void)state;
	no_lock_is_held();
	return 0;
}

static int forget(void **state)
{
	(void)state;
	gkf_memory_forget();
	return 0;
}

/* One after the other in one mapping, each in cache lines of its own. */
static void what_lasts_lies_in_cache_lines(void **state)
{
	char *first = gkf_lasting(1), *at;

	(void)state;
	assert_int_equal((uintptr_t)first % 64, 0);
	at = gkf_lasting(64);
	assert_ptr_equal(at, first + 64);
	assert_ptr_equal(gkf_lasting(65), first + 128);
	assert_ptr_equal(gkf_lasting(0), first + 256);
	assert_ptr_equal(gkf_lasting(1), first + 256);
	for (unsigned i = 0; i < 320; i++)
		assert_int_equal(first[i], 0);
}

/*
 * A chunk is used up to its last byte, then a new one is made; without memory
 * there is none.
 */
static void a_chunk_is_used_up(void **state)
{
	char *first = gkf_lasting(65536 - 128);

	(void)state;
	mappings_left = 0;
	assert_null(gkf_lasting(192));
	assert_ptr_equal(gkf_lasting(64), first + 65536 - 128);
	assert_ptr_equal(gkf_lasting(64), first + 65536 - 64);
	assert_null(gkf_lasting(1));
	assert_null(gkf_task_new(128));
	mappings_left = 1;
	first = gkf_lasting(65536);
	assert_non_null(first);
	memset(first, 1, 65536);
	assert_null(gkf_lasting(64));
	mappings_left = UINT_MAX;
	first = gkf_lasting(64);
	assert_int_equal(first[0] | first[63], 0);
}

static const struct {
	size_t size;
	unsigned room;
	size_t takes;
} rooms[] = {
    {sizeof(struct gkf_task), 1, 128},
    {128, 1, 128},
    {129, 2, 256},
    {256, 2, 256},
    {257, 3, 512},
    {512, 3, 512},
    {513, 4, 1024},
    {1024, 4, 1024},
    {1025, 5, 5120},
    {5120, 5, 5120},
};

static void tasks_have_rooms_by_their_size(void **state)
{
	struct gkf_task *task;

	(void)state;
	for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++) {
		task = gkf_task_new(rooms[i].size);
		assert_int_equal(task->room, rooms[i].room);
		assert_ptr_equal(gkf_lasting(1), (char *)task + rooms[i].takes);
		memset((char *)task + sizeof *task, 1,
		       rooms[i].size - sizeof *task);
	}
	/* A task that does not fit wastes nothing of a chunk. */
	task = gkf_task_new(5121);
	assert_int_equal(task->room, 0);
	memset((char *)task + sizeof *task, 1, 5121 - sizeof *task);
	gkf_task_free(task);
	gkf_task_free(NULL);
}

/* The last one freed is reused first, by room, as empty as a new one. */
static void rooms_are_used_again(void **state)
{
	struct gkf_task *a = gkf_task_new(100), *b = gkf_task_new(128),
			*c = gkf_task_new(200), *task;

	(void)state;
	a->bytes = 5;
	a->work = GKF_WORK_HOST;
	a->ret_result = &(int){0};
	gkf_task_free(a);
	gkf_task_free(c);
	gkf_task_free(b);
	assert_ptr_equal(gkf_task_new(1000), (char *)c + 256);
	assert_ptr_equal(gkf_task_new(90), b);
	task = gkf_task_new(128);
	assert_ptr_equal(task, a);
	assert_int_equal(task->bytes, 0);
	assert_int_equal(task->work, 0);
	assert_null(task->ret_result);
	assert_null(task->next);
	assert_int_equal(task->room, 1);
	assert_ptr_equal(gkf_task_new(129), c);
	assert_ptr_not_equal(gkf_task_new(129), c);
}

/* A child has none of its parent's, whoever held a lock of it. */
static void a_child_begins_with_nothing(void **state)
{
	struct gkf_task *task = gkf_task_new(100);

	(void)state;
	gkf_task_free(task);
	gkf_memory_forget();
	mappings_left = 0;
	assert_null(gkf_task_new(100));
	mappings_left = UINT_MAX;
	assert_non_null(gkf_task_new(100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(what_lasts_lies_in_cache_lines,
					    forget, none_held),
	    cmocka_unit_test_setup_teardown(a_chunk_is_used_up, forget,
					    none_held),
	    cmocka_unit_test_setup_teardown(tasks_have_rooms_by_their_size,
					    forget, none_held),
	    cmocka_unit_test_setup_teardown(rooms_are_used_again, forget,
					    none_held),
	    cmocka_unit_test_setup_teardown(a_child_begins_with_nothing, forget,
					    none_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
