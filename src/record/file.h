/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the file of a recording. Each write is completed or undone, whatever
 * happens to the recorder or the disk. The caller must ignore SIGXFSZ, so that
 * exceeding a size limit returns an error, as a full disk does.
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
	const char *header; /* written at the start of each file */
	size_t header_len;
	bool append;    /* append if the header matches, else replace */
	bool binary;    /* not lines: never add a missing newline */
	bool mode_told; /* mode also applies when appending */
	mode_t mode;
	uint64_t rotate_bytes, rotate_ns; /* 0: never */
	int stop; /* polls readable when the recorder is to end; a stream's
		   * reader then gets one more second; 0: none */
	/*
	 * Returns where the last complete record of a file ends. When
	 * appending, the rest is cut off. NULL: at the end of the file.
	 */
	uint64_t (*whole)(int fd, uint64_t size);
};

struct gk_record_file {
	struct gk_record_file_options options;
	struct gk_spot spot; /* unused for standard output */
	int fd;
	bool regular;
	bool ended;        /* the stream has no reader any more */
	uint64_t begun_ns; /* when this file was opened,
			    * CLOCK_MONOTONIC */
	uint64_t old_ns;   /* the file's age at begun_ns */
	unsigned number;   /* number of the last rotated file */
	/* The path given by the user, for messages. */
	char path[PATH_MAX];
	char trouble[PATH_MAX + 480]; /* message of the last error */
};

/*
 * Opens the file and writes its header. Neither the file nor any part of its
 * path may be a link or file that another user has put into a directory that
 * everyone may write to (trust.h). A file to be replaced remains until the new
 * one has its header, so it survives a failure. The strings of options must
 * outlive the file. Returns 0, or a gk_err with `trouble` set.
 */
int gk_record_file_open(struct gk_record_file *file,
			const struct gk_record_file_options *options);

/*
 * Writes bytes that belong together. A failure or SIGKILL at any moment leaves
 * either all of them or none in a regular file. Returns 0, or a gk_err with
 * `trouble` set.
 */
int gk_record_file_write(struct gk_record_file *file, const char *bytes,
			 size_t len);

/* Whether to rotate before writing len more bytes. */
bool gk_record_file_full(const struct gk_record_file *file, size_t len);

/*
 * Renames the file to NAME.1.EXT, NAME.2.EXT and so on, in order of time, and
 * begins a new one. If the path now leads to another file, another recorder has
 * already rotated; then recording continues in that file. Returns 0, or a
 * gk_err with `trouble` set.
 */
int gk_record_file_rotate(struct gk_record_file *file);

/* Returns 0, or a gk_err if the disk reports a write error only now. */
int gk_record_file_close(struct gk_record_file *file);

#endif
