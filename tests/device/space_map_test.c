/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_map_test.c - checks reservations and what is mapped in them: what is
 * found at every block is compared with a plain model after random steps.
 */
#include "device/space_fixture.h"

#include <string.h>
#include <sys/wait.h>

#define BLOCKS 24
#define DEVICE 0

static uint64_t reserve(uint64_t size, uint64_t align, uint64_t near)
{
	uint64_t at = 0;

	assert_int_equal(gkf_space_reserve(size, align, near, &at), 0);
	assert_int_not_equal(at, 0);
	return at;
}

static uint64_t physical(uint64_t size)
{
	struct gkf_memory_ask ask = {
	    .kind = GKF_MEMORY_PHYSICAL, .device = DEVICE, .size = size};
	uint64_t at;

	assert_int_equal(gkf_space_alloc(&ask, &at), 0);
	return at;
}

static int map(uint64_t at, uint64_t size, uint64_t from)
{
	struct gkf_mapping m = {.base = at, .size = size, .device = DEVICE};

	return gkf_space_map(&m, gkf_space_source(from));
}

static int allow(uint64_t at, uint64_t size, uint64_t readers, uint64_t writers)
{
	return gkf_space_allow(at, size, 3, readers, writers);
}

static void physical_memory_is_charged_and_has_no_address(void **state)
{
	struct gkf_extent e;
	uint64_t before = gkf_held_bytes(fx.m, DEVICE), p = physical(3 * BLOCK);

	(void)state;
	assert_int_equal(gkf_held_bytes(fx.m, DEVICE), before + 3 * BLOCK);
	assert_false(gkf_space_find(p, &e));
	assert_null(gkf_space_view(p, 1));
	assert_int_equal(gkf_space_free(p), 0);
	assert_int_equal(gkf_held_bytes(fx.m, DEVICE), before);
}

static void memory_shown_twice_is_the_same(void **state)
{
	uint64_t at = reserve(4 * BLOCK, 0, 0), p = physical(2 * BLOCK);
	char *first, *second;

	(void)state;
	assert_int_equal(map(at, 2 * BLOCK, p), 0);
	assert_int_equal(map(at + 2 * BLOCK, 2 * BLOCK, p), 0);
	assert_null(gkf_space_view(at, 1));
	assert_int_equal(allow(at, 4 * BLOCK, 1, 1), 0);
	first = gkf_space_view(at, 4 * BLOCK);
	assert_non_null(first);
	second = gkf_space_view(at + 2 * BLOCK, 2 * BLOCK);
	assert_ptr_equal(second, first + 2 * BLOCK);
	strcpy(first + BLOCK, "seen there");
	assert_string_equal(second + BLOCK, "seen there");
	assert_int_equal(gkf_space_unmap(at, 4 * BLOCK), 0);
	/* A mapping that still exists there is not disturbed. */
	strcpy(second + BLOCK, "lost");
	assert_string_equal((char *)gkf_space_source(p) + BLOCK, "seen there");
	assert_int_equal(gkf_space_unreserve(at, 4 * BLOCK), 0);
	assert_int_equal(gkf_space_free(p), 0);
}

static void a_reservation_is_where_it_was_asked_for(void **state)
{
	uint64_t a = reserve(4 * BLOCK, 0, 0), b, c, d;

	(void)state;
	assert_int_equal(gkf_space_unreserve(a, 4 * BLOCK), 0);
	assert_int_equal(reserve(BLOCK, 0, a), a);
	b = reserve(BLOCK, 0, a + BLOCK);
	assert_int_equal(b, a + BLOCK);
	c = reserve(BLOCK, 0, a);
	assert_int_not_equal(c, a);
	d = reserve(BLOCK, 64 * BLOCK, 0);
	assert_int_equal(d % (64 * BLOCK), 0);
	assert_int_equal(gkf_space_unreserve(a, 2 * BLOCK), GK_ERR_INVALID);
	assert_int_equal(gkf_space_unreserve(a, BLOCK), 0);
	assert_int_equal(gkf_space_unreserve(a, BLOCK), GK_ERR_INVALID);
	assert_int_equal(gkf_space_unreserve(b, BLOCK), 0);
	assert_int_equal(gkf_space_unreserve(c, BLOCK), 0);
	assert_int_equal(gkf_space_unreserve(d, BLOCK), 0);
}

static void too_many_addresses_are_not_there(void **state)
{
	uint64_t at = 5;

	(void)state;
	assert_int_equal(gkf_space_reserve(1ULL << 46, 0, 0, &at),
			 GK_ERR_NOMEM);
	assert_int_equal(at, 5);
}

static void what_is_shown_must_be_reserved_and_free(void **state)
{
	uint64_t at = reserve(3 * BLOCK, 0, 0), p = physical(2 * BLOCK);

	(void)state;
	assert_int_equal(map(at + 2 * BLOCK, 2 * BLOCK, p), GK_ERR_INVALID);
	assert_int_equal(map(at, 2 * BLOCK, p), 0);
	assert_int_equal(map(at + BLOCK, 2 * BLOCK, p), GK_ERR_EXISTS);
	assert_int_equal(gkf_space_unreserve(at, 3 * BLOCK), GK_ERR_IN_USE);
	assert_int_equal(gkf_space_unmap(at, BLOCK), GK_ERR_INVALID);
	assert_int_equal(gkf_space_unmap(at, 3 * BLOCK), GK_ERR_INVALID);
	assert_int_equal(allow(at + BLOCK, BLOCK, 1, 1), GK_ERR_INVALID);
	assert_int_equal(gkf_space_unmap(at, 2 * BLOCK), 0);
	assert_int_equal(gkf_space_unreserve(at, 3 * BLOCK), 0);
	assert_int_equal(gkf_space_free(p), 0);
}

