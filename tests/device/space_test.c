/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_test.c - checks the memory that CUDA knows: allocating, finding,
 * charging, two views.
 */
#include "device/space_fixture.h"
#include "machine/file/file.h"
#include "machine/store/process/ledger.h"

#include <stdatomic.h>
#include <pthread.h>
#include <sys/mman.h>

static void a_piece_is_found_by_any_of_its_bytes(void **state)
{
	static const uint64_t sizes[] = {1,     511,     512,       513,
					 70000, MIB - 1, MIB,       MIB + 1,
					 BLOCK, 5 * MIB, 300 * MIB, 3 * GIB};
	uint64_t base[12];
	struct gkf_extent e;

	(void)state;
	for (unsigned i = 0; i < 12; i++)
		base[i] = alloc(i & 1, sizes[i]);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t at[] = {base[i], base[i] + sizes[i] / 2,
				 base[i] + sizes[i] - 1};

		assert_int_equal(base[i] % 512, 0);
		for (unsigned j = 0; j < 3; j++) {
			assert_true(gkf_space_find(at[j], &e));
			assert_int_equal(e.base, base[i]);
			assert_int_equal(e.size, sizes[i]);
			assert_int_equal(e.device, i & 1);
			assert_ptr_equal(e.owner, &fx);
			assert_null(e.pool);
		}
		assert_false(gkf_space_find(base[i] + sizes[i], &e) &&
			     e.base == base[i]);
		assert_non_null(gkf_space_view(base[i], sizes[i]));
		assert_null(gkf_space_view(base[i], sizes[i] + 1));
		assert_null(gkf_space_view(base[i] + 1, sizes[i]));
	}
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(gkf_space_free(base[i] + 1), GK_ERR_NOT_FOUND);
		assert_int_equal(gkf_space_free(base[i]), 0);
		assert_int_equal(gkf_space_free(base[i]), GK_ERR_NOT_FOUND);
		assert_false(gkf_space_find(base[i], &e));
	}
}

static void a_view_shows_the_bytes_of_a_piece(void **state)
{
	uint64_t small = alloc(0, 4096), other = alloc(0, 4096);
	uint64_t large = alloc(1, 5 * MIB);

	(void)state;
	memset(gkf_space_view(small, 4096), 1, 4096);
	memset(gkf_space_view(other, 4096), 2, 4096);
	memset(gkf_space_view(large, 5 * MIB), 3, 5 * MIB);
	assert_int_equal(*(char *)gkf_space_view(small + 4095, 1), 1);
	assert_int_equal(*(char *)gkf_space_view(other, 1), 2);
	assert_int_equal(*(char *)gkf_space_view(large + 5 * MIB - 1, 1), 3);
	gkf_space_drop(&fx);
}

/* As a program would that reads through a device pointer. */
static void the_host_faults_at_device_memory(void **state)
{
	volatile char *public = (char *)(uintptr_t)alloc(0, 4096);
	volatile char *private;
	int status;
	pid_t pid;

	(void)state;
	for (int inside = 0; inside < 2; inside++) {
		pid = fork();
		if (!pid) {
			signal(SIGSEGV, SIG_DFL);
			private = gkf_space_view((uintptr_t) public, 1);
			/* The child does not have the other view at all. */
			_exit(inside ? private[0] : public[0]);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 1);
	}
	gkf_space_drop(&fx);
}

static void the_ledger_is_charged_in_blocks(void **state)
{
	uint64_t a, b, c;

	(void)state;
	a = alloc(0, 1);
	assert_int_equal(gkf_held_bytes(fx.m, 0), BLOCK);
	b = alloc(0, MIB);
	assert_int_equal(gkf_held_bytes(fx.m, 0), BLOCK);
	c = alloc(0, MIB);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 2 * BLOCK);
	assert_int_equal(gkf_space_free(c), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), BLOCK);
	c = alloc(0, 2 * MIB + 1);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 3 * BLOCK);
	gkf_space_free(a);
	gkf_space_free(b);
	gkf_space_free(c);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

