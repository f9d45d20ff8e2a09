/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h - makes snapshots from data that comes from elsewhere, such as
 * another host. */
#ifndef GK_CORE_SNAPSHOT_H
#define GK_CORE_SNAPSHOT_H

#include "core/arena.h"

#include <gpukit/gpukit.h>

/* Limits for a snapshot from an untrusted source. */
#define GK_SNAPSHOT_DEVICES   1024
#define GK_SNAPSHOT_PROCESSES 65536

/*
 * Makes an empty snapshot for the caller to fill. gk_snapshot_free() frees it,
 * and its devices and processes with free(); everything else that it points to
 * must be in the arena. Returns 0 or GK_ERR_NOMEM.
 */
int gk_snapshot_new(struct gk_arena **ret_arena, struct gk_snapshot **ret_snap);

/* Counts a device's process in the snapshot; a process of a MIG device also
 * counts for its GPU. */
void gk_snapshot_count(struct gk_snapshot *snap, unsigned device);

#endif
