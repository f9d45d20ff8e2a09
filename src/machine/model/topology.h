/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - how the GPUs of a machine are connected: PCI tree, NUMA nodes,
 * NVLink. The result is a pure function of the boards and the machine's layout,
 * computed once when a machine is opened.
 *
 * PCI tree: two GPUs share a switch (each card of a PC has its own port),
 * switches share a host bridge, host bridges a NUMA node; a machine of four
 * GPUs or more has two nodes. NVLink joins boards of one model that are next to
 * each other in the list:
 *   hgx   every link of every GPU leads to an NVSwitch
 *   mesh  the hybrid cube mesh of a DGX-1, in groups of eight
 *   nvl   neighbours form pairs, bridged with all their links
 *   pcie  links lead nowhere
 * auto means hgx for modules (mesh if older than NVLink 3), nvl for cards that
 * have links.
 */
#ifndef GKF_TOPOLOGY_H
#define GKF_TOPOLOGY_H

#include "base/export.h"
#include "machine/file/numbers.h"

#include <stdint.h>

struct gkf_topology;
struct gkf_board;
struct gkf_profile;

/* How far apart two GPUs are; numbered as nvmlGpuTopologyLevel_t. */
enum gkf_distance {
	GKF_SAME_BOARD = 0,
	GKF_SAME_SWITCH = 10,   /* one PCI bridge between the GPUs */
	GKF_SAME_SWITCHES = 20, /* several bridges, but no host bridge */
	GKF_SAME_BRIDGE = 30,
	GKF_SAME_NODE = 40,
	GKF_SAME_MACHINE = 50,
};

/* Makes the topology of count boards, at most 64; reads only their profiles. */
void gkf_topology_make(const struct gkf_board *boards, unsigned count,
		       enum gkf_layout layout, struct gkf_topology *ret);

/* The distance between two GPUs, both below the topology's count. */
GKF_API enum gkf_distance gkf_topology_distance(const struct gkf_topology *t,
						unsigned a, unsigned b);

/* The layout with that name ("auto", ...); -1: none. */
int gkf_layout_find(const char *name);

/*
 * An NVSwitch: its PCI address (function 0 of device 0) and its ids, device id
 * << 16 | vendor; 0 where they are not known.
 */
struct gkf_nvswitch {
	uint32_t domain, bus, pci_device_id;
};
GKF_API struct gkf_nvswitch
gkf_topology_nvswitch(const struct gkf_topology *t,
		      const struct gkf_profile *profile, unsigned device,
		      unsigned nvswitch);

#endif