static uint64_t free_bytes(unsigned device)
{
	struct gkf_memory memory;

	gkf_memory(fx.m, device, &memory);
	return memory.free;
}

/* Every second block is free, and yet all that is left comes in one piece. */
static void memory_ends_exactly_where_the_ledger_ends(void **state)
{
	uint64_t blocks = free_bytes(0) / BLOCK, left, rest, extra;
	uint64_t *at = calloc(blocks, sizeof(*at));

	(void)state;
	for (uint64_t i = 0; i < blocks; i++)
		at[i] = alloc(0, BLOCK);
	assert_int_equal(try_alloc(GKF_MEMORY_DEVICE, 0, BLOCK, &extra),
			 GK_ERR_NO_SPACE);
	assert_int_equal(free_bytes(0) / BLOCK, 0);
	for (uint64_t i = 0; i < blocks; i += 2)
		assert_int_equal(gkf_space_free(at[i]), 0);
	left = free_bytes(0) / BLOCK * BLOCK;
	assert_int_equal(left, (blocks + 1) / 2 * BLOCK);
	assert_int_equal(try_alloc(GKF_MEMORY_DEVICE, 0, left + 1, &extra),
			 GK_ERR_NO_SPACE);
	rest = alloc(0, left);
	assert_int_equal(gkf_space_free(rest), 0);
	free(at);
	gkf_space_drop(&fx);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_int_equal(try_alloc(GKF_MEMORY_DEVICE, 0, 1ULL << 60, &extra),
			 GK_ERR_NO_SPACE);
}

#define LIVE 100000

static uint64_t random_word(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A freed block is soon reused, also after a device was closed. */
static void freed_memory_is_kept_for_the_next(void **state)
{
	(void)state;
	for (int round = 0; round < 3; round++) {
		uint64_t address[4];
		unsigned char *view, is_there = 0;

		for (int i = 0; i < 4; i++) {
			address[i] = alloc(0, BLOCK);
			view = gkf_space_view(address[i], 1);
			*view = 1;
		}
		gkf_space_free(address[3]);
		assert_int_equal(mincore(view, 1, &is_there), 0);
		assert_true(is_there & 1);
		gkf_space_close(0);
		assert_int_equal(mincore(view, 1, &is_there), 0);
		assert_false(is_there & 1);
		assert_int_equal(gkf_space_open(fx.m, 0, slots[0]), 0);
	}
}

/* Whether a block keeps its page when it is freed. */
static bool is_kept(void)
{
	uint64_t at = alloc(0, BLOCK);
	unsigned char *view = gkf_space_view(at, 1), is_there = 0;

	*view = 1;
	assert_int_equal(gkf_space_free(at), 0);
	assert_int_equal(mincore(view, 1, &is_there), 0);
	return is_there & 1;
}

/*
 * Freed memory is kept however often that happens, also after some was dropped
 * because there was too much.
 */
static void what_is_kept_is_counted_right(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++)
		assert_true(is_kept());
	for (int i = 0; i < 10; i++)
		assert_int_equal(gkf_space_free(alloc(0, 128 * MIB)), 0);
	assert_true(is_kept());
}

