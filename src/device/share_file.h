/* SPDX-License-Identifier: Apache-2.0 */
/* share_file.h - the file that contains a device's memory; see share.h. */
#ifndef GKF_SHARE_FILE_H
#define GKF_SHARE_FILE_H

#include "device/share.h"

#define SHARE_ROWS 16384u

/* A row of the file. Other processes can write to all of it. */
struct share_row {
	_Atomic uint64_t id; /* 0: unused */
	uint64_t kind, offset, size, note;
	uint64_t board; /* share_board() of the device */
	uint64_t device;
	struct gkf_share_event event;
	uint64_t unused[7];
};
_Static_assert(sizeof(struct share_row) == 256, "rows do not cross pages");

#define SHARE_ROWS_SIZE (SHARE_ROWS * sizeof(struct share_row))

/* The contents of a handle. */
struct share_words {
	uint32_t magic, kind;
	int32_t pid, thread;
	uint64_t start, pid_ns, inode, id;
	uint32_t file, row;
	uint64_t check;
};
_Static_assert(sizeof(struct share_words) == sizeof(struct gkf_shared),
	       "a handle");

#define SHARE_MAGIC 0x6b706731u

uint64_t share_check(const struct share_words *words);

struct arena;

/*
 * share_drop() ends the sharing of the piece at an offset, which is being
 * freed. share_drop_all() ends the sharing of everything in an arena.
 */
void share_drop(struct arena *a, uint64_t offset);
void share_drop_all(struct arena *a);
void share_forget(void);

/* A hash of a device's number and its board's UUID. */
uint64_t share_board(const struct gkf_machine *m, unsigned device);

/*
 * Makes a file for `size` bytes and the rows, on the keeper thread, and maps
 * the memory at `at`. Returns the keeper's descriptor; -1: impossible.
 */
int share_file(void *at, uint64_t size);
void share_file_close(int file);

/* Opens the file of the keeper's descriptor again, for the program. */
int share_reopen(int file);

#endif
