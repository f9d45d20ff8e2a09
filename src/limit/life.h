/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - the owner of a slot, and whether that process is still alive.
 *
 * An owner is one wide word. Its high half is the start time and the pid; its
 * low half is the pid namespace, the address at which the stack begins (exec
 * moves it) and the turn of the slot, a count of the slot's owners. So a single
 * swap takes or frees a slot, and no two owners of a slot are equal, even if
 * they are the same process.
 *
 * In addition an owner holds a lock on the byte of the file whose offset is its
 * slot number. A mapping keeps the lock, not a descriptor, because programs
 * close descriptors. The kernel drops it with the mapping, at death and at
 * exec, even where /proc does not show the process.
 */
#ifndef GKL_LIFE_H
#define GKL_LIFE_H

#include "limit/wide.h"

#include <stdint.h>
#include <sys/types.h>

struct gkl_ledger;

/* The calling process. Returns 0, or a gk_err if /proc does not identify it. */
int gkl_life_self(union gkl_wide *ret_life);

static inline int32_t gkl_life_pid(union gkl_wide life)
{
	return (int32_t)(life.high >> 1 & 0x3fffff);
}

static inline uint64_t gkl_life_start(union gkl_wide life)
{
	return life.high >> 23;
}

static inline uint32_t gkl_life_stack(union gkl_wide life)
{
	return (uint32_t)life.low >> 8;
}

/*
 * Returns the owner `life` with its turn replaced by the given count of its
 * slot's owners.
 */
static inline union gkl_wide gkl_life_in_turn(union gkl_wide life,
					      uint32_t turn)
{
	life.low = (life.low & ~0xffULL) | (turn & 0xff);
	return life;
}

/*
 * The inode of the host's first pid namespace, which is fixed in the kernel.
 * There, a process's own pid is its pid on the host. In a container a process
 * cannot learn its pid on the host.
 */
#define GKL_FIRST_NAMESPACE 0xEFFFFFFCu

static inline uint64_t gkl_life_ns(union gkl_wide life)
{
	return life.low >> 32;
}

/* The owner's pid on the host; 0: not known. */
static inline int32_t gkl_life_host_pid(union gkl_wide life)
{
	return gkl_life_ns(life) == GKL_FIRST_NAMESPACE ? gkl_life_pid(life)
							: 0;
}

/* Locks a slot. Returns the mapping that keeps the lock, or NULL. */
void *gkl_life_lock(const struct gkl_ledger *ledger, unsigned int slot);
void gkl_life_unlock(void *kept);

/* The state of one scan of slot owners. */
struct gkl_look {
	const struct gkl_ledger *ledger;
	union gkl_wide self;
	int fd; /* the file, to test its locks; negative: not open */
};

void gkl_look_begin(struct gkl_look *look, const struct gkl_ledger *ledger);
void gkl_look_end(struct gkl_look *look);

enum gkl_life {
	GKL_ALIVE,
	GKL_DYING, /* its memory may not be free yet, but soon will be */
	GKL_DEAD,
};

enum gkl_life gkl_look_at(const struct gkl_look *look, unsigned int slot,
			  union gkl_wide life);

#endif
