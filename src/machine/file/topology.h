/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - how the GPUs of a machine are connected. model/topology.h
 * derives it from the boards.
 */
#ifndef GKF_FILE_TOPOLOGY_H
#define GKF_FILE_TOPOLOGY_H

#include "machine/file/numbers.h"

#define GKF_SEATS_MAX 64 /* GKF_DEVICES_MAX */

enum gkf_end { GKF_END_NOTHING, GKF_END_GPU, GKF_END_SWITCH };

/* The far end of a link: a device and its link, or a switch and its port. */
struct gkf_link_end {
	uint8_t kind; /* enum gkf_end */
	uint8_t device;
	uint16_t link;
};

/* Where a GPU sits; equal numbers mean the same switch, bridge or node. */
struct gkf_seat {
	uint8_t pci_switch, host_bridge, node;
	/* Number of PCI bridges between GPUs on the same switch; at least 1. */
	uint8_t bridges;
	uint8_t fabric; /* NVSwitch fabric, counted from 1; 0: none */
	uint8_t module; /* position on the baseboard, counted from 1 */
};

struct gkf_topology {
	unsigned count, nodes;
	struct gkf_seat seat[GKF_SEATS_MAX];
	struct gkf_link_end link[GKF_SEATS_MAX][GKF_LINKS_MAX];
};

#endif
