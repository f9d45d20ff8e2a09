/*
 * tape.h - snapshots in a file, compressed, for replay. docs/RECORD.md has
 * the format. A tape that ends in the middle of something, or is damaged
 * somewhere, is read up to there, and from the next key block on.
 */
#ifndef GK_RECORD_TAPE_H
#define GK_RECORD_TAPE_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* ---- writing ---- */

/* The bytes that every tape begins with. */
#define GK_TAPE_HEADER     "GKTAPE\r\n\1\0\0\0\0\0\0"
#define GK_TAPE_HEADER_LEN 16

struct gk_tape_writer;

/* NULL without memory. */
struct gk_tape_writer *gk_tape_writer_new(void);
void gk_tape_writer_free(struct gk_tape_writer *writer);

/*
 * Adds one block. anew: what comes before in the file is not ours, or not
 * there: it must be readable on its own. 0 or a gk_err; after a failure only
 * anew works.
 */
int gk_tape_add(struct gk_tape_writer *writer, const struct gk_snapshot *snap,
		bool anew, struct gk_buf *out);

/* Where the last whole block of a file ends. */
uint64_t gk_tape_whole(int fd, uint64_t size);

/* ---- reading ---- */

struct gk_tape; /* one thread at a time */

/*
 * Opens a tape and lists its snapshots. GK_ERR_INVALID: no tape;
 * GK_ERR_VERSION: of a later gpukit; GK_ERR_NOT_FOUND and the like. A tape
 * without any whole snapshot is GK_ERR_CORRUPT.
 */
int gk_tape_open(const char *path, struct gk_tape **ret_tape);
void gk_tape_close(struct gk_tape *tape);

/* Why a tape cannot be opened or read, for people; static. */
const char *gk_tape_strerror(int err);

size_t gk_tape_count(const struct gk_tape *tape);

/* Bytes that could not be read, wherever they are. */
uint64_t gk_tape_damaged(const struct gk_tape *tape);

/*
 * When a snapshot was taken: nanoseconds since 1970; 0 past the end. Never
 * earlier than that of the one before: when the clock was set back the times
 * of all that follow are later by as much.
 */
uint64_t gk_tape_time(const struct gk_tape *tape, size_t at);

/* The last snapshot that is not later than a time; the first if all are. */
size_t gk_tape_find(const struct gk_tape *tape, uint64_t time_ns);

/*
 * One snapshot; the next one costs least. Free with gk_snapshot_free().
 * GK_ERR_CORRUPT: its bytes say nothing sensible; GK_ERR_RANGE: past the end.
 */
int gk_tape_read(struct gk_tape *tape, size_t at,
		 struct gk_snapshot **ret_snap);

#endif
