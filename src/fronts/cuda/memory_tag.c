/*
 * memory_tag.c - keeps notes of the few pieces of memory that need one: a table
 * of notes by the piece's id, open addressing, one lock.
 */
#include "fronts/cuda/memory.h"

#include <pthread.h>
#include <stdlib.h>

#define GONE UINT64_MAX /* a place that was taken once */

static struct {
	pthread_mutex_t lock;
	_Atomic unsigned count; /* 0: nobody need look */
	unsigned used, room;    /* places taken once; a power of two */
	struct memory_tag *place;
} notes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned place_of_tag(uint64_t id)
{
	return (unsigned)(id * 0x9e3779b97f4a7c15ULL >> 32) & (notes.room - 1);
}

static struct memory_tag *find_memory_tag(uint64_t id)
{
	unsigned at;

	if (!notes.room)
		return NULL;
	for (at = place_of_tag(id); notes.place[at].id;
	     at = (at + 1) & (notes.room - 1))
		if (notes.place[at].id == id)
			return &notes.place[at];
	return NULL;
}

/* The id is in no place yet. */
static struct memory_tag *put_tag(const struct memory_tag *note)
{
	unsigned at = place_of_tag(note->id);

	while (notes.place[at].id && notes.place[at].id != GONE)
		at = (at + 1) & (notes.room - 1);
	if (!notes.place[at].id)
		notes.used++;
	notes.place[at] = *note;
	return &notes.place[at];
}

/* Doubles when the living fill a quarter; else cleans up. */
static bool rebuild(void)
{
	struct memory_tag *old = notes.place;
	unsigned room = notes.room;
	unsigned more = notes.count >= room / 4 ? 2 * room : room;
	struct memory_tag *place = calloc(more ? more : 64, sizeof(*place));

	if (!place)
		return false;
	notes.place = place;
	notes.room = more ? more : 64;
	notes.used = 0;
	for (unsigned i = 0; i < room; i++)
		if (old[i].id && old[i].id != GONE)
			put_tag(&old[i]);
	free(old);
	return true;
}

static struct memory_tag *make_note(uint64_t id)
{
	const struct memory_tag fresh = {.id = id};

	if (notes.used >= notes.room / 2 && !rebuild())
		return NULL;
	notes.count++;
	return put_tag(&fresh);
}

struct memory_tag *note_open(const struct gkf_extent *e, bool make)
{
	struct memory_tag *note;

	if (!make && !notes.count)
		return NULL;
	pthread_mutex_lock(&notes.lock);
	note = find_memory_tag(e->id);
	if (!note && make)
		note = make_note(e->id);
	if (!note)
		pthread_mutex_unlock(&notes.lock);
	return note;
}

void note_close(void)
{
	pthread_mutex_unlock(&notes.lock);
}

void note_drop(const struct gkf_extent *e)
{
	struct memory_tag *note = note_open(e, false);

	if (!note)
		return;
	free(note->stretch);
	*note = (struct memory_tag){.id = GONE};
	notes.count--;
	note_close();
}

bool note_is_sync(const struct gkf_extent *e)
{
	struct memory_tag *note = note_open(e, false);
	bool sync = note && note->sync_memops;

	if (note)
		note_close();
	return sync;
}

bool note_is_leaving(const struct gkf_extent *e)
{
	struct memory_tag *note = note_open(e, false);
	bool leaving = note && note->leaving;

	if (note)
		note_close();
	return leaving;
}
