/* SPDX-License-Identifier: Apache-2.0 */
/* boards.h - finds a board in the machine file. */
#ifndef GKF_FILE_BOARDS_H
#define GKF_FILE_BOARDS_H

#include "machine/file/board.h"
#include "machine/file/file.h"

static inline struct gkf_board *gkf_file_board(struct gkf_file *file,
					       unsigned device)
{
	return (struct gkf_board *)(void *)file->board[device];
}

#endif
