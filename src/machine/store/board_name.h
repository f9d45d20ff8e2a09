/* SPDX-License-Identifier: Apache-2.0 */
/* board_name.h - identities given to the boards of a new machine. */
#ifndef GKF_BOARD_NAME_H
#define GKF_BOARD_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct gkf_board_name {
	char uuid[48];   /* empty: made from the seed */
	char serial[32]; /* empty: the board has none */
	/* If false, the PCI address is derived from the board's number. */
	bool has_place;
	uint32_t pci_domain, pci_bus, pci_device;
	int minor; /* if negative, the board's number is used */
};

#endif
