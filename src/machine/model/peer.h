/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - whether and how GPUs of a machine can access each other's memory,
 * which NVML and CUDA report in their own terms.
 */
#ifndef GKF_PEER_H
#define GKF_PEER_H

#include "base/export.h"

#include <stdbool.h>

struct gkf_machine;

enum gkf_peer {
	GKF_PEER_OK,
	GKF_PEER_CONSUMER, /* consumer boards have no peers over PCIe */
	GKF_PEER_MIXED,    /* different architectures */
	GKF_PEER_FAR,      /* on different NUMA nodes */
};

/*
 * Whether two devices are not peers because MIG is on for one of them. Both
 * must exist, and they must differ.
 */
GKF_API bool gkf_peer_split(struct gkf_machine *m, unsigned a, unsigned b);

/*
 * Whether the devices can access each other's memory over NVLink, and over
 * PCIe; MIG is ignored.
 */
GKF_API bool gkf_peer_nvlink(struct gkf_machine *m, unsigned a, unsigned b);
GKF_API enum gkf_peer gkf_peer_pcie(const struct gkf_machine *m, unsigned a,
				    unsigned b);

#endif
