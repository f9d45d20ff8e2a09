/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the files of a group: they appear whole or not at all, and are
 * opened only if they can be trusted.
 */
#ifndef GKL_FILE_H
#define GKL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The owners whose files are trusted.
 *
 * GKL_PRIVATE: files of this user or root that nobody else can write.
 * GKL_COMMON: as in HAMi-core. The operator names a directory to which all
 * users of a container write; files of any user are trusted, and new files are
 * writable for all.
 *
 * A directory with the sticky bit (/tmp) is an exception, because its users do
 * not trust each other. There, only files of this user or root that nobody else
 * can write are trusted, and others lose write access to this user's files.
 */
enum gkl_trust { GKL_PRIVATE, GKL_COMMON };

struct gkl_file_kind {
	enum gkl_trust trust;
	mode_t mode; /* mode of a new file */
	size_t size; /* minimum size */
	/* Fills a new file, which is all zeros. */
	void (*fill)(void *at, const void *arg);
	const void *arg;
};

/*
 * Returns a descriptor of a trusted file. GK_ERR_PERMISSION: it is not trusted;
 * GK_ERR_CORRUPT: it is not a regular file, or too short; or another gk_err.
 */
int gkl_file_open(const char *path, const struct gkl_file_kind *kind,
		  bool writable);

/*
 * Whether everybody who can reach the directory of a path is trusted: either
 * all of them may write to the directory and to each other's files there, or
 * nobody else can reach it.
 */
bool gkl_file_is_shared(const char *path);

/* Like gkl_file_open(), but makes the file if it does not exist. */
int gkl_file_open_or_make(const char *path, const struct gkl_file_kind *kind,
			  bool writable);

/* Returns a descriptor of a directory to which nobody else can write. */
int gkl_directory_open(const char *path);

/*
 * Locks the directory of a path until the returned descriptor is closed.
 * Returns a negative value if another process has kept the lock for a second;
 * it may hold it for ever.
 */
int gkl_file_lock_directory(const char *path);

#endif
