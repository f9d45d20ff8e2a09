/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_tag.c - owns the tags of the few pieces of memory that need one: a
 * hash table with open addressing, keyed by the piece's id and guarded by one
 * lock.
 */
#include "base/assert.h"
#include "fronts/cuda/memory/memory.h"

#include <pthread.h>
#include <stdlib.h>

#define GONE UINT64_MAX /* the id of a deleted entry */

static struct {
	pthread_mutex_t lock;
	/* number of tags; while it is 0, lookups take no lock */
	_Atomic unsigned count;
	/* `used` includes deleted entries; `room` is a power of two */
	unsigned used, room;
	struct memory_tag *place;
} tags = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned place_of_tag(uint64_t id)
{
	return (unsigned)(id * 0x9e3779b97f4a7c15ULL >> 32) & (tags.room - 1);
}

static struct memory_tag *find_memory_tag(uint64_t id)
{
	unsigned at;

	GK_ASSERT(gk_lock_held(&tags.lock));
	if (!tags.room)
		return NULL;
	for (at = place_of_tag(id); tags.place[at].id;
	     at = (at + 1) & (tags.room - 1))
		if (tags.place[at].id == id)
			return &tags.place[at];
	return NULL;
}

/* The id must not be in the table yet. */
static struct memory_tag *put_tag(const struct memory_tag *tag)
{
	unsigned at = place_of_tag(tag->id);

	GK_ASSERT(!find_memory_tag(tag->id));
	while (tags.place[at].id && tags.place[at].id != GONE)
		at = (at + 1) & (tags.room - 1);
	if (!tags.place[at].id)
		tags.used++;
	tags.place[at] = *tag;
	return &tags.place[at];
}

/*
 * Removes deleted entries. Doubles the table if live entries fill a quarter of
 * it.
 */
static bool rebuild_tags(void)
{
	struct memory_tag *old = tags.place;
	unsigned room = tags.room;
	unsigned more = tags.count >= room / 4 ? 2 * room : room;
	struct memory_tag *place = calloc(more ? more : 64, sizeof(*place));

	if (!place)
		return false;
	tags.place = place;
	tags.room = more ? more : 64;
	tags.used = 0;
	for (unsigned i = 0; i < room; i++)
		if (old[i].id && old[i].id != GONE)
			put_tag(&old[i]);
	free(old);
	return true;
}

static struct memory_tag *make_tag(uint64_t id)
{
	const struct memory_tag fresh = {.id = id};

	if (tags.used >= tags.room / 2 && !rebuild_tags())
		return NULL;
	tags.count++;
	return put_tag(&fresh);
}

struct memory_tag *tag_open(const struct gkf_extent *e, bool make)
{
	struct memory_tag *tag;

	if (!make && !tags.count)
		return NULL;
	pthread_mutex_lock(&tags.lock);
	tag = find_memory_tag(e->id);
	if (!tag && make)
		tag = make_tag(e->id);
	if (!tag)
		pthread_mutex_unlock(&tags.lock);
	return tag;
}

void tag_close(void)
{
	pthread_mutex_unlock(&tags.lock);
}

void tag_drop(const struct gkf_extent *e)
{
	struct memory_tag *tag = tag_open(e, false);

	if (!tag)
		return;
	free(tag->stretch);
	*tag = (struct memory_tag){.id = GONE};
	tags.count--;
	tag_close();
}

bool tag_is_sync(const struct gkf_extent *e)
{
	struct memory_tag *tag = tag_open(e, false);
	bool sync = tag && tag->sync_memops;

	if (tag)
		tag_close();
	return sync;
}

bool tag_is_leaving(const struct gkf_extent *e)
{
	struct memory_tag *tag = tag_open(e, false);
	bool leaving = tag && tag->leaving;

	if (tag)
		tag_close();
	return leaving;
}
