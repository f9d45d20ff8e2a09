/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - HAMi's shared region, version 1: the file that HAMi's monitor on
 * the host maps, to read what a container uses and to control it.
 *
 * The region mirrors the ledger. Nothing in it ever decides how much memory may
 * be taken, because tenants may write to the file. Its slots have the ledger's
 * numbers, so the owner of a slot of the ledger owns the same slot of the
 * region, and slots never move.
 */
#ifndef GKL_REGION_H
#define GKL_REGION_H

#include "limit/policy.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GKL_REGION_MAGIC = 19920718,
	GKL_REGION_BYTES = 2008952,
	GKL_REGION_JUST_LAUNCHED = 2, /* a value of recent_kernel */
};

/* A process's bytes of a device, in HAMi's classes. */
struct gkl_region_used {
	_Atomic uint64_t context, module, data;
	uint64_t offset;
	_Atomic uint64_t total;
	uint64_t unused[3];
};

/* A process's share of a device's time, in percent. */
struct gkl_region_busy {
	uint64_t decoder, encoder;
	_Atomic uint64_t sm;
	uint64_t unused[3];
};

struct gkl_region_slot {
	_Atomic uint64_t owner; /* pid; upper half: the pid on the host */
	struct gkl_region_used used[GKL_DEVICES];
	/* HAMi's second count of the same bytes: see LIMIT-HAMI.md. */
	_Atomic uint64_t monitor_used[GKL_DEVICES];
	struct gkl_region_busy busy[GKL_DEVICES];
	_Atomic int32_t status; /* 1: running; 2: suspended */
	int32_t unused;
	uint64_t seqlock; /* HAMi-core's sequence lock; even: no writer */
	uint64_t unused_end[2];
};

/* The file, byte for byte. */
struct gkl_region {
	_Atomic int32_t magic; /* written last */
	int32_t major, minor;
	int32_t sm_init_flag;
	uint64_t owner_pid; /* who holds HAMi-core's lock */
	uint64_t sem[4];    /* the lock, a sem_t */
	_Atomic uint64_t device_num;
	char uuids[GKL_DEVICES][GKL_UUID];
	_Atomic uint64_t limit[GKL_DEVICES];
	_Atomic uint64_t sm_limit[GKL_DEVICES];
	struct gkl_region_slot procs[GKL_PROCESSES];
	_Atomic int32_t proc_num;           /* highest slot in use + 1 */
	_Atomic int32_t utilization_switch; /* 0: time is not limited */
	/* 2: something was launched just now; below 0: launches must wait. */
	_Atomic int32_t recent_kernel;
	_Atomic int32_t priority;
	_Atomic int64_t last_kernel_time; /* seconds since the epoch */
	uint64_t sem_postinit[4];
};

#define GKL_REGION_AT(member, offset)                                          \
	_Static_assert(offsetof(struct gkl_region, member) == (offset),        \
		       #member " lies where HAMi has it")
GKL_REGION_AT(owner_pid, 16);
GKL_REGION_AT(sem, 24);
GKL_REGION_AT(device_num, 56);
GKL_REGION_AT(uuids, 64);
GKL_REGION_AT(limit, 1600);
GKL_REGION_AT(sm_limit, 1728);
GKL_REGION_AT(procs, 1856);
GKL_REGION_AT(procs[0].used, 1856 + 8);
GKL_REGION_AT(procs[0].monitor_used, 1856 + 1032);
GKL_REGION_AT(procs[0].busy, 1856 + 1160);
GKL_REGION_AT(procs[0].status, 1856 + 1928);
GKL_REGION_AT(procs[0].seqlock, 1856 + 1936);
GKL_REGION_AT(procs[1], 1856 + 1960);
GKL_REGION_AT(proc_num, 2008896);
GKL_REGION_AT(utilization_switch, 2008900);
GKL_REGION_AT(recent_kernel, 2008904);
GKL_REGION_AT(priority, 2008908);
GKL_REGION_AT(last_kernel_time, 2008912);
GKL_REGION_AT(sem_postinit, 2008920);
#undef GKL_REGION_AT
_Static_assert(sizeof(struct gkl_region) == GKL_REGION_BYTES, "HAMi's size");

/*
 * Maps the file, which may be empty or HAMi-core's. If there is no file,
 * gkl_region_open() makes it, and gkl_region_open_there() returns
 * GK_ERR_NOT_FOUND. GK_ERR_VERSION: another version, or not a region;
 * GK_ERR_PERMISSION: not trusted (file.h), a link, or not a regular file.
 *
 * If a region is truncated, a private page of zeros replaces it: limits do not
 * depend on it.
 */
int gkl_region_open(const char *path, struct gkl_region **ret_region);
int gkl_region_open_there(const char *path, struct gkl_region **ret_region);
void gkl_region_close(struct gkl_region *region);

/* Writes the policy's limits and priority to the region. */
void gkl_region_set_policy(struct gkl_region *region,
			   const struct gkl_policy *policy);

/* Sets the UUID of a device; device_num becomes at least device + 1. */
void gkl_region_set_device(struct gkl_region *region, unsigned int device,
			   const char *uuid);

/* Makes a process the owner of a slot, with nothing in use. */
void gkl_region_join(struct gkl_region *region, unsigned int slot, int32_t pid,
		     int32_t host_pid);

/* Empties the slot if its owner is pid. */
void gkl_region_leave(struct gkl_region *region, unsigned int slot,
		      int32_t pid);

/* The number of slots to scan; later slots are empty. */
unsigned int gkl_region_slots(const struct gkl_region *region);

/* The pid of a slot's owner; 0: none. */
int32_t gkl_region_pid(const struct gkl_region *region, unsigned int slot);

/*
 * HAMi's three classes of memory. gkl_region_set_used() sets the owner's bytes
 * of a device, by class.
 */
enum gkl_region_class {
	GKL_REGION_CONTEXT,
	GKL_REGION_MODULE,
	GKL_REGION_DATA,
	GKL_REGION_CLASSES
};
enum gkl_region_class gkl_region_class(enum gkl_kind kind);
void gkl_region_set_used(struct gkl_region *region, unsigned int slot,
			 unsigned int device,
			 const uint64_t bytes[GKL_REGION_CLASSES]);

/*
 * Sets the owner's share of a device's time, in percent; and whether it waits
 * because the group is suspended.
 */
void gkl_region_set_busy(struct gkl_region *region, unsigned int slot,
			 unsigned int device, uint64_t percent);
void gkl_region_set_suspended(struct gkl_region *region, unsigned int slot,
			      bool suspended);

/* Sets when the group last used a device, in seconds since the epoch. */
void gkl_region_set_kernel_time(struct gkl_region *region, int64_t seconds);

#endif
