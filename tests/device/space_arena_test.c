/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_arena_test.c - checks arenas: how they are mapped, what they do with
 * few addresses, lookups.
 */
#include "device/space_arena.h"
#include "base/units.h"
#include "device/held_locks.h"
#include "device/no_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- madvise() ---- */

static struct {
	int advice;
	void *at;
	size_t size;
} advices[16];
static unsigned advice_count;

int madvise(void *at, size_t size, int advice)
{
	if (advice_count < 16) {
		advices[advice_count].advice = advice;
		advices[advice_count].at = at;
		advices[advice_count++].size = size;
	}
	return (int)syscall(SYS_madvise, at, size, advice);
}

static bool was_advised(int advice, const void *at, size_t size)
{
	for (unsigned i = 0; i < advice_count; i++)
		if (advices[i].advice == advice && advices[i].at == at &&
		    advices[i].size == size)
			return true;
	return false;
}

/* Pages of address space that this process has. */
static unsigned long mapped_pages(void)
{
	unsigned long pages;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages;
}

/* The access rights at an address, as the kernel shows them. */
static void rights_at(const void *address, char ret_rights[5])
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	char line[400];

	strcpy(ret_rights, "none");
	while (fgets(line, sizeof line, f)) {
		char rights[5];

		assert_int_equal(
		    sscanf(line, "%lx-%lx %4s", &begin, &end, rights), 3);
		if ((uintptr_t)address >= begin && (uintptr_t)address < end)
			strcpy(ret_rights, rights);
	}
	fclose(f);
}

static void has_rights(const void *address, const char *rights)
{
	char found[5];

	rights_at(address, found);
	assert_string_equal(found, rights);
}

static struct arena *new_arena(enum gkf_memory_kind kind, uint64_t want)
{
	struct arena *a;

	advice_count = 0;
	a = arena_new(kind, want);
	assert_non_null(a);
	return a;
}

/* ---- the views ---- */

static void device_memory_has_two_views(void **state)
{
	struct arena *a = new_arena(GKF_MEMORY_DEVICE, 64 * MIB);
	unsigned char *public = (unsigned char *)(uintptr_t)a->base;

	(void)state;
	assert_int_equal(a->size, 64 * MIB);
	assert_int_equal(a->want, 64 * MIB);
	assert_int_equal(a->kind, GKF_MEMORY_DEVICE);
	assert_int_equal(a->base % BLOCK_SIZE, 0);
	assert_int_equal((uintptr_t)a->view % BLOCK_SIZE, 0);
	assert_ptr_not_equal(a->view, public);
	has_rights(public, "---p");
	has_rights(public + 64 * MIB - 1, "---p");
	has_rights(a->view, "rw-s");
	has_rights(a->view + 64 * MIB - 1, "rw-s");
	assert_true(was_advised(MADV_DONTFORK, a->view, 64 * MIB));
	assert_true(was_advised(MADV_DONTDUMP, a->view, 64 * MIB));
	assert_true(was_advised(MADV_HUGEPAGE, a->view, 64 * MIB));
	a->view[64 * MIB - 1] = 1;
}

static void managed_memory_is_seen_where_it_lies(void **state)
{
	struct arena *a = new_arena(GKF_MEMORY_MANAGED, 128 * MIB);

	(void)state;
	assert_ptr_equal(a->view, (void *)(uintptr_t)a->base);
	has_rights(a->view, "rw-s");
	has_rights(a->view + 128 * MIB - 1, "rw-s");
	assert_true(was_advised(MADV_DONTFORK, a->view, 128 * MIB));
	assert_true(was_advised(MADV_HUGEPAGE, a->view, 128 * MIB));
}

/* It is the program's own, and its children have it as well. */
static void host_memory_is_a_mapping_like_others(void **state)
{
	struct arena *a = new_arena(GKF_MEMORY_HOST, 64 * MIB);

	(void)state;
	assert_ptr_equal(a->view, (void *)(uintptr_t)a->base);
	has_rights(a->view, "rw-p");
	has_rights(a->view + 64 * MIB - 1, "rw-p");
	assert_false(was_advised(MADV_DONTFORK, a->view, 64 * MIB));
	assert_true(was_advised(MADV_HUGEPAGE, a->view, 64 * MIB));
}

