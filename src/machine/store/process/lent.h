/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lent.h - memory of a device that a process shares with others, who may use it
 * after the process has ended. As with a driver, the memory then stays in use
 * on the device but is not shown as any process's.
 *
 * Shared memory is in a file without a name. Each user of it (by a descriptor,
 * a mapping, or a descriptor in transit through a socket) has an open file
 * description with a lock on its bytes. A slot names the file. When its owner
 * is dead, the locked bytes stay charged to the same slot. The slot then has no
 * type, and is called a lent slot.
 */
#ifndef GKF_LENT_H
#define GKF_LENT_H

#include "base/export.h"
#include "machine/file/slot.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/* A lock at or above this offset stands for all bytes in `pooled`. */
#define GKF_LENT_POOLS (1ULL << 62)

struct gkf_lending {
	uint64_t device, inode; /* the file's device and inode */
	uint64_t pooled;        /* bytes shared from memory pools */
};

/* Records that a slot of this process shares bytes of a file. */
void gkf_lend(struct gkf_machine *m, unsigned slot,
	      const struct gkf_lending *lending);

/* Clears what a slot shares for its new owner, before the slot is visible. */
void gkf_lent_open(struct gkf_machine *m, unsigned slot);

/*
 * Returns how many bytes, in whole blocks, of a slot's ended owner are still
 * used by other processes.
 */
uint64_t gkf_lent_bytes(const struct gkf_machine *m, unsigned slot);

static inline bool gkf_is_lent(const struct gkf_slot *slot)
{
	return !__atomic_load_n(&slot->types, __ATOMIC_RELAXED);
}

#endif
