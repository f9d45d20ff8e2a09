/* board.h - the boards of an open machine, and how they hang together. */
#ifndef GKF_BOARD_H
#define GKF_BOARD_H

#include "base/export.h"

struct gkf_board;
struct gkf_machine;
struct gkf_topology;

/*
 * Facts that never change were checked and copied when the machine was opened:
 * a process that writes over the file later cannot lead anybody astray. device
 * must be below the count; the board is valid until gkf_machine_close().
 */
GKF_API unsigned gkf_device_count(const struct gkf_machine *m);
GKF_API const struct gkf_board *gkf_board(const struct gkf_machine *m,
					  unsigned device);

/* How they hang together; valid as long. */
GKF_API const struct gkf_topology *gkf_topology(const struct gkf_machine *m);

#endif
