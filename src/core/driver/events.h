/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - Xid errors from the driver's events: one thread waits in the
 * driver for the events of all GPUs.
 *
 * NVML has no function that wakes this thread, and no caller should have to
 * wait for it. Therefore the thread holds its own references to the driver
 * library and to struct gk_events, and drops them when its wait ends.
 */
#ifndef GK_CORE_EVENTS_H
#define GK_CORE_EVENTS_H

#include "core/arena.h"
#include "core/driver/nvml.h"

struct gk_events;

/* Starts the thread, with no GPUs yet. 0 or a gk_err. */
int gk_events_open(struct gk_nvml *nvml, size_t gpus,
		   struct gk_events **ret_events);

/*
 * Requests the Xids of a GPU; call it again when a lost GPU has come back. Does
 * not block. Any thread that holds a reference may call it; NULL does nothing.
 */
void gk_events_want(struct gk_events *events, unsigned index,
		    nvmlDevice_t handle);

/* gk_xids_add() appends an Xid to a list; if the list is full, the oldest one
 * is dropped. gk_xids_count() adds to the count of an Xid number; if there are
 * too many numbers, to the count of all others. */
void gk_xids_add(struct gk_xids *xids, const struct gk_xid *xid);
void gk_xids_count(struct gk_xids *xids, uint32_t number, uint64_t count);

/*
 * Sets a device's metrics of the EVENT tier, its Xids (in the arena), and the
 * time at which the driver last reported. While the driver answers, that time
 * is at most a second ago. Does not change values that are unknown; a MIG
 * device has no events of its own. Returns 0 or GK_ERR_NOMEM.
 */
int gk_events_get(struct gk_events *events, struct gk_arena *arena,
		  struct gk_device *dev);

/* Adds a reference. NULL stays NULL. */
struct gk_events *gk_events_ref(struct gk_events *events);
/* Drops a reference. */
void gk_events_unref(struct gk_events *events);

/* Makes the thread end, and drops the reference. Waits for the thread at most
 * 100 ms, and not at all while it is inside the driver. NULL is allowed. */
void gk_events_close(struct gk_events *events);

#endif
