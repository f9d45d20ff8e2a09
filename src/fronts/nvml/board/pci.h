/*
 * pci.h - PCI addresses of GPUs and switches, in the structs of NVML.
 */
#ifndef GKF_NVML_PCI_H
#define GKF_NVML_PCI_H

#include "fronts/nvml/front.h"

struct front_pci {
	unsigned domain, bus, device;
	unsigned device_id, subsystem_id; /* id << 16 | vendor */
};

struct front_pci front_pci_of(const struct gkf_board *board);

/* Fill the struct of _v3, of 68 bytes, and that of _v2, of 52. */
void front_pci_v3(const struct front_pci *from, nvmlPciInfo_t *to);
void front_pci_v2(const struct front_pci *from, nvmlPciInfo_v2_t *to);

/* The listed GPU at an address, or -1. */
int front_pci_find(const struct call *c, unsigned domain, unsigned bus,
		   unsigned device);

#endif
