/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - owns rows by key, in shards with a lock each. A key determines the
 * home of its row, and the row lies there or at the next free index (linear
 * probing without gaps). Neighbouring addresses have neighbouring homes,
 * because a program often frees what it has just allocated.
 */
#include "limit/preload/table.h"
#include "base/futex.h"

#include <sched.h>
#include <sys/mman.h>

#define ROOM_FIRST 128u
#define STEP_BITS  9 /* addresses are multiples of 512 */
#define GROUP_BITS 4 /* log2 of how many neighbours lie together */
#define SPINS      100

static uint64_t hash_group(uint64_t key)
{
	uint64_t h = (key >> (STEP_BITS + GROUP_BITS)) * 0x9e3779b97f4a7c15ULL;

	return h ^ h >> 29;
}

/*
 * A thread holds the lock only while it copies a row or, now and then, moves
 * rows.
 */
static inline bool try_lock(struct table_shard *s)
{
	return !atomic_exchange_explicit(&s->lock, 1, memory_order_acquire);
}

__attribute__((noinline, cold)) static void await_shard(struct table_shard *s)
{
	for (unsigned i = 1; !try_lock(s); i++) {
		if (i % SPINS)
			gk_cpu_pause();
		else
			sched_yield();
	}
}

static inline void lock_shard(struct table_shard *s)
{
	if (!try_lock(s))
		await_shard(s);
}

static struct table_shard *locked_shard(struct table *t, uint64_t key)
{
	struct table_shard *s = &t->shard[hash_group(key) >> 58];

	lock_shard(s);
	return s;
}

static void unlock_shard(struct table_shard *s)
{
	atomic_store_explicit(&s->lock, 0, memory_order_release);
}

static uint32_t place_of(const struct table_shard *s, uint64_t key)
{
	uint32_t group = (uint32_t)hash_group(key) << GROUP_BITS;
	uint32_t step = (uint32_t)(key >> STEP_BITS) & ((1u << GROUP_BITS) - 1);

	return (group | step) & (s->room - 1);
}

/* The index of a key's row, or a free index for it; there always is one. */
static uint32_t find_place(const struct table_shard *s, uint64_t key)
{
	uint32_t i = place_of(s, key);

	while (s->row[i].key && s->row[i].key != key)
		i = (i + 1) & (s->room - 1);
	return i;
}

static struct table_row *map_rows(uint32_t room)
{
	void *p =
	    mmap(NULL, room * sizeof(struct table_row), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Doubles the size, so that a search meets few other rows. */
__attribute__((noinline, cold)) static bool grow_shard(struct table_shard *s)
{
	struct table_shard next = {.room = s->room ? 2 * s->room : ROOM_FIRST};

	next.row = map_rows(next.room);
	if (!next.row)
		return false;
	for (uint32_t i = 0; i < s->room; i++)
		if (s->row[i].key)
			next.row[find_place(&next, s->row[i].key)] = s->row[i];
	if (s->room)
		munmap(s->row, s->room * sizeof(*s->row));
	s->row = next.row;
	s->room = next.room;
	return true;
}

bool table_put(struct table *t, const struct table_row *row)
{
	struct table_shard *s = locked_shard(t, row->key);
	bool ok = s->count < s->room / 2 || grow_shard(s);
	struct table_row *to;

	if (ok) {
		to = &s->row[find_place(s, row->key)];
		s->count += !to->key;
		*to = *row;
	}
	unlock_shard(s);
	return ok;
}

/*
 * Removes a row. The rows that follow move up if that brings them nearer to
 * their homes.
 */
static void remove_row(struct table_shard *s, uint32_t hole)
{
	uint32_t mask = s->room - 1;

	for (uint32_t i = (hole + 1) & mask; s->row[i].key;
	     i = (i + 1) & mask) {
		uint32_t home = place_of(s, s->row[i].key);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		s->row[hole] = s->row[i];
		hole = i;
	}
	s->row[hole].key = 0;
	s->count--;
}

static bool look_up(struct table *t, uint64_t key, bool take,
		    struct table_row *ret_row)
{
	struct table_shard *s = locked_shard(t, key);
	uint32_t i = s->room ? find_place(s, key) : 0;
	bool found = s->room && s->row[i].key;

	if (found)
		*ret_row = s->row[i];
	if (found && take)
		remove_row(s, i);
	unlock_shard(s);
	return found;
}

bool table_find(struct table *t, uint64_t key, struct table_row *ret_row)
{
	return key && look_up(t, key, false, ret_row);
}

bool table_take(struct table *t, uint64_t key, struct table_row *ret_row)
{
	return key && look_up(t, key, true, ret_row);
}

/*
 * When a row is removed, a later row may move to its index, which is therefore
 * examined again. A row that moves from the front of the shard to its end is
 * examined twice, which is harmless.
 */
static void sweep_shard(struct table_shard *s,
			bool (*is_gone)(const struct table_row *row, void *arg),
			void *arg)
{
	for (uint32_t i = 0; i < s->room;) {
		if (s->row[i].key && is_gone(&s->row[i], arg))
			remove_row(s, i);
		else
			i++;
	}
}

void table_sweep(struct table *t,
		 bool (*is_gone)(const struct table_row *row, void *arg),
		 void *arg)
{
	for (unsigned i = 0; i < TABLE_SHARDS; i++) {
		lock_shard(&t->shard[i]);
		sweep_shard(&t->shard[i], is_gone, arg);
		unlock_shard(&t->shard[i]);
	}
}