/* No two live pieces share a byte, and each is found. */
static void pieces_at_random_never_overlap(void **state)
{
	static struct {
		uint64_t at, size;
	} live[512];
	uint64_t seed = 4711;

	(void)state;
	for (unsigned n = 0; n < 20000; n++) {
		unsigned i = (unsigned)(random_word(&seed) % 512);
		unsigned log = (unsigned)(random_word(&seed) % 24);
		struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE};
		unsigned char *view;

		if (live[i].at) {
			view = gkf_space_view(live[i].at, live[i].size);
			assert_int_equal(view[0], (unsigned char)i);
			assert_int_equal(view[live[i].size - 1],
					 (unsigned char)(i >> 4));
			assert_int_equal(gkf_space_free(live[i].at), 0);
		}
		ask.size = 2 + random_word(&seed) % (1ULL << log);
		ask.align = 1ULL << random_word(&seed) % 22;
		assert_int_equal(gkf_space_alloc(&ask, &live[i].at), 0);
		assert_int_equal(live[i].at & (ask.align - 1), 0);
		live[i].size = ask.size;
		view = gkf_space_view(live[i].at, ask.size);
		assert_non_null(view);
		view[0] = (unsigned char)i;
		view[ask.size - 1] = (unsigned char)(i >> 4);
	}
	for (unsigned i = 0; i < 512; i++)
		if (live[i].at)
			assert_int_equal(gkf_space_free(live[i].at), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

static void many_pieces_live_beside_each_other(void **state)
{
	uint64_t *at = calloc(LIVE, sizeof(*at));
	struct gkf_extent e;

	(void)state;
	for (unsigned i = 0; i < LIVE; i++)
		at[i] = alloc(0, 512 + i % 1000);
	for (unsigned i = 0; i < LIVE; i++) {
		assert_true(gkf_space_find(at[i] + 511, &e));
		assert_int_equal(e.base, at[i]);
	}
	for (unsigned i = 0; i < LIVE; i++)
		assert_int_equal(gkf_space_free(at[(i * 7919UL) % LIVE]), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	free(at);
}

static void managed_memory_has_one_address(void **state)
{
	uint64_t at;
	struct gkf_extent e;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 3 * MIB, &at), 0);
	strcpy((char *)(uintptr_t)at, "host");
	assert_string_equal(gkf_space_view(at, 5), "host");
	assert_true(gkf_space_find(at + MIB, &e));
	assert_int_equal(e.kind, GKF_MEMORY_MANAGED);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_int_equal(gkf_space_free(at), 0);
}

static void host_memory_is_the_childs_too(void **state)
{
	uint64_t at;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_HOST, 0, 100, &at), 0);
	strcpy((char *)(uintptr_t)at, "here");
	pid = fork();
	if (!pid) {
		gkf_space_forget();
		_exit(strcmp((char *)(uintptr_t)at, "here") ||
		      gkf_space_view(at, 1));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(gkf_space_free(at), 0);
	assert_int_equal(try_alloc(GKF_MEMORY_HOST, 0, 1ULL << 50, &at),
			 GK_ERR_NO_SPACE);
}

static void registered_memory_is_found(void **state)
{
	static char own[3][1000];
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_REGISTERED,
				     .size = sizeof(own[0]),
				     .owner = &fx};
	struct gkf_extent e;
	uint64_t at;

	(void)state;
	for (int i = 2; i >= 0; i -= 2) {
		ask.host = own[i];
		assert_int_equal(gkf_space_alloc(&ask, &at), 0);
		assert_ptr_equal((void *)(uintptr_t)at, own[i]);
	}
	ask.host = own[0] + 999;
	assert_int_equal(gkf_space_alloc(&ask, &at), GK_ERR_EXISTS);
	ask.host = own[1] + 1;
	assert_int_equal(gkf_space_alloc(&ask, &at), GK_ERR_EXISTS);
	assert_false(gkf_space_find((uintptr_t)own[1], &e));
	assert_true(gkf_space_find((uintptr_t)own[2] + 999, &e));
	assert_ptr_equal(e.view, own[2]);
	assert_int_equal(gkf_space_free((uintptr_t)own[0]), 0);
	assert_int_equal(gkf_space_free((uintptr_t)own[0]), GK_ERR_NOT_FOUND);
	gkf_space_drop(&fx);
	assert_false(gkf_space_find((uintptr_t)own[2], &e));
}

