/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci.h - PCI addresses of GPUs and NVSwitches as NVML's structs.
 */
#ifndef GKF_NVML_PCI_H
#define GKF_NVML_PCI_H

#include "fronts/nvml/front.h"

struct front_pci {
	unsigned domain, bus, device;
	unsigned device_id, subsystem_id; /* id << 16 | vendor */
};

struct front_pci front_pci_of(const struct gkf_board *board);

/* Fill in the struct of the _v3 functions (68 bytes) or of the _v2 ones (52
 * bytes). */
void front_pci_v3(const struct front_pci *from, nvmlPciInfo_t *to);
void front_pci_v2(const struct front_pci *from, nvmlPciInfo_v2_t *to);

/* The listed GPU at an address, or -1. */
int front_pci_find(const struct call *c, unsigned domain, unsigned bus,
		   unsigned device);

#endif
