/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - owns a range of addresses for each kind of handle, divided into
 * slots of equal size, so that a value can be checked without dereferencing it.
 * Freed slots wait in a queue. The oldest is reused only when enough others are
 * waiting, so that stale handles are recognised for a long time.
 */
#include "fronts/cuda/context/handle.h"
#include "base/assert.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Bytes of address space for each kind; fewer if RLIMIT_AS makes it scarce. */
#define RANGE_MOST   (256u << 20)
#define RANGE_SCARCE (16u << 20)
#define RANGE_LEAST  (1u << 20)

/*
 * Memory becomes usable in steps. The first step has the smaller size; the size
 * then doubles up to the larger one.
 */
#define STEP_MOST  (4u << 20)
#define STEP_LEAST (64u << 10)

/* The number of freed slots that wait before one is reused. */
#define WAITING 1024

/*
 * A function of LeakSanitizer, which then treats everything that handles point
 * to as reachable.
 */
extern __attribute__((weak)) void __lsan_register_root_region(const void *base,
							      size_t size);

struct slab {
	/* Written once, before `high` is set. */
	char *base;
	size_t stride, range;
	_Atomic size_t high; /* bytes from `base` used so far */
	/* Guarded by `lock`. */
	pthread_mutex_t lock;
	size_t usable;
	/*
	 * The queue of freed slots: index + 1 of the oldest and of the newest
	 * (0: none), and the number of slots that wait in it.
	 */
	uint32_t oldest, newest, waiting;
} __attribute__((aligned(64)));

static struct slab slabs[HANDLE_KINDS] = {
    [0 ... HANDLE_KINDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

/*
 * Returns the distance between slots: a power of two, so that the slot of an
 * address is found by masking.
 */
static size_t stride_of(size_t size)
{
	size_t stride = 64;

	while (stride < size + sizeof(struct handle_head))
		stride *= 2;
	return stride;
}

static size_t range_wanted(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY
		   ? RANGE_SCARCE
		   : RANGE_MOST;
}

static bool reserve_slab(struct slab *s, size_t size)
{
	size_t range = range_wanted();
	void *base;

	do {
		base = mmap(NULL, range, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	} while (base == MAP_FAILED && (range /= 2) >= RANGE_LEAST);
	if (base == MAP_FAILED)
		return false;
	s->stride = stride_of(size);
	s->range = range;
	s->base = base;
	if (__lsan_register_root_region)
		__lsan_register_root_region(base, range);
	return true;
}

/* Makes more memory usable, after the last slot. */
static bool grow_slab(struct slab *s)
{
	size_t step = s->usable < STEP_LEAST ? STEP_LEAST : s->usable;

	step = step < STEP_MOST ? step : STEP_MOST;
	step = step < s->range - s->usable ? step : s->range - s->usable;
	if (!step ||
	    mprotect(s->base + s->usable, step, PROT_READ | PROT_WRITE))
		return false;
	s->usable += step;
	return true;
}

static struct handle_head *place_in_slab(const struct slab *s, size_t offset)
{
	return (struct handle_head *)(void *)(s->base + offset);
}

/* Removes from the queue the slot that was freed first. */
static struct handle_head *take_dead(struct slab *s)
{
	struct handle_head *head;

	if (!s->oldest)
		return NULL;
	head = place_in_slab(s, (s->oldest - 1) * s->stride);
	s->oldest = head->next;
	s->waiting--;
	return head;
}

static struct handle_head *take_handle(struct slab *s)
{
	size_t at = atomic_load_explicit(&s->high, memory_order_relaxed);

	if (s->waiting > WAITING)
		return take_dead(s);
	if (at + s->stride > s->usable && !grow_slab(s))
		return take_dead(s);
	atomic_store_explicit(&s->high, at + s->stride, memory_order_release);
	return place_in_slab(s, at);
}

/*
 * Written with atomic word stores, because another thread may be reading
 * through a stale handle.
 */
static void clear_handle(struct handle_head *head, size_t bytes)
{
	uint64_t *word = (uint64_t *)(head + 1);

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		__atomic_store_n(&word[i], 0, __ATOMIC_RELAXED);
}

void *handle_new(enum handle_kind kind, size_t size)
{
	struct slab *s = &slabs[kind];
	struct handle_head *head = NULL;

	GK_ASSERT(kind > 0 && kind < HANDLE_KINDS);
	pthread_mutex_lock(&s->lock);
	if ((s->base || reserve_slab(s, size)) && stride_of(size) <= s->stride)
		head = take_handle(s);
	pthread_mutex_unlock(&s->lock);
	if (!head)
		return NULL;
	clear_handle(head, s->stride - sizeof(*head));
	head->kind = kind;
	atomic_fetch_add_explicit(&head->life, 1, memory_order_release);
	return head + 1;
}

void handle_end(void *handle)
{
	struct handle_head *head = (struct handle_head *)handle - 1;

	atomic_fetch_add_explicit(&head->life, 1, memory_order_release);
}

void handle_recycle(void *handle)
{
	struct handle_head *head = (struct handle_head *)handle - 1;
	struct slab *s = &slabs[head->kind];
	uint32_t at;

	pthread_mutex_lock(&s->lock);
	at = (uint32_t)((size_t)((char *)head - s->base) / s->stride) + 1;
	head->next = 0;
	if (s->oldest)
		place_in_slab(s, (s->newest - 1) * s->stride)->next = at;
	else
		s->oldest = at;
	s->newest = at;
	s->waiting++;
	pthread_mutex_unlock(&s->lock);
}

void handle_free(void *handle)
{
	handle_end(handle);
	handle_recycle(handle);
}

/* Returns the `life` counter of the slot at an address; 0: not a slot. */
static uint64_t life_at(const void *handle, enum handle_kind kind)
{
	const struct slab *s = &slabs[kind];
	size_t high = atomic_load_explicit(&s->high, memory_order_acquire);
	size_t offset;

	if (!high)
		return 0;
	offset =
	    (uintptr_t)handle - sizeof(struct handle_head) - (uintptr_t)s->base;
	if (offset >= high || offset & (s->stride - 1))
		return 0;
	return handle_life(handle);
}

bool handle_is(const void *handle, enum handle_kind kind)
{
	return life_at(handle, kind) & 1;
}