static void a_pool_keeps_up_to_its_threshold(void **state)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE, .size = 100};
	struct gkf_mem_pool_usage usage;
	uint64_t at[2], other;
	struct gkf_extent e;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 4 * BLOCK, &ask.pool), 0);
	gkf_mem_pool_keep(ask.pool, 3 * BLOCK);
	assert_int_equal(gkf_space_alloc(&ask, &at[0]), 0);
	assert_true(gkf_space_find(at[0], &e));
	assert_ptr_equal(e.pool, ask.pool);
	ask.size = 3 * BLOCK;
	assert_int_equal(gkf_space_alloc(&ask, &at[1]), 0);
	assert_int_equal(gkf_space_alloc(&ask, &other), GK_ERR_NO_SPACE);
	gkf_mem_pool_read(ask.pool, &usage);
	assert_int_equal(usage.reserved, 4 * BLOCK);
	assert_int_equal(usage.used, 3 * BLOCK + 512);
	assert_int_equal(gkf_space_free(at[1]), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 3 * BLOCK);
	gkf_mem_pool_trim(ask.pool, BLOCK + 1); /* no less than that */
	assert_int_equal(gkf_held_bytes(fx.m, 0), 2 * BLOCK);
	gkf_mem_pool_trim(ask.pool, 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), BLOCK);
	gkf_mem_pool_read(ask.pool, &usage);
	assert_int_equal(usage.reserved, BLOCK);
	assert_int_equal(usage.reserved_high, 4 * BLOCK);
	gkf_mem_pool_release(ask.pool);
	assert_int_equal(gkf_space_free(at[0]), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

/* Others can get the memory that a pool has in reserve. */
static void memory_in_reserve_is_there_for_all(void **state)
{
	uint64_t all = free_bytes(0) / BLOCK * BLOCK, at;
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE,
				     .size = all / 2};
	struct gkf_mem_pool_usage usage;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 0, &ask.pool), 0);
	gkf_mem_pool_keep(ask.pool, UINT64_MAX);
	assert_int_equal(gkf_space_alloc(&ask, &at), 0);
	assert_int_equal(gkf_space_free(at), 0);
	assert_true(gkf_held_bytes(fx.m, 0) >= all / 2);
	at = alloc(0, all);
	gkf_mem_pool_read(ask.pool, &usage);
	assert_int_equal(usage.reserved, 0);
	assert_int_equal(gkf_space_free(at), 0);
	ask.size = all;
	assert_int_equal(gkf_space_alloc(&ask, &at), 0);
	assert_int_equal(gkf_space_free(at), 0);
	gkf_mem_pool_release(ask.pool);
}

static uint64_t moved_to(unsigned device)
{
	return atomic_load(&fx.file->slot[slots[device]].managed);
}

/*
 * How much less a device holds when a piece is freed: 0 if it had been evicted.
 */
static uint64_t leaving(uint64_t address, uint64_t size)
{
	uint64_t before = moved_to(0);

	gkf_space_move(address, size, GKF_SPACE_HOST);
	return before - moved_to(0);
}

/* Three pieces of three blocks are evicted in the order in which they came. */
static void managed_memory_leaves_in_its_order(void **state)
{
	uint64_t at[3], filler, wanted;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(
		    try_alloc(GKF_MEMORY_MANAGED, 0, 3 * BLOCK, &at[i]), 0);
		gkf_space_move(at[i], 3 * BLOCK, 0);
		/* There was room: none was evicted. */
		assert_int_equal(moved_to(0), (i + 1) * 3 * BLOCK);
	}
	filler = alloc(0, free_bytes(0) / BLOCK * BLOCK);
	wanted = alloc(0, 3 * BLOCK);
	assert_int_equal(moved_to(0), 6 * BLOCK);
	gkf_space_free(wanted);
	gkf_space_move(at[0], 3 * BLOCK, 0); /* now it came last */
	assert_int_equal(moved_to(0), 9 * BLOCK);
	wanted = alloc(0, 2 * BLOCK);
	assert_int_equal(moved_to(0), 7 * BLOCK);
	gkf_space_free(wanted);
	gkf_space_free(filler);
	assert_int_equal(leaving(at[1], 3 * BLOCK), BLOCK);
	assert_int_equal(leaving(at[2], 3 * BLOCK), 3 * BLOCK);
	assert_int_equal(leaving(at[0], 3 * BLOCK), 3 * BLOCK);
	gkf_space_drop(&fx);
}

