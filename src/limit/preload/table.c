/*
 * table.c - rows by key: shards with a lock each, in which rows lie as near to
 * their place as there was room (linear probing without gaps).
 */
#include "limit/preload/table.h"

#include <string.h>
#include <sys/mman.h>

#define ROOM_FIRST 128u

static uint64_t hash_key(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

static struct table_shard *lock_shard(struct table *t, uint64_t key)
{
	struct table_shard *s = &t->shard[hash_key(key) >> 58];

	pthread_mutex_lock(&s->lock);
	return s;
}

static uint32_t place_of(const struct table_shard *s, uint64_t key)
{
	return (uint32_t)hash_key(key) & (s->room - 1);
}

/* Where a key is, or the free place where it belongs. There is a free one. */
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

/* Twice the room, so that a search meets few others. */
static bool grow_shard(struct table_shard *s)
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
	struct table_shard *s = lock_shard(t, row->key);
	bool ok = s->count < s->room / 2 || grow_shard(s);
	struct table_row *to;

	if (ok) {
		to = &s->row[find_place(s, row->key)];
		s->count += !to->key;
		*to = *row;
	}
	pthread_mutex_unlock(&s->lock);
	return ok;
}

/* Those that follow move up, if that brings them nearer to their place. */
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
	struct table_shard *s = lock_shard(t, key);
	uint32_t i = s->room ? find_place(s, key) : 0;
	bool found = s->room && s->row[i].key;

	if (found)
		*ret_row = s->row[i];
	if (found && take)
		remove_row(s, i);
	pthread_mutex_unlock(&s->lock);
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
 * A row that moves up into a hole is looked at there. One that comes from the
 * front of the shard to its end was looked at already, and once more does no
 * harm: it stayed.
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
		pthread_mutex_lock(&t->shard[i].lock);
		sweep_shard(&t->shard[i], is_gone, arg);
		pthread_mutex_unlock(&t->shard[i].lock);
	}
}
