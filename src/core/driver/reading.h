/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - the values of a GPU that its worker publishes, and copies. */
#ifndef GK_CORE_READING_H
#define GK_CORE_READING_H

#include "core/read/device.h"

/* Values of a GPU, owned by whoever has the struct. */
struct gk_reading {
	struct gk_device *devices; /* the GPU, then its MIG devices */
	size_t device_count;
	struct gk_listed *listed; /* unit is an index in devices */
	size_t listed_count;
	struct gk_detail *detail; /* the GPU's details; NULL: not read yet */
};

/* Copies a reading. 0 or GK_ERR_NOMEM. Free the copy with gk_reading_free(). */
int gk_reading_copy(const struct gk_reading *reading,
		    struct gk_reading *ret_copy);
void gk_reading_free(struct gk_reading *reading);

/* Returns a copy to free(); NULL: out of memory. */
struct gk_detail *gk_detail_new_copy(const struct gk_detail *detail);

#endif
