/* SPDX-License-Identifier: Apache-2.0 */
/* table_test.c - checks a table of rows by key against a plain array. */
#include "limit/preload/own.h"
#include "limit/preload/table.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 3000, STEPS = 200000 };

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Addresses as drivers give them: steps of 512, and of 2 MiB. */
static uint64_t key_of(unsigned i)
{
	return 0x7f0000000000 + (i & 1 ? i * 512ULL : (uint64_t)i << 21);
}

static struct table *new_table(void)
{
	struct table *t = own_map(sizeof(*t));

	assert_non_null(t);
	return t;
}

static void it_holds_what_an_array_holds(void **state)
{
	static uint64_t model[KEYS]; /* bytes; 0: not there */
	struct table *t = new_table();
	struct table_row row;
	uint64_t seed = 1;

	(void)state;
	for (unsigned step = 1; step < STEPS; step++) {
		unsigned i = (unsigned)(next_random(&seed) % KEYS);
		struct table_row put = {.key = key_of(i), .bytes = step};

		if (seed & 0x100) {
			assert_true(table_put(t, &put));
			model[i] = step;
			continue;
		}
		assert_int_equal(table_take(t, put.key, &row), model[i] != 0);
		if (model[i])
			assert_int_equal(row.bytes, model[i]);
		model[i] = 0;
	}
	for (unsigned i = 0; i < KEYS; i++) {
		assert_int_equal(table_find(t, key_of(i), &row), model[i] != 0);
		if (model[i])
			assert_int_equal(row.bytes, model[i]);
	}
}

static bool is_of_owner(const struct table_row *row, void *arg)
{
	return row->owner == *(const uint64_t *)arg;
}

static void a_sweep_takes_those_and_no_others(void **state)
{
	struct table *t = new_table();
	struct table_row row;
	uint64_t owner = 3;

	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		table_put(
		    t, &(struct table_row){.key = key_of(i), .owner = i % 7});
	table_sweep(t, is_of_owner, &owner);
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(table_find(t, key_of(i), &row), i % 7 != 3);
}

static void key_0_is_never_there(void **state)
{
	struct table_row row;

	(void)state;
	assert_false(table_find(new_table(), 0, &row));
	assert_false(table_take(new_table(), 0, &row));
}

static void a_child_finds_it_empty(void **state)
{
	struct table *t = new_table();
	struct table_row row;
	int status;
	pid_t child;

	(void)state;
	table_put(t, &(struct table_row){.key = 512, .bytes = 1});
	atomic_store(&t->shard[0].lock, 1);
	child = fork();
	if (!child) {
		bool found = false;

		for (unsigned i = 1; i < KEYS; i++)
			found |=
			    table_find(t, i * 512, &row) ||
			    !table_put(t, &(struct table_row){.key = i * 512});
		_exit(found);
	}
	atomic_store(&t->shard[0].lock, 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(table_find(t, 512, &row));
}

struct worker {
	pthread_t thread;
	struct table *t;
	unsigned number;
	bool good;
};

/* Each has keys of its own between those of the others. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct table_row row;

	w->good = true;
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = w->number; i < KEYS; i += 4)
			w->good &= table_put(
			    w->t, &(struct table_row){.key = key_of(i),
						      .bytes = i + round});
		for (unsigned i = w->number; i < KEYS; i += 4)
			w->good &= table_take(w->t, key_of(i), &row) &&
				   row.bytes == i + round;
	}
	return NULL;
}

static void threads_find_what_is_theirs(void **state)
{
	struct worker w[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		w[i] =
		    (struct worker){.t = i ? w[0].t : new_table(), .number = i};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(w[i].thread, NULL);
		assert_true(w[i].good);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_holds_what_an_array_holds),
	    cmocka_unit_test(a_sweep_takes_those_and_no_others),
	    cmocka_unit_test(key_0_is_never_there),
	    cmocka_unit_test(a_child_finds_it_empty),
	    cmocka_unit_test(threads_find_what_is_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
