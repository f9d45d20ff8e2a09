/* share_file.h - the file of a device's memory; see share.h. */
#ifndef GKF_SHARE_FILE_H
#define GKF_SHARE_FILE_H

#include "device/share.h"

#define SHARE_ROWS 16384u

/* What others may have written, but for who made it. */
struct share_row {
	_Atomic uint64_t id; /* 0: nothing is shared */
	uint64_t kind, offset, size, note;
	uint64_t board; /* tells the board of a machine from those of others */
	uint64_t device;
	struct gkf_share_event event;
	uint64_t unused[7];
};
_Static_assert(sizeof(struct share_row) == 256, "rows do not cross pages");

#define SHARE_ROWS_SIZE (SHARE_ROWS * sizeof(struct share_row))

/* The words of a handle. */
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

/* The piece at an offset is freed; all of an arena are. */
void share_drop(struct arena *a, uint64_t offset);
void share_drop_all(struct arena *a);
void share_forget(void);

/* Of a device: by its board's UUID. */
uint64_t share_board(const struct gkf_machine *m, unsigned device);

/*
 * A file of `size` bytes and its rows, and where it is shown, made by the
 * keeper; the number of its descriptor there. -1: there can be none.
 */
int share_file(void *at, uint64_t size);
void share_file_close(int file);

/* The file of an arena whose number is `file`, as the program opens it. */
int share_reopen(int file);

#endif
