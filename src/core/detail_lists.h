/*
 * detail_lists.h - the lists of a struct gk_detail: they follow it in the same
 * piece of memory, so that all of it is copied and freed as one.
 */
#ifndef GK_CORE_DETAIL_LISTS_H
#define GK_CORE_DETAIL_LISTS_H

#include "core/nvml.h"

/*
 * Reads the lists of a device and makes *detail larger by them. What the
 * driver does not tell is an empty list. NVML_SUCCESS, or the answer that
 * means the GPU is lost. Without memory the lists are empty.
 */
nvmlReturn_t gk_detail_lists_read(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  struct gk_detail **detail);

/* Bytes of a detail with its lists. */
size_t gk_detail_size(const struct gk_detail *detail);

/* Copies it to a place of that size. */
void gk_detail_copy(struct gk_detail *to, const struct gk_detail *from);

#endif
