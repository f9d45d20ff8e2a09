/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - owns the table of plans. */
#include "base/assert.h"
#include "fronts/cufft/front.h"

#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	struct plan **plans; /* [i]: plan of handle i + 1; NULL: destroyed */
	size_t count, room;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool make_room(void)
{
	size_t room = table.room ? 2 * table.room : 64;
	struct plan **plans;

	if (table.count < table.room)
		return true;
	plans = realloc(table.plans, room * sizeof(struct plan *));
	if (!plans)
		return false;
	table.plans = plans;
	table.room = room;
	return true;
}

cufftResult plan_new(cufftHandle *ret)
{
	struct plan *p = calloc(1, sizeof *p);
	cufftResult r = CUFFT_ALLOC_FAILED;

	pthread_mutex_lock(&table.lock);
	if (p && make_room()) {
		table.plans[table.count++] = p;
		*ret = (cufftHandle)table.count;
		p = NULL;
		r = CUFFT_SUCCESS;
	}
	pthread_mutex_unlock(&table.lock);
	free(p);
	return r;
}

/*
 * Returns the slot of a handle's plan, or NULL if there is no such handle. The
 * caller holds table.lock.
 */
static struct plan **find_place(cufftHandle handle)
{
	GK_ASSERT(gk_lock_held(&table.lock));
	return handle > 0 && (size_t)handle <= table.count
		   ? &table.plans[handle - 1]
		   : NULL;
}

struct plan *plan_find(cufftHandle handle)
{
	struct plan **at, *p;

	pthread_mutex_lock(&table.lock);
	at = find_place(handle);
	p = at ? *at : NULL;
	pthread_mutex_unlock(&table.lock);
	return p;
}

cufftResult plan_free(cufftHandle handle)
{
	struct plan **at, *p = NULL;

	pthread_mutex_lock(&table.lock);
	at = find_place(handle);
	if (at) {
		p = *at;
		*at = NULL;
	}
	pthread_mutex_unlock(&table.lock);
	free(p);
	return p ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
