/*
 * snapshot.h - making a snapshot of what somebody else knows.
 */
#ifndef GK_CORE_SNAPSHOT_H
#define GK_CORE_SNAPSHOT_H

#include "core/arena.h"

#include <gpukit/gpukit.h>

/*
 * An empty snapshot, to be filled and freed with gk_snapshot_free(), which
 * also frees devices and processes with free(). What else it points to is to
 * lie in the arena. 0 or GK_ERR_NOMEM.
 */
int gk_snapshot_new(struct gk_arena **ret_arena, struct gk_snapshot **ret_snap);

/* Counts a process of a device that is in the snapshot; one of a MIG device is
 * its GPU's, too. */
void gk_snapshot_count(struct gk_snapshot *snap, unsigned device);

#endif
