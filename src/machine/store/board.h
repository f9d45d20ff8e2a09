/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - the boards of an open machine, and how they are connected. */
#ifndef GKF_BOARD_H
#define GKF_BOARD_H

#include "base/export.h"

struct gkf_board;
struct gkf_machine;
struct gkf_topology;

/*
 * gkf_board() returns the board of a device, whose number must be below
 * gkf_device_count(). A board never changes. It was checked and copied when the
 * machine was opened, so a process that overwrites the file later does no harm.
 * Valid until gkf_machine_close().
 */
GKF_API unsigned gkf_device_count(const struct gkf_machine *m);
GKF_API const struct gkf_board *gkf_board(const struct gkf_machine *m,
					  unsigned device);

/* How the boards are connected; valid until gkf_machine_close(). */
GKF_API const struct gkf_topology *gkf_topology(const struct gkf_machine *m);

#endif
