/*
 * space_resident.c - which blocks of managed memory have moved to a device.
 * They stay where they are; that device's ledger is charged for them, until
 * they move on, are freed, or the device needs its memory for something else.
 */
#include "base/err.h"
#include "device/space_arena.h"
#include "machine/file/numbers.h"
#include "machine/store/books.h"

#include <stddef.h>
#include <sys/mman.h>

/* Taken after the lock of an arena, before that of the ledger. */
static struct {
	pthread_mutex_t lock;
	unsigned char *at; /* for each block: its device + 1, or 0 */
	uint32_t blocks;
	uint32_t held[GKF_DEVICES_MAX]; /* blocks of each device */
	uint32_t owed[GKF_DEVICES_MAX]; /* have left it, charged even now */
	uint32_t hand; /* where the search for one that must go begins */
} resident = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Static_assert(GKF_DEVICES_MAX < 255, "a device is a byte");

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

/* ---- the lock is held ---- */

/* Gives back what is owed. False: the books cannot be had. */
static bool settle_owed(const struct arena *device)
{
	uint32_t *owed = &resident.owed[device->device];

	if (*owed && device->machine &&
	    is_still_charged(gkf_books_refund_managed(
		device->machine, device->slot, *owed * BLOCK_SIZE))) {
		atomic_store(&device_arena(device->device)->owes, true);
		return false;
	}
	*owed = 0;
	return true;
}

static void settle_all(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		if (resident.owed[i])
			settle_owed(device_arena(i));
}

/*
 * The blocks of [from, to) leave a device, which owes them then; how many did,
 * `most` at most.
 */
static uint32_t leave_blocks(const struct arena *device, uint32_t from,
			     uint32_t to, uint32_t most)
{
	uint32_t left = 0;

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
 * Blocks that came first have waited longest, as far as the hand knows. False:
 * there is no more room than before.
 */
static bool evict_blocks(const struct arena *device, uint32_t blocks)
{
	uint32_t hand = resident.hand, most = resident.held[device->device];
	uint32_t left;

	most = blocks < most ? blocks : most;
	left = leave_blocks(device, hand, resident.blocks, most);
	leave_blocks(device, 0, hand, most - left);
	return resident.owed[device->device] && settle_owed(device);
}

static int charge_blocks(const struct arena *device, uint32_t n)
{
	return gkf_books_charge_managed(device->machine, device->slot,
					n * BLOCK_SIZE);
}

/* Charges for n blocks (1 at least), or as many as there is room for. */
static uint32_t charge_most(const struct arena *device, uint32_t n)
{
	uint32_t got = 0;

	for (uint32_t step = 1U << (31 - __builtin_clz(n)); step; step /= 2)
		if (got + step <= n && !charge_blocks(device, step))
			got += step;
	return got;
}

static uint32_t charge_at_most(const struct arena *device, uint32_t n)
{
	int r;

	if (!device->machine || !n)
		return n;
	r = charge_blocks(device, n);
	if (!r)
		return n;
	if (r != GK_ERR_NO_SPACE)
		return 0;
	evict_blocks(device, n);
	return charge_most(device, n);
}

static void leave_all(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (resident.at[i])
			leave_blocks(device_arena(resident.at[i] - 1u), i,
				     i + 1, 1);
}

/* Blocks that find no room stay on the host. */
static void enter_blocks(const struct arena *device, uint32_t from, uint32_t to)
{
	uint32_t missing = 0, n;

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

/* ---- for others ---- */

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
