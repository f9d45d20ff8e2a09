/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail_lists.h - the lists of a struct gk_detail. They follow it in the same
 * block of memory, so that all are copied and freed as one.
 */
#ifndef GK_CORE_DETAIL_LISTS_H
#define GK_CORE_DETAIL_LISTS_H

#include "core/driver/nvml.h"

/*
 * Reads the lists of a device and appends them to *detail, which it
 * reallocates. Lists that the driver lacks, or for which memory runs out, are
 * empty. Returns NVML_SUCCESS, or the error that means the GPU is lost.
 */
nvmlReturn_t gk_detail_lists_read(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  struct gk_detail **detail);

/* The size in bytes of a detail with its lists. */
size_t gk_detail_size(const struct gk_detail *detail);

/* Copies a detail with its lists to memory of that size. */
void gk_detail_copy(struct gk_detail *to, const struct gk_detail *from);

#endif
