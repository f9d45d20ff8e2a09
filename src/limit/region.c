/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.c - makes, takes over and writes HAMi's region.
 */
#include "limit/region.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/pair.h"
#include "base/truncated.h"
#include "limit/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Set when the region was truncated. Nothing reads this flag, because no limit
 * depends on the region.
 */
static atomic_bool damaged;

enum { MAJOR = 1, MINOR = 2, RUNNING = 1, SUSPENDED = 2 };

/* HAMi-core may have been killed between creating and extending the file. */
static int make_big_enough(int fd, const struct stat *st)
{
	if (st->st_size >= GKL_REGION_BYTES)
		return 0;
	if (st->st_size)
		return GK_ERR_VERSION;
	/*
	 * Allocates the whole region: writing to the mapping must not fail on a
	 * full disk.
	 */
	if (posix_fallocate(fd, 0, GKL_REGION_BYTES) &&
	    ftruncate(fd, GKL_REGION_BYTES))
		return gk_err_from_errno(errno);
	return 0;
}

/*
 * Writes a process-shared semaphore of value 1, as glibc lays it out, for
 * HAMi-core to use as a lock.
 */
static void write_semaphore(uint64_t sem[4])
{
	enum { SHARED = 128 };

	sem[0] = 1;
	sem[1] = SHARED;
}

/* Processes that fill the region at the same time write the same data. */
static void fill_region(struct gkl_region *r)
{
	r->major = MAJOR;
	r->minor = MINOR;
	write_semaphore(r->sem);
	write_semaphore(r->sem_postinit);
	atomic_store(&r->utilization_switch, 1);
	atomic_store(&r->recent_kernel, GKL_REGION_JUST_LAUNCHED);
	atomic_store(&r->magic, GKL_REGION_MAGIC);
}

static void fill_new(void *at, const void *arg)
{
	(void)arg;
	fill_region(at);
}

static int check_or_fill(struct gkl_region *r)
{
	int32_t magic = atomic_load(&r->magic);

	if (magic == 0) {
		fill_region(r);
		return 0;
	}
	if (magic != GKL_REGION_MAGIC || r->major != MAJOR)
		return GK_ERR_VERSION;
	return 0;
}

static int map_file(int fd, struct gkl_region **ret_region)
{
	struct stat st;
	void *at;
	int err;

	if (fstat(fd, &st))
		return gk_err_from_errno(errno);
	err = make_big_enough(fd, &st);
	if (err)
		return err;
	at = mmap(NULL, GKL_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		  fd, 0);
	if (at == MAP_FAILED)
		return gk_err_from_errno(errno);
	gk_truncated_watch(at, GKL_REGION_BYTES, &damaged);
	err = check_or_fill(at);
	if (err)
		gkl_region_close(at);
	else
		*ret_region = at;
	return err;
}

/*
 * The mode is 0666 because HAMi's monitor may run as another user, and must at
 * least read the file.
 */
static int open_file(const char *path, bool make, struct gkl_region **ret)
{
	const struct gkl_file_kind kind = {.trust = GKL_COMMON,
					   .mode = 0666,
					   .size = GKL_REGION_BYTES,
					   .fill = fill_new};
	const struct gkl_file_kind empty = {.trust = GKL_COMMON};
	int fd = gkl_file_open(path, &empty, true), err;

	if (fd == GK_ERR_NOT_FOUND && make)
		fd = gkl_file_open_or_make(path, &kind, true);
	if (fd < 0)
		return fd == GK_ERR_CORRUPT ? GK_ERR_PERMISSION : fd;
	err = map_file(fd, ret);
	close(fd);
	return err;
}

int gkl_region_open(const char *path, struct gkl_region **ret_region)
{
	return open_file(path, true, ret_region);
}

int gkl_region_open_there(const char *path, struct gkl_region **ret_region)
{
	return open_file(path, false, ret_region);
}

void gkl_region_close(struct gkl_region *region)
{
	if (!region)
		return;
	gk_truncated_forget(region);
	munmap(region, GKL_REGION_BYTES);
}

void gkl_region_set_policy(struct gkl_region *region,
			   const struct gkl_policy *policy)
{
	for (int i = 0; i < GKL_DEVICES; i++) {
		uint64_t share = policy->compute[i];

		atomic_store(&region->limit[i], policy->memory[i]);
		/* HAMi's value for no limit is 100. */
		atomic_store(&region->sm_limit[i], share ? share : 100);
	}
	atomic_store(&region->priority, (int32_t)policy->priority);
}

void gkl_region_set_device(struct gkl_region *region, unsigned int device,
			   const char *uuid)
{
	union {
		char text[GKL_UUID];
		uint64_t words[GKL_UUID / sizeof(uint64_t)];
	} padded = {.text = ""};
	uint64_t count = atomic_load(&region->device_num);

	if (device >= GKL_DEVICES)
		return;
	strncpy(padded.text, uuid, sizeof padded.text - 1);
	gk_words_copy(region->uuids[device], padded.words, sizeof padded.words);
	while (count <= device && !atomic_compare_exchange_weak(
				      &region->device_num, &count, device + 1))
		;
}

