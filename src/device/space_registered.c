/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_registered.c - owns the table of host memory that the program has
 * registered (page-locked): disjoint ranges, sorted by address.
 */
#include "base/assert.h"
#include "base/err.h"
#include "device/space_arena.h"

#include <stdlib.h>
#include <string.h>

static struct {
	pthread_rwlock_t lock;
	/* number of rows; while it is 0, lookups take no lock */
	_Atomic unsigned count;
	unsigned room;
	struct piece_words *row;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/*
 * Returns the index of the first row that ends after an address. The caller
 * holds table.lock.
 */
static unsigned place_of_address(uint64_t address)
{
	unsigned low = 0, high = atomic_load(&table.count);

	GK_ASSERT(gk_rwlock_held(&table.lock));
	while (low < high) {
		unsigned middle = (low + high) / 2;
		const struct piece_words *w = &table.row[middle];

		if (w->base + w->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_row_room(void)
{
	unsigned room = table.room ? 2 * table.room : 64;
	struct piece_words *row;

	if (atomic_load(&table.count) < table.room)
		return true;
	row = realloc(table.row, room * sizeof(*row));
	if (!row)
		return false;
	table.row = row;
	table.room = room;
	return true;
}

static int insert_piece(const struct piece_words *words)
{
	unsigned count = atomic_load(&table.count);
	unsigned at = place_of_address(words->base);

	if (at < count && table.row[at].base < words->base + words->size)
		return GK_ERR_EXISTS;
	if (!make_row_room())
		return GK_ERR_NOMEM;
	memmove(&table.row[at + 1], &table.row[at],
		(count - at) * sizeof(*words));
	table.row[at] = *words;
	atomic_store(&table.count, count + 1);
	return 0;
}

int registered_add(const struct gkf_memory_ask *ask, uint64_t *ret_address)
{
	struct piece_words words = {.base = (uintptr_t)ask->host,
				    .size = ask->size,
				    .owner = (uintptr_t)ask->owner,
				    .kind = ask->kind,
				    .device = ask->device,
				    .flags = ask->flags};
	int r;

	words.id = space_id();
	pthread_rwlock_wrlock(&table.lock);
	r = insert_piece(&words);
	pthread_rwlock_unlock(&table.lock);
	if (!r)
		*ret_address = words.base;
	return r;
}

static void take_out_row(unsigned at)
{
	unsigned count = atomic_load(&table.count) - 1;

	memmove(&table.row[at], &table.row[at + 1],
		(count - at) * sizeof(*table.row));
	atomic_store(&table.count, count);
}

int registered_remove(uint64_t base)
{
	int r = GK_ERR_NOT_FOUND;
	unsigned at;

	pthread_rwlock_wrlock(&table.lock);
	at = place_of_address(base);
	if (at < atomic_load(&table.count) && table.row[at].base == base) {
		take_out_row(at);
		r = 0;
	}
	pthread_rwlock_unlock(&table.lock);
	return r;
}

bool registered_find(uint64_t address, struct piece_words *ret_words)
{
	bool found;
	unsigned at;

	if (!atomic_load_explicit(&table.count, memory_order_acquire))
		return false;
	pthread_rwlock_rdlock(&table.lock);
	at = place_of_address(address);
	found = at < atomic_load(&table.count) && table.row[at].base <= address;
	if (found)
		*ret_words = table.row[at];
	pthread_rwlock_unlock(&table.lock);
	return found;
}

void registered_drop(const void *owner)
{
	pthread_rwlock_wrlock(&table.lock);
	for (unsigned i = atomic_load(&table.count); i--;)
		if (table.row[i].owner == (uintptr_t)owner)
			take_out_row(i);
	pthread_rwlock_unlock(&table.lock);
}

/* Called after fork() in the child. */
void registered_forget(void)
{
	pthread_rwlock_init(&table.lock, NULL);
	atomic_store(&table.count, 0);
	table.room = 0;
	table.row = NULL;
}
