/* SPDX-License-Identifier: Apache-2.0 */
/* pci.c - fills in NVML's PCI structs, and finds GPUs by PCI address. */
#include "fronts/nvml/board/pci.h"
#include "machine/file/board.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"

#include <stdio.h>
#include <string.h>

struct front_pci front_pci_of(const struct gkf_board *b)
{
	return (struct front_pci){
	    .domain = b->pci_domain,
	    .bus = b->pci_bus,
	    .device = b->pci_device,
	    .device_id = (unsigned)b->profile.pci_device_id,
	    .subsystem_id = (unsigned)b->profile.pci_subsystem_id,
	};
}

static void bus_id(const struct front_pci *from, char *to, size_t len)
{
	snprintf(to, len, NVML_DEVICE_PCI_BUS_ID_FMT, from->domain, from->bus,
		 from->device);
}

static void legacy_bus_id(const struct front_pci *from, char *to, size_t len)
{
	snprintf(to, len, NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT,
		 from->domain & 0xffff, from->bus & 0xff, from->device & 0xff);
}

void front_pci_v3(const struct front_pci *from, nvmlPciInfo_t *to)
{
	*to = (nvmlPciInfo_t){
	    .domain = from->domain,
	    .bus = from->bus,
	    .device = from->device,
	    .pciDeviceId = from->device_id,
	    .pciSubSystemId = from->subsystem_id,
	};
	legacy_bus_id(from, to->busIdLegacy, sizeof(to->busIdLegacy));
	bus_id(from, to->busId, sizeof(to->busId));
}

void front_pci_v2(const struct front_pci *from, nvmlPciInfo_v2_t *to)
{
	*to = (nvmlPciInfo_v2_t){
	    .domain = from->domain,
	    .bus = from->bus,
	    .device = from->device,
	    .pciDeviceId = from->device_id,
	    .pciSubSystemId = from->subsystem_id,
	};
	legacy_bus_id(from, to->busId, sizeof(to->busId));
}

int front_pci_find(const struct call *c, unsigned domain, unsigned bus,
		   unsigned device)
{
	for (unsigned i = 0; i < c->device_count; i++) {
		const struct gkf_board *b = gkf_board(c->machine, i);

		if (b->pci_domain == domain && b->pci_bus == bus &&
		    b->pci_device == device && gkf_gate_lists(c->gate, i))
			return (int)i;
	}
	return -1;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	struct front_pci at;

	ENTER_DEVICE(nvmlDeviceGetPciInfo_v3, device, pci != NULL);
	at = front_pci_of(c.board);
	front_pci_v3(&at, pci);
	return NVML_SUCCESS;
}

/* Callers pass the 52-byte struct of _v2, although nvml.def has nvmlPciInfo_t.
 */
static nvmlReturn_t old_pci_info(enum nvml_row row, nvmlDevice_t handle,
				 void *ret_pci)
{
	struct call c;
	struct front_pci at;
	nvmlReturn_t r = enter_device(&c, row, handle, ret_pci != NULL);

	if (r)
		return r;
	at = front_pci_of(c.board);
	front_pci_v2(&at, ret_pci);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	return old_pci_info(ROW_nvmlDeviceGetPciInfo, device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	return old_pci_info(ROW_nvmlDeviceGetPciInfo_v2, device, pci);
}

/* The PCI class "display controller", with its subclasses for boards with VGA
 * output and for those without a display (3D). */
#define CLASS_DISPLAY 3
#define SUBCLASS_VGA  0
#define SUBCLASS_3D   2

/* Boards for desktops and workstations have VGA output. */
static bool has_vga(const struct gkf_profile *profile)
{
	return gkf_is_consumer(profile) ||
	       !strcmp(profile->brand, "NVIDIA_RTX") ||
	       !strcmp(profile->brand, "QUADRO_RTX");
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
	struct front_pci at;

	ENTER_DEVICE(nvmlDeviceGetPciInfoExt, device, pci != NULL);
	if (!TAKES(pci->version, nvmlPciInfoExt_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	at = front_pci_of(c.board);
	pci->domain = at.domain;
	pci->bus = at.bus;
	pci->device = at.device;
	pci->pciDeviceId = at.device_id;
	pci->pciSubSystemId = at.subsystem_id;
	pci->baseClass = CLASS_DISPLAY;
	pci->subClass = has_vga(&c.board->profile) ? SUBCLASS_VGA : SUBCLASS_3D;
	bus_id(&at, pci->busId, sizeof(pci->busId));
	return NVML_SUCCESS;
}

/*
 * According to NVML's documentation, GPUs with the same board id share a
 * switch. For boards with one GPU, the id is derived from the address: a
 * published listing has 0x8300 for 83:00.0.
 */
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int *boardId)
{
	ENTER_DEVICE(nvmlDeviceGetBoardId, device, boardId != NULL);
	*boardId = c.board->pci_domain << 16 | c.board->pci_bus << 8 |
		   c.board->pci_device;
	return NVML_SUCCESS;
}

/* Interrupts (MSI) are numbered in bus order; the first number is made up. */
#define FIRST_IRQ 64

nvmlReturn_t nvmlDeviceGetIrqNum(nvmlDevice_t device, unsigned int *irqNum)
{
	ENTER_DEVICE(nvmlDeviceGetIrqNum, device, irqNum != NULL);
	*irqNum = FIRST_IRQ + c.index;
	return NVML_SUCCESS;
}
