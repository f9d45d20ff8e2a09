/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.h - compressed snapshots in a file, for replay; docs/RECORD.md describes
 * the format. A tape consists of blocks. Key blocks can be read on their own,
 * other blocks only after all blocks since the last key block. If a tape is
 * incomplete or damaged, all snapshots before the damage can be read, and those
 * from the next key block on.
 */
#ifndef GK_RECORD_TAPE_H
#define GK_RECORD_TAPE_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* ---- writing ---- */

/* The first bytes of every tape. */
#define GK_TAPE_HEADER     "GKTAPE\r\n\1\0\0\0\0\0\0"
#define GK_TAPE_HEADER_LEN 16

struct gk_tape_writer;

/* Returns NULL when out of memory. */
struct gk_tape_writer *gk_tape_writer_new(void);
void gk_tape_writer_free(struct gk_tape_writer *writer);

/*
 * Appends one block. Set `anew` if the blocks before it in the file are missing
 * or from another writer; the block can then be read on its own. If the
 * commands of processes would make the block larger than readers accept, they
 * are left out. Returns 0 or a gk_err, such as GK_ERR_TOO_MANY if there are
 * more devices or processes than a tape may have. After a failure, the next
 * call must set `anew`.
 */
int gk_tape_add(struct gk_tape_writer *writer, const struct gk_snapshot *snap,
		bool anew, struct gk_buf *out);

/* Returns where the last complete block of a file ends. */
uint64_t gk_tape_whole(int fd, uint64_t size);

/* ---- reading ---- */

struct gk_tape; /* used by one thread at a time */

/*
 * Opens a tape and lists its snapshots. Returns GK_ERR_INVALID if it is not a
 * tape, GK_ERR_VERSION if a later gpukit made it, GK_ERR_CORRUPT if it has no
 * complete snapshot, or another gk_err such as GK_ERR_NOT_FOUND.
 */
int gk_tape_open(const char *path, struct gk_tape **ret_tape);
void gk_tape_close(struct gk_tape *tape);

/* Returns a static text that tells why a tape cannot be opened or read. */
const char *gk_tape_strerror(int err);

size_t gk_tape_count(const struct gk_tape *tape);

/*
 * Returns the number of bytes in blocks that could not be read or did not fit
 * into the list.
 */
uint64_t gk_tape_damaged(const struct gk_tape *tape);

/*
 * Returns when a snapshot was taken, in ns since 1970, or 0 beyond the end.
 * These times never decrease: if the clock was set back, all later times are
 * shifted by the same amount.
 */
uint64_t gk_tape_time(const struct gk_tape *tape, size_t at);

/* Returns the last snapshot that is not later than a time; if there is none,
 * the first one. */
size_t gk_tape_find(const struct gk_tape *tape, uint64_t time_ns);

/*
 * Reads one snapshot; reading them in order is fastest. Free it with
 * gk_snapshot_free(). Returns GK_ERR_CORRUPT if its content is invalid, or
 * GK_ERR_RANGE beyond the end.
 */
int gk_tape_read(struct gk_tape *tape, size_t at,
		 struct gk_snapshot **ret_snap);

#endif
