/*
 * places.h - where the GPUs are: the ways between them, CPUs and NUMA nodes
 * near to them. Filled by their workers, each for its own GPU.
 *
 * A worker that is stuck in the driver may hold its reference for ever.
 */
#ifndef GK_CORE_PLACES_H
#define GK_CORE_PLACES_H

#include "core/arena.h"
#include "core/nvml.h"

struct gk_places;

/* NULL when memory runs out. */
struct gk_places *gk_places_new(size_t gpus);
/* A reference more. NULL stays NULL. */
struct gk_places *gk_places_ref(struct gk_places *places);
void gk_places_unref(struct gk_places *places);

/*
 * Asks the driver about a GPU that was opened just now, and about the ways
 * from it to those that were opened before. NULL does nothing.
 */
void gk_places_read(struct gk_places *places, const struct gk_nvml *nvml,
		    const struct gk_device *gpu, nvmlDevice_t handle);

/* Copies all to memory of arena. 0 or GK_ERR_NOMEM. */
int gk_places_copy(struct gk_places *places, struct gk_arena *arena,
		   const struct gk_topology **ret_topology);

#endif
