/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_resident.c - records which blocks of managed memory are on which
 * device. Their bytes never move. The device is charged for the blocks until
 * they leave the device, are freed, or the device needs the memory for
 * something else.
 */
#include "base/assert.h"
#include "base/err.h"
#include "device/space_arena.h"
#include "machine/file/numbers.h"
#include "machine/store/process/books.h"

#include <stddef.h>
#include <sys/mman.h>

/*
 * Order of locks: the lock of an arena, resident.lock, the lock of the books.
 */
static struct {
	pthread_mutex_t lock;
	unsigned char *at; /* for each block: its device + 1, or 0 */
	uint32_t blocks;
	uint32_t held[GKF_DEVICES_MAX]; /* number of blocks on each device */
	/* for each device: blocks that left the device but are still charged */
	uint32_t owed[GKF_DEVICES_MAX];
	uint32_t hand; /* block where the next eviction starts */
} resident = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Static_assert(GKF_DEVICES_MAX < 255, "a device is a byte");

bool arena_still_charged(int error)
{
	return error && error != GK_ERR_NOT_FOUND && error != GK_ERR_RANGE;
}

static bool make_table(const struct arena *managed)
{
	uint32_t blocks = (uint32_t)(managed->size / BLOCK_SIZE);
	void *at;

	if (resident.at)
		return true;
	at = mmap(NULL, blocks, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	resident.at = at;
	resident.blocks = blocks;
	return true;
}

/* ---- which block is where; the caller holds resident.lock ---- */

/*
 * Refunds the blocks counted in resident.owed for a device. Returns false if
 * the books could not be changed.
 */
static bool settle_owed(const struct arena *device)
{
	uint32_t *owed = &resident.owed[device->device];

	GK_ASSERT(gk_lock_held(&resident.lock));
	if (*owed && device->machine &&
	    arena_still_charged(gkf_books_refund_managed(
		device->machine, device->slot, *owed * BLOCK_SIZE))) {
		atomic_store(&device_arena(device->device)->owes, true);
		return false;
	}
	*owed = 0;
	return true;
}

static void settle_all(void)
{
	GK_ASSERT(gk_lock_held(&resident.lock));
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		if (resident.owed[i])
			settle_owed(device_arena(i));
}

/*
 * Removes at most `most` blocks of [from, to) from a device, and counts them as
 * still to be refunded. Returns the number removed.
 */
static uint32_t leave_blocks(const struct arena *device, uint32_t from,
			     uint32_t to, uint32_t most)
{
	uint32_t left = 0;

	GK_ASSERT(gk_lock_held(&resident.lock));
	for (uint32_t i = from; i < to && left < most; i++)
		if (resident.at[i] == device->device + 1) {
			resident.at[i] = 0;
			resident.hand = i + 1;
			left++;
		}
	resident.held[device->device] -= left;
	resident.owed[device->device] += left;
	return left;
}

/*
 * Evicts blocks in turn, which is roughly the oldest first. Returns false if
 * the device has no more free memory than before.
 */
static bool evict_blocks(const struct arena *device, uint32_t blocks)
{
	uint32_t hand = resident.hand, most = resident.held[device->device];
	uint32_t left;

	GK_ASSERT(gk_lock_held(&resident.lock));
	most = blocks < most ? blocks : most;
	left = leave_blocks(device, hand, resident.blocks, most);
	leave_blocks(device, 0, hand, most - left);
	return resident.owed[device->device] && settle_owed(device);
}

static int charge_blocks(const struct arena *device, uint32_t n)
{
	GK_ASSERT(gk_lock_held(&resident.lock));
	return gkf_books_charge_managed(device->machine, device->slot,
					n * BLOCK_SIZE);
}

/*
 * Charges for as many of n blocks as fit, evicting other blocks if necessary.
 * Returns how many blocks it has charged for.
 */
static uint32_t charge_at_most(const struct arena *device, uint32_t n)
{
	uint32_t got = 0;
	int r;

	GK_ASSERT(gk_lock_held(&resident.lock));
	if (!device->machine || !n)
		return n;
	r = charge_blocks(device, n);
	if (!r)
		return n;
	if (r != GK_ERR_NO_SPACE)
		return 0;
	evict_blocks(device, n);
	for (uint32_t step = 1U << (31 - __builtin_clz(n)); step; step /= 2)
		if (got + step <= n && !charge_blocks(device, step))
			got += step;
	return got;
}

static void leave_all(uint32_t from, uint32_t to)
{
	GK_ASSERT(gk_lock_held(&resident.lock));
	for (uint32_t i = from; i < to; i++)
		if (resident.at[i])
			leave_blocks(device_arena(resident.at[i] - 1u), i,
				     i + 1, 1);
}

/* Moves blocks to a device. Those that do not fit stay on the host. */
static void enter_blocks(const struct arena *device, uint32_t from, uint32_t to)
{
	uint32_t missing = 0, n;

	GK_ASSERT(gk_lock_held(&resident.lock));
	for (uint32_t i = from; i < to; i++)
		if (resident.at[i] != device->device + 1)
			missing++;
	n = charge_at_most(device, missing);
	for (uint32_t i = from; i < to && n; i++) {
		if (resident.at[i] == device->device + 1)
			continue;
		leave_all(i, i + 1);
		resident.at[i] = (unsigned char)(device->device + 1);
		resident.held[device->device]++;
		n--;
	}
	resident.owed[device->device] += n;
}

/* ---- entry points ---- */

void resident_move(const struct arena *managed, uint64_t address, uint64_t size,
		   const struct arena *device)
{
	uint64_t offset = address - managed->base;
	uint32_t from = (uint32_t)(offset / BLOCK_SIZE);
	uint32_t to = (uint32_t)((offset + size - 1) / BLOCK_SIZE) + 1;

	pthread_mutex_lock(&resident.lock);
	if (!make_table(managed))
		to = from;
	if (!device)
		leave_all(from, to);
	else if (__atomic_load_n(&device->opens, __ATOMIC_RELAXED))
		enter_blocks(device, from, to);
	settle_all();
	pthread_mutex_unlock(&resident.lock);
}

void resident_free(uint32_t block, uint32_t n)
{
	pthread_mutex_lock(&resident.lock);
	if (resident.at)
		leave_all(block, block + n);
	settle_all();
	pthread_mutex_unlock(&resident.lock);
}

bool resident_evict(const struct arena *device, uint64_t bytes)
{
	bool more;

	pthread_mutex_lock(&resident.lock);
	more = evict_blocks(device, (uint32_t)(bytes / BLOCK_SIZE));
	pthread_mutex_unlock(&resident.lock);
	return more;
}

void resident_settle(const struct arena *device)
{
	pthread_mutex_lock(&resident.lock);
	settle_owed(device);
	pthread_mutex_unlock(&resident.lock);
}

void resident_close(const struct arena *device)
{
	pthread_mutex_lock(&resident.lock);
	settle_owed(device);
	resident.owed[device->device] = 0;
	pthread_mutex_unlock(&resident.lock);
}

void resident_forget(void)
{
	pthread_mutex_init(&resident.lock, NULL);
	resident.at = NULL;
	resident.blocks = resident.hand = 0;
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		resident.held[i] = resident.owed[i] = 0;
}
