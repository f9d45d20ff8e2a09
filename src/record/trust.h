/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - resolves a path, and checks that all users who could redirect it
 * are trusted.
 *
 * In a directory that everyone may write to (/tmp), anybody can create a link
 * under the name that a recorder is going to use. The kernel can be configured
 * not to follow such links (fs.protected_symlinks), but often is not. The owner
 * of a directory may create links in it, no matter who else may write to it.
 */
#ifndef GK_RECORD_TRUST_H
#define GK_RECORD_TRUST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * A name in a directory that is held open, so that nobody can replace the path
 * to it.
 */
struct gk_spot {
	int dir; /* an O_PATH descriptor; -1: none */
	char name[NAME_MAX + 1];
	bool there; /* something of this name exists */
	/* a magic link in /proc, which only open() can follow */
	bool magic;
	struct stat st; /* status of the file, or of a magic link's target */
};

/*
 * Follows links that belong to the user or root. Follows links of others only
 * in directories of the user or root that not everyone may write to. If
 * everyone may write to the last directory and it has the sticky bit, an
 * existing file must also belong to the user or root; without the sticky bit,
 * files there are meant to be shared. Returns 0, or a gk_err with the reason in
 * ret_why. Close the spot with gk_spot_close().
 */
int gk_spot_find(const char *path, struct gk_spot *ret_spot, char *ret_why,
		 size_t cap);
void gk_spot_close(struct gk_spot *spot);

/*
 * Checks again whether the name exists, and that it has not become a link.
 * Errors are those of gk_spot_find().
 */
int gk_spot_look(struct gk_spot *spot, char *ret_why, size_t cap);

#endif