/* Only as much is evicted as necessary, and the new piece has room. */
static void managed_memory_makes_room_for_itself(void **state)
{
	uint64_t first, second, filler;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 4 * BLOCK, &first),
			 0);
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 3 * BLOCK, &second),
			 0);
	gkf_space_move(first, 4 * BLOCK, 0);
	filler = alloc(0, free_bytes(0) / BLOCK * BLOCK);
	assert_int_equal(moved_to(0), 4 * BLOCK);
	gkf_space_move(second, 3 * BLOCK, 0);
	assert_int_equal(moved_to(0), 4 * BLOCK);
	assert_int_equal(leaving(second, 3 * BLOCK), 3 * BLOCK);
	assert_int_equal(leaving(first, 4 * BLOCK), BLOCK);
	gkf_space_free(filler);
	gkf_space_drop(&fx);
}

struct shaker {
	pthread_t thread;
	uint64_t seed;
	_Atomic bool *stop;
	uint64_t finds;
};

static void *shake(void *data)
{
	struct shaker *s = data;
	uint64_t at[32] = {0}, size[32];
	struct gkf_extent e;

	for (unsigned n = 0; n < 4000; n++) {
		unsigned i = (unsigned)(random_word(&s->seed) % 32);

		if (at[i] && gkf_space_free(at[i]))
			return (
			    void
				*)(uintptr_t) "a live piece could not be freed";
		size[i] = 1 + random_word(&s->seed) % (n % 16 ? 4096 : 4 * MIB);
		if (try_alloc(GKF_MEMORY_DEVICE, 0, size[i], &at[i]))
			return (void *)(uintptr_t) "no memory";
		i = (unsigned)(random_word(&s->seed) % 32);
		if (at[i] && (!gkf_space_find(at[i] + size[i] - 1, &e) ||
			      e.base != at[i] || e.size != size[i]))
			return (void *)(uintptr_t) "a live piece was not found";
	}
	for (unsigned i = 0; i < 32; i++)
		if (at[i])
			gkf_space_free(at[i]);
	return NULL;
}

/* Reads whatever there may be, which must never be half of something. */
static void *look(void *data)
{
	struct shaker *s = data;
	uint64_t first = alloc(0, 512);
	struct gkf_extent e;

	while (!atomic_load(s->stop) || s->finds < 1000) {
		uint64_t at = first + random_word(&s->seed) % (64 * MIB);

		if (gkf_space_find(at, &e) &&
		    (at - e.base >= e.size || e.owner != &fx))
			return (void *)(uintptr_t) "half of a piece";
		s->finds++;
	}
	gkf_space_free(first);
	return NULL;
}

static void threads_share_a_device(void **state)
{
	_Atomic bool stop = false;
	struct shaker s[5];
	void *trouble;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		s[i] = (struct shaker){.seed = 99 + i, .stop = &stop};
		assert_int_equal(
		    pthread_create(&s[i].thread, NULL, i ? shake : look, &s[i]),
		    0);
	}
	for (unsigned i = 1; i < 6; i++) {
		if (i == 5)
			atomic_store(&stop, true);
		pthread_join(s[i % 5].thread, &trouble);
		if (trouble)
			fail_msg("%s", (char *)trouble);
	}
	assert_true(s[0].finds > 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SPACE_TEST(a_piece_is_found_by_any_of_its_bytes),
	    SPACE_TEST(a_view_shows_the_bytes_of_a_piece),
	    SPACE_TEST(the_host_faults_at_device_memory),
	    SPACE_TEST(the_ledger_is_charged_in_blocks),
	    SPACE_TEST(memory_ends_exactly_where_the_ledger_ends),
	    SPACE_TEST(freed_memory_is_kept_for_the_next),
	    SPACE_TEST(what_is_kept_is_counted_right),
	    SPACE_TEST(pieces_at_random_never_overlap),
	    SPACE_TEST(many_pieces_live_beside_each_other),
	    SPACE_TEST(managed_memory_has_one_address),
	    SPACE_TEST(host_memory_is_the_childs_too),
	    SPACE_TEST(registered_memory_is_found),
	    SPACE_TEST(a_pool_keeps_up_to_its_threshold),
	    SPACE_TEST(memory_in_reserve_is_there_for_all),
	    SPACE_TEST(managed_memory_leaves_in_its_order),
	    SPACE_TEST(managed_memory_makes_room_for_itself),
	    SPACE_TEST(threads_share_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
