/*
 * detail.h - what the DETAIL tier has beside numbers: words and NVLinks.
 */
#ifndef GK_CORE_DETAIL_H
#define GK_CORE_DETAIL_H

#include "core/device.h"

/*
 * Reads the words and links of a GPU into gpu->detail. NVML_SUCCESS, or the
 * answer that means the GPU is lost. Without memory what was read before
 * stays.
 */
nvmlReturn_t gk_detail_read(struct gk_gpu *gpu);

/* Whether NvLinkState's answer says that there is no link from this on. */
bool gk_link_is_last(nvmlReturn_t answer, unsigned link);

/*
 * Which bus the other end of a link is on, as "00000000:01:00.0"; "" if
 * unknown. Also used for the topology.
 */
enum gk_link_end gk_link_end_read(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  unsigned link, char ret_bus_id[32]);

/*
 * Reads the values of links that are field values, in one call. Returns the
 * answer that means the GPU is lost, else NVML_SUCCESS.
 */
nvmlReturn_t gk_link_fields(const struct gk_nvml *nvml, nvmlDevice_t dev,
			    struct gk_link *links, size_t link_count);

#endif
