/* SPDX-License-Identifier: Apache-2.0 */
/* native_handle.c - creates, checks and ends handles of libraries. */
#include "fronts/common/native_handle.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *native_handle_new(struct native_handles *all)
{
	struct native_handle *h;

	pthread_mutex_lock(&all->lock);
	h = all->ended;
	if (h)
		all->ended = h->next;
	pthread_mutex_unlock(&all->lock);
	if (!h)
		h = malloc(all->size);
	if (!h)
		return NULL;
	memset(h, 0, all->size);
	atomic_store(&h->mark, all->mark);
	return h;
}

void native_handle_end(struct native_handles *all, void *handle)
{
	struct native_handle *h = handle;

	/* If two threads try to end the same handle, only one succeeds. */
	if (atomic_exchange(&h->mark, 0) != all->mark)
		return;
	pthread_mutex_lock(&all->lock);
	h->next = all->ended;
	all->ended = h;
	pthread_mutex_unlock(&all->lock);
}

bool native_is_handle(const void *handle, enum native_mark mark)
{
	const struct native_handle *h = handle;

	return h && atomic_load(&h->mark) == mark;
}