enum gkl_region_class gkl_region_class(enum gkl_kind kind)
{
	if (kind == GKL_CONTEXT)
		return GKL_REGION_CONTEXT;
	return kind == GKL_MODULE ? GKL_REGION_MODULE : GKL_REGION_DATA;
}

void gkl_region_set_used(struct gkl_region *region, unsigned int slot,
			 unsigned int device,
			 const uint64_t bytes[GKL_REGION_CLASSES])
{
	struct gkl_region_used *used = &region->procs[slot].used[device];
	uint64_t total = bytes[GKL_REGION_CONTEXT] + bytes[GKL_REGION_MODULE] +
			 bytes[GKL_REGION_DATA];

	GK_ASSERT(slot < GKL_PROCESSES);
	GK_ASSERT(device < GKL_DEVICES);
	atomic_store_explicit(&used->context, bytes[GKL_REGION_CONTEXT],
			      memory_order_relaxed);
	atomic_store_explicit(&used->module, bytes[GKL_REGION_MODULE],
			      memory_order_relaxed);
	atomic_store_explicit(&used->data, bytes[GKL_REGION_DATA],
			      memory_order_relaxed);
	atomic_store_explicit(&used->total, total, memory_order_relaxed);
	atomic_store_explicit(&region->procs[slot].monitor_used[device], total,
			      memory_order_relaxed);
}

void gkl_region_set_busy(struct gkl_region *region, unsigned int slot,
			 unsigned int device, uint64_t percent)
{
	GK_ASSERT(slot < GKL_PROCESSES);
	GK_ASSERT(device < GKL_DEVICES);
	atomic_store(&region->procs[slot].busy[device].sm, percent);
}

void gkl_region_set_suspended(struct gkl_region *region, unsigned int slot,
			      bool suspended)
{
	GK_ASSERT(slot < GKL_PROCESSES);
	atomic_store(&region->procs[slot].status,
		     suspended ? SUSPENDED : RUNNING);
}

void gkl_region_set_kernel_time(struct gkl_region *region, int64_t seconds)
{
	atomic_store(&region->last_kernel_time, seconds);
}

static void empty_slot(struct gkl_region_slot *slot)
{
	static const uint64_t none[GKL_REGION_CLASSES];

	for (int i = 0; i < GKL_DEVICES; i++) {
		struct gkl_region_used *used = &slot->used[i];

		atomic_store(&used->context, none[0]);
		atomic_store(&used->module, none[0]);
		atomic_store(&used->data, none[0]);
		atomic_store(&used->total, none[0]);
		atomic_store(&slot->monitor_used[i], none[0]);
		atomic_store(&slot->busy[i].sm, none[0]);
	}
	atomic_store(&slot->status, 0);
}

/*
 * A process that joins writes its owner, then proc_num. A process that leaves
 * lowers proc_num, then looks for owners. So one of the two sees the other's
 * change.
 */
static void raise_count(struct gkl_region *region, int32_t least)
{
	int32_t count = atomic_load(&region->proc_num);

	while (count < least &&
	       !atomic_compare_exchange_weak(&region->proc_num, &count, least))
		;
}

static void lower_count(struct gkl_region *region)
{
	int32_t count = atomic_load(&region->proc_num);

	while (count > 0 && count <= GKL_PROCESSES &&
	       !gkl_region_pid(region, (unsigned)count - 1)) {
		if (!atomic_compare_exchange_strong(&region->proc_num, &count,
						    count - 1))
			continue;
		count--;
		if (gkl_region_pid(region, (unsigned)count))
			raise_count(region, count + 1);
	}
}

static uint64_t make_owner(int32_t pid, int32_t host_pid)
{
	return (uint32_t)pid | (uint64_t)(uint32_t)host_pid << 32;
}

void gkl_region_join(struct gkl_region *region, unsigned int slot, int32_t pid,
		     int32_t host_pid)
{
	struct gkl_region_slot *own = &region->procs[slot];

	GK_ASSERT(slot < GKL_PROCESSES);
	empty_slot(own);
	atomic_store(&own->status, RUNNING);
	atomic_store(&own->owner, make_owner(pid, host_pid));
	raise_count(region, (int32_t)slot + 1);
}

void gkl_region_leave(struct gkl_region *region, unsigned int slot, int32_t pid)
{
	struct gkl_region_slot *old = &region->procs[slot];
	uint64_t owner = atomic_load(&old->owner);

	GK_ASSERT(slot < GKL_PROCESSES);
	if ((int32_t)owner != pid ||
	    !atomic_compare_exchange_strong(&old->owner, &owner, 0))
		return;
	empty_slot(old);
	lower_count(region);
}

unsigned int gkl_region_slots(const struct gkl_region *region)
{
	int32_t count = atomic_load(&region->proc_num);

	return count < 0 || count > GKL_PROCESSES ? GKL_PROCESSES
						  : (unsigned)count;
}

int32_t gkl_region_pid(const struct gkl_region *region, unsigned int slot)
{
	GK_ASSERT(slot < GKL_PROCESSES);
	return (int32_t)atomic_load(&region->procs[slot].owner);
}
