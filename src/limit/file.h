/*
 * file.h - the files of a group: made whole or not at all, and opened
 * with suspicion.
 */
#ifndef GKL_FILE_H
#define GKL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Whose files are believed.
 *
 * GKL_PRIVATE: this user's and root's, that nobody else can write.
 * GKL_COMMON: as HAMi has it, a directory that all users of a container write
 * to, named by the operator: anybody's, and made for all. In a directory with
 * the sticky bit (/tmp), where users are strangers to each other, this user's
 * and root's only.
 */
enum gkl_trust { GKL_PRIVATE, GKL_COMMON };

struct gkl_file_kind {
	enum gkl_trust trust;
	mode_t mode; /* of one that is made */
	size_t size; /* at least */
	/* Fills a new one, which is zeros. */
	void (*fill)(void *at, const void *arg);
	const void *arg;
};

/*
 * A descriptor of a file that is believed. GK_ERR_PERMISSION: it is not;
 * GK_ERR_CORRUPT: it is no file, or shorter than it must be; other gk_errs.
 */
int gkl_file_open(const char *path, const struct gkl_file_kind *kind,
		  bool writable);

/* Makes it first where there is none. */
int gkl_file_open_or_make(const char *path, const struct gkl_file_kind *kind,
			  bool writable);

/* The same of a directory that nobody else writes to. */
int gkl_directory_open(const char *path);

#endif
