/* SPDX-License-Identifier: Apache-2.0 */
/* space_table.h - the table of all arenas of this process. */
#ifndef GKF_SPACE_TABLE_H
#define GKF_SPACE_TABLE_H

#include "device/space_arena.h"
#include "machine/file/numbers.h"

#define SPACE_ARENAS (GKF_DEVICES_MAX + 3)

/*
 * Arenas are never unmapped, because programs may still have addresses in them.
 * `arena` lists all of them in the order of creation, for lookups without a
 * lock.
 */
struct space_table {
	pthread_mutex_t lock;
	_Atomic uint64_t last_id;
	_Atomic unsigned count;
	_Atomic(struct arena *) arena[SPACE_ARENAS];
	_Atomic(struct arena *) device[GKF_DEVICES_MAX];
	_Atomic(struct arena *) managed, host, reserved;
};
extern __attribute__((visibility("hidden"))) struct space_table space;

/*
 * Creates an arena and stores it at `place`, replacing the arena there. NULL:
 * no addresses are left. The caller holds space.lock.
 */
struct arena *space_add(_Atomic(struct arena *) *place,
			enum gkf_memory_kind kind, uint64_t want);

/*
 * The arena of managed memory, host memory or reserved addresses; created on
 * first use. The arena of page-locked memory is as large as the host's RAM.
 */
struct arena *space_common(enum gkf_memory_kind kind);

static inline uint64_t space_power_of_two(uint64_t at_least)
{
	return 1ULL << (64 - __builtin_clzll(at_least - 1));
}

#endif
