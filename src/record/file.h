/*
 * file.h - the file of a recording: what belongs together is written whole or
 * not at all, whatever happens to the recorder or the disk.
 *
 * SIGXFSZ must be ignored, so that a limit is an error like a full disk. One
 * thread.
 */
#ifndef GK_RECORD_FILE_H
#define GK_RECORD_FILE_H

#include "record/trust.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gk_record_file_options {
	const char *path;   /* "-": standard output */
	const char *header; /* what each file begins with */
	size_t header_len;
	bool append;    /* to a file with the same header; else replace it */
	bool binary;    /* no lines: a rest without an end is not ended */
	bool mode_told; /* mode is for a file that is appended to as well */
	mode_t mode;
	uint64_t rotate_bytes, rotate_ns; /* 0: never */
	int stop; /* readable: who reads a stream is waited for no longer, but
		     a second; 0: none */
	/* Where the last whole thing ends, of a file that is appended to; the
	 * rest is cut off. NULL: at the end of the file. */
	uint64_t (*whole)(int fd, uint64_t size);
};

struct gk_record_file {
	struct gk_record_file_options options;
	struct gk_spot spot; /* of a file that has a name */
	int fd;
	bool regular;
	bool ended;                   /* nobody reads the stream (any more) */
	uint64_t begun_ns;            /* CLOCK_MONOTONIC, of this file */
	uint64_t old_ns;              /* how old it was then */
	unsigned number;              /* of the last file that was put aside */
	char path[PATH_MAX];          /* as it was given, for people */
	char trouble[PATH_MAX + 480]; /* what went wrong, for people */
};

/*
 * Opens it, with its header. Neither it nor the way there may be a link or file
 * that somebody else has put where everyone may write (trust.h). A file that is
 * replaced is there until the new one has its header: a failure leaves it
 * alone. Strings of options must outlive the file. 0 or a gk_err, with trouble
 * told.
 */
int gk_record_file_open(struct gk_record_file *file,
			const struct gk_record_file_options *options);

/*
 * Writes what belongs together. Of a regular file a failure leaves the bytes
 * that were there before, and so does SIGKILL at any moment. 0 or a gk_err,
 * with trouble told.
 */
int gk_record_file_write(struct gk_record_file *file, const char *bytes,
			 size_t len);

/* Whether these many bytes more are to go to a new file. */
bool gk_record_file_full(const struct gk_record_file *file, size_t len);

/*
 * Puts the file aside as NAME.1.EXT, NAME.2.EXT and so on, in the order of
 * time, and begins a new one. When the path leads to another file by now,
 * that of another recorder, it goes on there. 0 or a gk_err, with trouble told.
 */
int gk_record_file_rotate(struct gk_record_file *file);

/* 0, or the gk_err of what the disk says only now. */
int gk_record_file_close(struct gk_record_file *file);

#endif
