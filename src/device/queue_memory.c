/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_memory.c - allocates tasks, which one thread pushes and another frees.
 * Freed tasks are kept in lists by size; their pages are never unmapped.
 */
#include "device/queue_private.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK 65536

/*
 * The sizes in which tasks are allocated, indexed by `room`. Larger tasks come
 * from malloc() and have `room` 0.
 */
static const uint32_t rooms[] = {0, 128, 256, 512, 1024, 5120};
#define ROOMS (sizeof rooms / sizeof rooms[0])

static struct {
	struct {
		pthread_mutex_t lock;
		struct gkf_task *free;
	} room[ROOMS];
	pthread_mutex_t lock;
	char *chunk; /* unused part of the newest chunk */
	size_t left;
} memory;

void *gkf_lasting(size_t size)
{
	char *at = NULL;

	size = (size + GKF_CACHE_LINE - 1) & ~(size_t)(GKF_CACHE_LINE - 1);
	pthread_mutex_lock(&memory.lock);
	if (memory.left < size) {
		at = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED) {
			at = NULL;
			goto out;
		}
		memory.chunk = at;
		memory.left = CHUNK;
	}
	at = memory.chunk;
	memory.chunk += size;
	memory.left -= size;
out:
	pthread_mutex_unlock(&memory.lock);
	return at;
}

static uint32_t room_for(size_t size)
{
	for (uint32_t room = 1; room < ROOMS; room++) {
		if (size <= rooms[room])
			return room;
	}
	return 0;
}

static struct gkf_task *take_free(uint32_t room)
{
	struct gkf_task *task;

	GK_ASSERT(room > 0 && room < ROOMS);
	pthread_mutex_lock(&memory.room[room].lock);
	task = memory.room[room].free;
	if (task)
		memory.room[room].free = task->next;
	pthread_mutex_unlock(&memory.room[room].lock);
	return task ? task : gkf_lasting(rooms[room]);
}

void *gkf_task_new(size_t size)
{
	uint32_t room = room_for(size);
	struct gkf_task *task = room ? take_free(room) : malloc(size);

	if (task) {
		memset(task, 0, sizeof *task);
		task->room = room;
	}
	return task;
}

void gkf_task_free(void *freed)
{
	struct gkf_task *task = freed;

	if (!task)
		return;
	if (!task->room) {
		free(task);
		return;
	}
	pthread_mutex_lock(&memory.room[task->room].lock);
	task->next = memory.room[task->room].free;
	memory.room[task->room].free = task;
	pthread_mutex_unlock(&memory.room[task->room].lock);
}

void gkf_memory_forget(void)
{
	memset(&memory, 0, sizeof memory);
}
