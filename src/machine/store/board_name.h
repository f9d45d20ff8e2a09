/* board_name.h - what a board of a new machine is called, if not by its seed.
 */
#ifndef GKF_BOARD_NAME_H
#define GKF_BOARD_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct gkf_board_name {
	char uuid[48];   /* empty: of the seed */
	char serial[32]; /* empty: the board has none */
	bool has_place;  /* else it sits where its number says */
	uint32_t pci_domain, pci_bus, pci_device;
	int minor; /* negative: its number */
};

#endif
