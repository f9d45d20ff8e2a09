/*
 * topology.h - how the GPUs of a machine hang together: PCI tree, NUMA nodes,
 * NVLink. A pure function of the boards and the machine's layout; made once
 * when a machine is opened.
 *
 * PCI tree: two GPUs share a switch (cards of a PC hang on ports of their
 * own), switches share a host bridge, host bridges a NUMA node, of which a
 * machine of four GPUs or more has two. NVLink joins boards of one model that
 * stand side by side in the list:
 *   hgx   every link of every GPU leads to an NVSwitch
 *   mesh  the hybrid cube mesh of a DGX-1, in groups of eight
 *   nvl   neighbours form pairs, bridged with all their links
 *   pcie  links lead nowhere
 * auto takes hgx for modules, mesh for those older than NVLink 3, nvl for
 * cards that have links.
 */
#ifndef GKF_TOPOLOGY_H
#define GKF_TOPOLOGY_H

#include "base/export.h"

#include <stdint.h>

struct gkf_topology;
struct gkf_board;
struct gkf_profile;

/* How far apart two GPUs are; numbered as nvmlGpuTopologyLevel_t. */
enum gkf_distance {
	GKF_SAME_BOARD = 0,
	GKF_SAME_SWITCH = 10,   /* one PCI bridge between them */
	GKF_SAME_SWITCHES = 20, /* several, but no host bridge */
	GKF_SAME_BRIDGE = 30,
	GKF_SAME_NODE = 40,
	GKF_SAME_MACHINE = 50,
};

/* Both must be below the count. */
GKF_API enum gkf_distance gkf_topology_distance(const struct gkf_topology *t,
						unsigned a, unsigned b);

/* The layout of that name, "auto" and so on; -1: none. */
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
