/*
 * events.h - Xid errors, as the driver tells them: one thread that sleeps in
 * the driver, for all GPUs.
 *
 * NVML cannot wake a thread out of its wait. So that nobody waits for it, the
 * thread holds the driver library and this struct by references of its own and
 * gives them back when its wait ends.
 */
#ifndef GK_CORE_EVENTS_H
#define GK_CORE_EVENTS_H

#include "core/nvml.h"

struct gk_events;

/* Starts the thread, which waits for GPUs to listen to. 0 or a gk_err. */
int gk_events_open(struct gk_nvml *nvml, size_t gpus,
		   struct gk_events **ret_events);

/*
 * Has the Xids of a GPU listened to, anew when it came back. Does not block.
 * Any thread that holds a reference; NULL does nothing.
 */
void gk_events_want(struct gk_events *events, unsigned index,
		    nvmlDevice_t handle);

/*
 * Writes the metrics of the tier EVENT of a device, and when the driver last
 * said what came: a second ago at most while it answers.
 * What is not known yet stays as it is; a MIG device has none of its own.
 */
void gk_events_get(struct gk_events *events, struct gk_device *dev);

/* A reference more. NULL stays NULL. */
struct gk_events *gk_events_ref(struct gk_events *events);
/* A reference less. */
void gk_events_unref(struct gk_events *events);

/* Tells the thread to end; waits only while it is not in the driver's wait,
 * and no longer than 100 ms. Gives the reference back. NULL is allowed. */
void gk_events_close(struct gk_events *events);

#endif
