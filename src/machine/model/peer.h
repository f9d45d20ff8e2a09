/*
 * peer.h - whether GPUs of a machine reach each other's memory, and how. NVML
 * and CUDA tell it in their own words.
 */
#ifndef GKF_PEER_H
#define GKF_PEER_H

#include "base/export.h"

#include <stdbool.h>

struct gkf_machine;

enum gkf_peer {
	GKF_PEER_OK,
	GKF_PEER_CONSUMER, /* these boards have no peers over PCIe */
	GKF_PEER_MIXED,    /* of different architectures */
	GKF_PEER_FAR,      /* on different NUMA nodes */
};

/* Two different devices, both there. GPUs that are split are no peers. */
GKF_API bool gkf_peer_split(struct gkf_machine *m, unsigned a, unsigned b);

/* The ways, whether or not a GPU is split. */
GKF_API bool gkf_peer_nvlink(struct gkf_machine *m, unsigned a, unsigned b);
GKF_API enum gkf_peer gkf_peer_pcie(const struct gkf_machine *m, unsigned a,
				    unsigned b);

#endif