/* ---- against a model ---- */

struct cell {
	bool mapped;
	unsigned first, blocks; /* of its mapping */
	uint64_t readers, writers;
};

/* An extent is as long as everything alike around a block. */
static void check_cell(const struct cell *cells, uint64_t base, unsigned i)
{
	struct gkf_extent e;
	unsigned from = i, to = i + 1;
	bool found = gkf_space_find(base + i * BLOCK + 77, &e);

	assert_int_equal(found, cells[i].readers != 0);
	if (!found)
		return;
	while (from && cells[from - 1].readers == cells[i].readers &&
	       cells[from - 1].writers == cells[i].writers)
		from--;
	while (to < BLOCKS && cells[to].readers == cells[i].readers &&
	       cells[to].writers == cells[i].writers)
		to++;
	assert_int_equal(e.kind, GKF_MEMORY_MAPPED);
	assert_int_equal(e.base, base + from * BLOCK);
	assert_int_equal(e.size, (to - from) * BLOCK);
	assert_int_equal(e.readers, cells[i].readers);
	assert_int_equal(e.writers, cells[i].writers);
}

static unsigned dice(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(*seed >> 33) % n;
}

static void try_map(struct cell *cells, uint64_t base, uint64_t p,
		    uint64_t *seed)
{
	unsigned at = dice(seed, BLOCKS), n = 1 + dice(seed, 3);
	bool room = at + n <= BLOCKS;

	for (unsigned i = at; room && i < at + n; i++)
		room = !cells[i].mapped;
	assert_int_equal(!map(base + at * BLOCK, n * BLOCK, p), room);
	for (unsigned i = at; room && i < at + n; i++)
		cells[i] = (struct cell){true, at, n, 0, 0};
}

static void try_change(struct cell *cells, uint64_t base, uint64_t *seed)
{
	static const uint64_t rights[][2] = {{0, 0}, {1, 0}, {1, 1},
					     {3, 1}, {1, 1}, {1, 1}};
	unsigned i = dice(seed, BLOCKS), which = dice(seed, 8);
	unsigned at = cells[i].first, n = cells[i].blocks;

	if (!cells[i].mapped)
		return;
	if (which < 6) {
		assert_int_equal(allow(base + at * BLOCK, n * BLOCK,
				       rights[which][0], rights[which][1]),
				 0);
	} else {
		assert_int_equal(gkf_space_unmap(base + at * BLOCK, n * BLOCK),
				 0);
	}
	for (i = at; i < at + n; i++) {
		cells[i].mapped = which < 6;
		cells[i].readers = which < 6 ? rights[which][0] : 0;
		cells[i].writers = which < 6 ? rights[which][1] : 0;
	}
}

static void stretches_are_what_is_alike_side_by_side(void **state)
{
	uint64_t base = reserve(BLOCKS * BLOCK, 0, 0), p = physical(3 * BLOCK);
	struct cell cells[BLOCKS] = {{0}};
	uint64_t seed = 20;

	(void)state;
	for (int step = 0; step < 4000; step++) {
		if (dice(&seed, 2))
			try_map(cells, base, p, &seed);
		else
			try_change(cells, base, &seed);
		for (unsigned i = 0; i < BLOCKS; i++)
			check_cell(cells, base, i);
	}
	for (unsigned i = 0; i < BLOCKS;
	     i += cells[i].mapped ? cells[i].blocks : 1)
		if (cells[i].mapped)
			assert_int_equal(
			    gkf_space_unmap(base + i * BLOCK,
					    cells[i].blocks * BLOCK),
			    0);
	assert_int_equal(gkf_space_unreserve(base, BLOCKS * BLOCK), 0);
	assert_int_equal(gkf_space_free(p), 0);
}

/* A forked child has neither the bytes nor the addresses. */
static void a_child_sees_nothing_of_it(void **state)
{
	uint64_t at = reserve(BLOCK, 0, 0), p = physical(BLOCK);
	struct gkf_extent e;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(map(at, BLOCK, p), 0);
	assert_int_equal(allow(at, BLOCK, 1, 1), 0);
	pid = fork();
	if (!pid) {
		volatile char *view = gkf_space_view(at, 1);

		gkf_space_forget();
		if (gkf_space_find(at, &e))
			_exit(1);
		signal(SIGSEGV, SIG_DFL);
		*view = 1;
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	assert_int_equal(gkf_space_unmap(at, BLOCK), 0);
	assert_int_equal(gkf_space_unreserve(at, BLOCK), 0);
	assert_int_equal(gkf_space_free(p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		physical_memory_is_charged_and_has_no_address, setup, teardown),
	    cmocka_unit_test_setup_teardown(memory_shown_twice_is_the_same,
					    setup, teardown),
	    cmocka_unit_test_setup_teardown(
		a_reservation_is_where_it_was_asked_for, setup, teardown),
	    cmocka_unit_test_setup_teardown(too_many_addresses_are_not_there,
					    setup, teardown),
	    cmocka_unit_test_setup_teardown(
		what_is_shown_must_be_reserved_and_free, setup, teardown),
	    cmocka_unit_test_setup_teardown(
		stretches_are_what_is_alike_side_by_side, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_child_sees_nothing_of_it, setup,
					    teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
