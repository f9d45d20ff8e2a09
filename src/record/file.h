/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the file of a recording. Each write is completed or undone, whatever
 * happens to the recorder or the disk. The caller must ignore SIGXFSZ;
 * exceeding a size limit then returns an error, as a full disk does.
 * Single-threaded.
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
	const char *header; /* written at the start of every file */
	size_t header_len;
	bool append; /* append to a file with the same header; replace any
		      * other */
	bool binary; /* not text: never add a missing newline */
	mode_t mode;
	bool mode_told; /* `mode` also applies to a file that is appended to */
	uint64_t rotate_bytes, rotate_ns; /* 0: never */
	/*
	 * A descriptor that becomes readable when the recorder must end; the
	 * reader of a stream then has one more second. 0: none.
	 */
	int stop;
	/*
	 * Returns where the last complete record of a file ends. When a file is
	 * appended to, the rest is removed. NULL: records end at the end of the
	 * file.
	 */
	uint64_t (*whole)(int fd, uint64_t size);
};

struct gk_record_file {
	struct gk_record_file_options options;
	struct gk_spot spot; /* unused for standard output */
	int fd;
	bool regular;
	bool ended;        /* the stream has no reader any more */
	uint64_t begun_ns; /* when this file was opened (CLOCK_MONOTONIC) */
	uint64_t old_ns;   /* age of the file at begun_ns */
	unsigned number;   /* number of the last rotated file */
	/* The path given by the user, for messages. */
	char path[PATH_MAX];
	char trouble[PATH_MAX + 480]; /* message of the last error */
};

/*
 * Opens the file and writes its header. Neither the file nor a part of its path
 * may be a link or file that another user has put into a directory that
 * everyone may write to (see trust.h). When a file is replaced, the old one is
 * kept until the new one has its header, so that a failure does not lose it.
 * The strings of options must outlive the file. Returns 0, or a gk_err with
 * `trouble` set.
 */
int gk_record_file_open(struct gk_record_file *file,
			const struct gk_record_file_options *options);

/*
 * Writes bytes that belong together. If it fails or is killed at any moment, a
 * regular file contains either all of them or none. Returns 0, or a gk_err with
 * `trouble` set.
 */
int gk_record_file_write(struct gk_record_file *file, const char *bytes,
			 size_t len);

/* Whether the file must be rotated before len more bytes are written. */
bool gk_record_file_full(const struct gk_record_file *file, size_t len);

/*
 * Renames the file to NAME.1.EXT, NAME.2.EXT and so on, in order of time, and
 * begins a new one. If the path already leads to another file, another recorder
 * has rotated; recording then continues in that file. Returns 0, or a gk_err
 * with `trouble` set.
 */
int gk_record_file_rotate(struct gk_record_file *file);

/* Closes the file. Returns 0, or a gk_err if the disk reports a write error
 * only now. */
int gk_record_file_close(struct gk_record_file *file);

#endif
