/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the topology: paths between GPUs, and the CPUs and NUMA nodes near
 * them. Each worker fills in its own GPU.
 *
 * The topology is reference-counted; a worker that is stuck in the driver may
 * never drop its reference.
 */
#ifndef GK_CORE_PLACES_H
#define GK_CORE_PLACES_H

#include "core/arena.h"
#include "core/driver/nvml.h"

struct gk_places;

/* NULL when memory runs out. */
struct gk_places *gk_places_new(size_t gpus);
/* Adds a reference. NULL stays NULL. */
struct gk_places *gk_places_ref(struct gk_places *places);
void gk_places_unref(struct gk_places *places);

/*
 * Reads the place of a GPU that was just opened (its CPUs and NUMA node), and
 * its paths to the GPUs opened earlier. NULL does nothing.
 */
void gk_places_read(struct gk_places *places, const struct gk_nvml *nvml,
		    const struct gk_device *gpu, nvmlDevice_t handle);

/* Copies the topology into the arena. Returns 0 or GK_ERR_NOMEM. */
int gk_places_copy(struct gk_places *places, struct gk_arena *arena,
		   const struct gk_topology **ret_topology);

#endif