/* Addresses mapped to find a multiple of a block are given back. */
static void addresses_are_not_wasted(void **state)
{
	static const uint64_t behind[] = {0, 4096, MIB, BLOCK_SIZE - 4096};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		unsigned long before = mapped_pages();
		struct arena *a;

		mapped_behind = behind[i];
		a = new_arena(GKF_MEMORY_HOST, 64 * MIB);
		mapped_behind = 0;
		assert_int_equal(a->base % BLOCK_SIZE, 0);
		has_rights(a->view, "rw-p");
		has_rights(a->view + 64 * MIB - 1, "rw-p");
		/* The arena with its table of pieces and notes of blocks. */
		assert_in_range((mapped_pages() - before) * 4096, 64 * MIB,
				64 * MIB + 256 * KIB);
	}
}

/* ---- few addresses ---- */

/* The size of the arena that is made where longer mappings fail; 0: none is. */
static uint64_t made_of(uint64_t want, uint64_t longest)
{
	unsigned long before = mapped_pages(), after;
	struct arena *a;

	/* The block is for alignment. */
	longest_mapping = longest + BLOCK_SIZE;
	a = arena_new(GKF_MEMORY_DEVICE, want);
	longest_mapping = UINT64_MAX;
	after = mapped_pages();
	if (!a) {
		assert_int_equal(after, before);
		return 0;
	}
	assert_int_equal(a->want, want);
	assert_int_equal(a->blocks.units, a->size / BLOCK_SIZE);
	/*
	 * Mappings that were tried and abandoned are gone; a thread may have
	 * started.
	 */
	assert_in_range((after - before) * 4096, 2 * a->size,
			2 * a->size + 16 * MIB);
	a->view[a->size - 1] = 1;
	return a->size;
}

/* A quarter of what would otherwise be mapped, but 64 MiB if possible. */
static void with_few_addresses_an_arena_is_smaller(void **state)
{
	(void)state;
	assert_int_equal(made_of(1 * GIB, 1 * GIB), 1 * GIB);
	assert_int_equal(made_of(1 * GIB, 1 * GIB - 4096), 128 * MIB);
	assert_int_equal(made_of(1 * GIB, 512 * MIB), 128 * MIB);
	assert_int_equal(made_of(1 * GIB, 511 * MIB), 64 * MIB);
	assert_int_equal(made_of(1 * GIB, 128 * MIB), 64 * MIB);
	assert_int_equal(made_of(1 * GIB, 64 * MIB), 64 * MIB);
	assert_int_equal(made_of(1 * GIB, 63 * MIB), 0);
	assert_int_equal(made_of(64 * MIB, 63 * MIB), 0);
	assert_int_equal(made_of(64 * MIB, 64 * MIB), 64 * MIB);
}

/* Whichever mapping fails, nothing stays of the others. */
static void without_memory_there_is_no_arena(void **state)
{
	(void)state;
	for (unsigned left = 0; left < 5; left++) {
		mappings_left = left;
		assert_int_equal(made_of(64 * MIB, 64 * MIB), 0);
	}
	for (unsigned left = 0; left < 8; left++) {
		mappings_left = left;
		assert_int_equal(made_of(1 * GIB, 512 * MIB), 0);
	}
	mappings_left = UINT_MAX;
}

