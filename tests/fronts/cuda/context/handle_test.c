/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle_test.c - checks handles: alive, dead, of another kind, or invalid.
 */
#include "fronts/cuda/context/handle.h"
#include "machine/fixture.h"

#include <pthread.h>

#define SIZE 200

static void alive_dead_or_of_another_kind(void **state)
{
	char *stream = handle_new(HANDLE_STREAM, SIZE);
	char *event = handle_new(HANDLE_EVENT, 40);
	uint64_t life = handle_life(stream);

	(void)state;
	assert_true(handle_is(stream, HANDLE_STREAM));
	assert_false(handle_is(stream, HANDLE_EVENT));
	assert_false(handle_is(event, HANDLE_STREAM));
	memset(stream, 0xff, SIZE);
	handle_free(stream);
	assert_false(handle_is(stream, HANDLE_STREAM));
	assert_int_not_equal(handle_life(stream), life);
	handle_free(event);
}

static void any_value_may_be_asked(void **state)
{
	char *pool = handle_new(HANDLE_POOL, SIZE);
	uintptr_t at = (uintptr_t)pool;
	uint64_t number = 88172645463325252ULL;

	(void)state;
	for (size_t off = 1; off < 4096; off++) {
		assert_false(handle_is((void *)(at + off), HANDLE_POOL));
		assert_false(handle_is((void *)(at - off), HANDLE_POOL));
	}
	for (int i = 0; i < 1000000; i++) {
		number ^= number << 13;
		number ^= number >> 7;
		number ^= number << 17;
		if (number != at)
			assert_false(handle_is((void *)number, HANDLE_POOL));
	}
	assert_false(handle_is(NULL, HANDLE_POOL));
	assert_false(handle_is((void *)UINTPTR_MAX, HANDLE_POOL));
	handle_free(pool);
}

static void a_new_one_is_zeroed_and_a_dead_one_is_none(void **state)
{
	static char *gone[1000];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++) {
			char *h = handle_new(HANDLE_MODULE, SIZE);

			for (int b = 0; b < SIZE; b++)
				assert_int_equal(h[b], 0);
			memset(h, 0xee, SIZE);
			gone[i] = h;
			handle_free(h);
		}
		for (int i = 0; i < 1000; i++) {
			assert_false(handle_is(gone[i], HANDLE_MODULE));
		}
	}
}

static void many_live_at_once(void **state)
{
	enum { MANY = 200000 };
	char **all = calloc(MANY, sizeof(*all));

	(void)state;
	for (int i = 0; i < MANY; i++) {
		all[i] = handle_new(HANDLE_EVENT, 40);
		assert_non_null(all[i]);
		*(int *)(void *)all[i] = i;
	}
	for (int i = 0; i < MANY; i++) {
		assert_true(handle_is(all[i], HANDLE_EVENT));
		assert_int_equal(*(int *)(void *)all[i], i);
		handle_free(all[i]);
	}
	free(all);
}

static void one_that_is_too_big_for_its_kind_is_refused(void **state)
{
	(void)state;
	handle_free(handle_new(HANDLE_ARRAY, 100));
	assert_null(handle_new(HANDLE_ARRAY, 100000));
}

static _Atomic(char *) shared[8];

/*
 * Makes, shows and destroys its own handles, and looks at those of others
 * meanwhile.
 */
static void *churn(void *arg)
{
	unsigned own = (unsigned)(uintptr_t)arg;
	uintptr_t wrong = 0;

	for (int i = 0; i < 20000; i++) {
		char *h = handle_new(HANDLE_KERNEL, 64);

		wrong += !handle_is(h, HANDLE_KERNEL);
		atomic_store(&shared[own], h);
		for (int k = 0; k < 8; k++)
			handle_is(atomic_load(&shared[k]), HANDLE_KERNEL);
		handle_free(h);
	}
	return (void *)wrong;
}

static void threads(void **state)
{
	pthread_t thread[8];
	void *wrong;

	(void)state;
	for (uintptr_t i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, churn, (void *)i);
	for (int i = 0; i < 8; i++) {
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(alive_dead_or_of_another_kind),
	    cmocka_unit_test(any_value_may_be_asked),
	    cmocka_unit_test(a_new_one_is_zeroed_and_a_dead_one_is_none),
	    cmocka_unit_test(many_live_at_once),
	    cmocka_unit_test(one_that_is_too_big_for_its_kind_is_refused),
	    cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
