/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - Xid errors from the driver's events: one thread waits in the
 * driver for all GPUs.
 *
 * NVML has no way to wake that thread. So that no caller needs to wait for it,
 * it holds references of its own to the driver library and this struct, and
 * releases them when its wait ends.
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
 * Requests the Xids of a GPU; call it again when the GPU has come back. Does
 * not block. Any thread that holds a reference may call it; NULL does nothing.
 */
void gk_events_want(struct gk_events *events, unsigned index,
		    nvmlDevice_t handle);

/* gk_xids_add() adds an Xid to a list, replacing the oldest if the list is
 * full. gk_xids_count() adds to the count of an Xid number; if the list is
 * full, to the count of all other numbers. */
void gk_xids_add(struct gk_xids *xids, const struct gk_xid *xid);
void gk_xids_count(struct gk_xids *xids, uint32_t number, uint64_t count);

/*
 * Sets a device's metrics of the EVENT tier, its Xids (in the arena), and the
 * time at which the driver last reported, which is at most a second ago while
 * the driver answers. Leaves unknown values as they are; a MIG device has none
 * of its own. Returns 0 or GK_ERR_NOMEM.
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
