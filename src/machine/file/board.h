/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - a GPU's board: its model, its serial numbers, its PCI address. */
#ifndef GKF_FILE_BOARD_H
#define GKF_FILE_BOARD_H

#include "machine/file/numbers.h"
#include "machine/file/profile.h"

/* The facts of a device that never change. */
struct gkf_board {
	struct gkf_profile profile;
	char uuid[48];   /* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
	char serial[32]; /* empty on consumer boards */
	uint32_t pci_domain, pci_bus, pci_device;
	uint32_t minor;
	/* Seed of the board's differences from its model; 0: none (life.h). */
	uint64_t seed;
};

_Static_assert(sizeof(struct gkf_board) <= GKF_BOARD_ROOM,
	       "the machine file has room for a board");

#endif
