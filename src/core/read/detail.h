/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail.h - reads the parts of the DETAIL tier that are not numbers: texts and
 * NVLinks.
 */
#ifndef GK_CORE_DETAIL_H
#define GK_CORE_DETAIL_H

#include "core/read/device.h"

/*
 * Reads the texts and links of a GPU into gpu->detail. Returns NVML_SUCCESS, or
 * the error that means the GPU is lost. If memory runs out, the old texts and
 * links stay.
 */
nvmlReturn_t gk_detail_read(struct gk_gpu *gpu);

/* Whether this return code of nvmlDeviceGetNvLinkState means that neither this
 * link nor any later one exists. */
bool gk_link_is_last(nvmlReturn_t answer, unsigned link);

/*
 * Reads what is at the other end of a link, and its bus id, such as
 * "00000000:01:00.0"; "" if unknown. Also used for the topology.
 */
enum gk_link_end gk_link_end_read(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  unsigned link, char ret_bus_id[32]);

/*
 * Reads the field values of links, in one call. Returns NVML_SUCCESS, or the
 * error that means the GPU is lost.
 */
nvmlReturn_t gk_link_fields(const struct gk_nvml *nvml, nvmlDevice_t dev,
			    struct gk_link *links, size_t link_count);

#endif