/* The first test, because the target of the log is looked up once. */
static void one_line_of_the_log_tells_of_few_addresses(void **state)
{
	char path[] = "/tmp/gpukit-arena-XXXXXX", text[400] = "";
	int fd = mkstemp(path), status;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	pid = fork();
	if (!pid) {
		char log[64];

		snprintf(log, sizeof log, "warn:%s", path);
		setenv("GPUKIT_LOG", log, 1);
		made_of(1 * GIB, 1 * GIB);
		_exit(made_of(1 * GIB, 512 * MIB) != 128 * MIB);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(read(fd, text, sizeof text - 1) > 0);
	close(fd);
	unlink(path);
	assert_non_null(strstr(text, "only 128 of 1024 MiB of addresses "
				     "reserved"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

/* Then memory has no file, but the same rights and size. */
static void child_with_bounded_files(rlim_t bound)
{
	struct rlimit limit = {.rlim_cur = bound, .rlim_max = bound};
	bool file = bound >= 64 * MIB;
	char rights[5];
	struct arena *a;

	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(1);
	a = arena_new(GKF_MEMORY_DEVICE, 64 * MIB);
	if (!a || a->size != 64 * MIB)
		_exit(2);
	rights_at(a->view, rights);
	if (strcmp(rights, "rw-s"))
		_exit(3);
	a->view[64 * MIB - 1] = file;
	_exit(0);
}

static void a_bound_on_files_is_no_bound_on_memory(void **state)
{
	static const rlim_t bounds[] = {0, 64 * MIB - 1, 64 * MIB};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			child_with_bounded_files(bounds[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* No program finds one more open descriptor that it might close. */
static void no_descriptor_is_kept(void **state)
{
	int before = dup(2), after;

	(void)state;
	close(before);
	new_arena(GKF_MEMORY_DEVICE, 64 * MIB);
	after = dup(2);
	close(after);
	assert_int_equal(after, before);
}

/* ---- what is noted of blocks ---- */

/* Each table has a row for each block, and none overlaps another. */
static void tables_have_a_row_for_each_block(void **state)
{
	struct arena *a = new_arena(GKF_MEMORY_DEVICE, 16 * GIB);
	uint64_t blocks = 16 * GIB / BLOCK_SIZE;
	uint32_t unit;

	(void)state;
	for (uint64_t i = 0; i < blocks; i++) {
		a->block[i] = 1000000 + (uint32_t)i;
		a->dirty[i] = (unsigned char)(i % 251);
		a->shared[i + 1] =
		    (struct shared_block *)(uintptr_t)&a->block[i];
		a->note[i + 1] = (struct fit_note *)(uintptr_t)&a->dirty[i];
	}
	for (uint64_t i = 0; i < blocks; i++) {
		assert_int_equal(a->block[i], 1000000 + i);
		assert_int_equal(a->dirty[i], i % 251);
		assert_ptr_equal(a->shared[i + 1], &a->block[i]);
		assert_ptr_equal(a->note[i + 1], &a->dirty[i]);
	}
	/* Free blocks are found too: one by one, over both pages. */
	for (uint64_t i = 0; i < blocks; i++) {
		assert_true(fit_take(&a->blocks, 1, 1, &unit));
		assert_int_equal(unit, i);
	}
	assert_false(fit_take(&a->blocks, 1, 1, &unit));
	assert_int_equal(a->block[0], 1000000);
	assert_int_equal(a->dirty[blocks - 1], (blocks - 1) % 251);
	assert_ptr_equal(a->note[1], &a->dirty[0]);
	assert_int_equal(a->blocks.page[2] - a->blocks.page[1], 4096);
}

static void a_wiped_arena_has_nothing(void **state)
{
	static const enum gkf_memory_kind kinds[] = {
	    GKF_MEMORY_DEVICE, GKF_MEMORY_MANAGED, GKF_MEMORY_HOST};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct arena *a = new_arena(kinds[i], 64 * MIB);

		a->view[0] = a->view[64 * MIB - 1] = 1;
		memset(a->dirty, 1, 32);
		a->kept = 64 * MIB;
		arena_wipe(a);
		assert_int_equal(a->view[0], 0);
		assert_int_equal(a->view[64 * MIB - 1], 0);
		assert_int_equal(a->dirty[0], 0);
		assert_int_equal(a->dirty[31], 0);
		assert_int_equal(a->kept, 0);
		no_lock_is_held();
	}
}

/* ---- lookups ---- */

/* Pieces of a shared block, by their start and length in units. */
static const struct {
	unsigned unit, units;
} rows[] = {{0, 1},    {1, 62},   {63, 1},      {64, 1},  {65, 63},
	    {130, 70}, {640, 64}, {1000, 2000}, {4095, 1}};
enum { ROWS = sizeof rows / sizeof *rows };

static struct arena *arena_with_rows(uint32_t block)
{
	struct arena *a = new_arena(GKF_MEMORY_DEVICE, 64 * MIB);
	struct shared_block *s = calloc(1, sizeof *s);

	a->shared[3] = s;
	a->block[block] = 3 << 1 | 1;
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned unit = rows[i].unit;
		struct piece_words words = {
		    .base = a->base + block * BLOCK_SIZE + unit * UNIT_SIZE,
		    .size = rows[i].units * UNIT_SIZE - 1};

		s->piece[unit] = piece_new(&a->pieces, &words);
		s->starts[unit / 64] |= 1ULL << unit % 64;
		s->words |= 1ULL << unit / 64;
	}
	return a;
}

/* The row that contains a byte; -1: none. */
static int row_of(uint64_t byte)
{
	for (int i = 0; i < ROWS; i++) {
		uint64_t offset = byte - rows[i].unit * UNIT_SIZE;

		if (offset < rows[i].units * UNIT_SIZE - 1)
			return i;
	}
	return -1;
}

static void pieces_of_a_shared_block_are_found(void **state)
{
	struct arena *a = arena_with_rows(5);
	uint64_t base = a->base + 5 * BLOCK_SIZE;
	struct piece_words words;

	(void)state;
	for (uint64_t unit = 0; unit < BLOCK_UNITS; unit++) {
		for (uint64_t at = unit * UNIT_SIZE;
		     at < (unit + 1) * UNIT_SIZE; at += 511) {
			int row = row_of(at);

			assert_int_equal(arena_find(a, base + at, &words),
					 row >= 0);
			if (row >= 0)
				assert_int_equal(words.base,
						 base + rows[row].unit *
							    UNIT_SIZE);
		}
	}
	assert_false(arena_find(a, base - 1, &words));
	assert_false(arena_find(a, base + BLOCK_SIZE, &words));
	free(a->shared[3]);
}

/* Nothing begins at the address or before it in its block. */
static void before_the_first_piece_there_is_none(void **state)
{
	struct arena *a = new_arena(GKF_MEMORY_DEVICE, 64 * MIB);
	struct shared_block *s = calloc(1, sizeof *s);
	struct piece_words words = {.base = a->base + 200 * UNIT_SIZE,
				    .size = UNIT_SIZE};

	(void)state;
	/*
	 * A word that is not the number of a piece must not be taken for one.
	 */
	piece_new(&a->pieces,
		  &(struct piece_words){.base = a->base, .size = a->size});
	a->shared[1] = s;
	a->block[0] = 1 << 1 | 1;
	assert_false(arena_find(a, a->base, &words));
	s->piece[200] = piece_new(&a->pieces, &words);
	s->starts[3] = 1ULL << 8;
	s->words = 1 << 3;
	assert_false(arena_find(a, a->base, &words));
	assert_false(arena_find(a, a->base + 195 * UNIT_SIZE, &words));
	assert_true(arena_find(a, a->base + 200 * UNIT_SIZE, &words));
	assert_false(arena_find(a, a->base + 201 * UNIT_SIZE, &words));
	/* Nothing is found in a word that is cleared while it is read. */
	s->starts[3] = 0;
	assert_false(arena_find(a, a->base + 300 * UNIT_SIZE, &words));
	free(s);
}

static void a_large_piece_is_found_by_each_of_its_blocks(void **state)
{
	struct arena *a = new_arena(GKF_MEMORY_DEVICE, 64 * MIB);
	struct piece_words words = {.base = a->base + 4 * BLOCK_SIZE,
				    .size = 2 * BLOCK_SIZE + 100};
	uint32_t piece;

	(void)state;
	piece_new(&a->pieces, &(struct piece_words){.size = 1});
	piece = piece_new(&a->pieces, &words);
	for (unsigned i = 4; i < 7; i++)
		a->block[i] = piece << 1;
	assert_false(arena_find(a, a->base + 4 * BLOCK_SIZE - 1, &words));
	for (unsigned i = 4; i < 7; i++) {
		assert_true(arena_find(a, a->base + i * BLOCK_SIZE, &words));
		assert_int_equal(words.base, a->base + 4 * BLOCK_SIZE);
	}
	assert_true(arena_find(a, a->base + 6 * BLOCK_SIZE + 99, &words));
	assert_false(arena_find(a, a->base + 6 * BLOCK_SIZE + 100, &words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_line_of_the_log_tells_of_few_addresses),
	    cmocka_unit_test(device_memory_has_two_views),
	    cmocka_unit_test(managed_memory_is_seen_where_it_lies),
	    cmocka_unit_test(host_memory_is_a_mapping_like_others),
	    cmocka_unit_test(addresses_are_not_wasted),
	    cmocka_unit_test(with_few_addresses_an_arena_is_smaller),
	    cmocka_unit_test(without_memory_there_is_no_arena),
	    cmocka_unit_test(a_bound_on_files_is_no_bound_on_memory),
	    cmocka_unit_test(no_descriptor_is_kept),
	    cmocka_unit_test(tables_have_a_row_for_each_block),
	    cmocka_unit_test(a_wiped_arena_has_nothing),
	    cmocka_unit_test(pieces_of_a_shared_block_are_found),
	    cmocka_unit_test(before_the_first_piece_there_is_none),
	    cmocka_unit_test(a_large_piece_is_found_by_each_of_its_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
