/*
 * topology.h - how the GPUs of a machine hang together, once it is known; how
 * it follows from the boards: model/topology.h.
 */
#ifndef GKF_FILE_TOPOLOGY_H
#define GKF_FILE_TOPOLOGY_H

#include "machine/file/numbers.h"

#define GKF_SEATS_MAX 64 /* GKF_DEVICES_MAX */

enum gkf_end { GKF_END_NOTHING, GKF_END_GPU, GKF_END_SWITCH };

/* A link leads to a device and its link, or to a switch and its port. */
struct gkf_link_end {
	uint8_t kind; /* enum gkf_end */
	uint8_t device;
	uint16_t link;
};

/* Where a GPU sits; equal numbers are the same thing. */
struct gkf_seat {
	uint8_t pci_switch, host_bridge, node;
	uint8_t bridges; /* between GPUs of its switch; 1, or more */
	uint8_t fabric;  /* whose NVSwitches it is on, from 1; 0: none */
	uint8_t module;  /* position on its baseboard, from 1 */
};

struct gkf_topology {
	unsigned count, nodes;
	struct gkf_seat seat[GKF_SEATS_MAX];
	struct gkf_link_end link[GKF_SEATS_MAX][GKF_LINKS_MAX];
};

#endif
