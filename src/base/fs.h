/* SPDX-License-Identifier: Apache-2.0 */
/* fs.h - reads small files whole and replaces them atomically. */
#ifndef GK_BASE_FS_H
#define GK_BASE_FS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads at most cap - 1 bytes of a file, relative to a directory descriptor (or
 * AT_FDCWD), and adds a NUL; cap must be at least 1. Returns the number of
 * bytes without the NUL, or a gk_err.
 */
ssize_t gk_read_at(int dir, const char *path, char *buf, size_t cap);

/* Like gk_read_at(), but reads an open file, from its current offset. */
ssize_t gk_read_fd(int fd, char *buf, size_t cap);

/*
 * Replaces a file: writes a temporary file beside it, then syncs and renames
 * this file. At any time, even after a crash, readers see either all of the old
 * content or all of the new. Returns 0 or a gk_err.
 */
int gk_write_atomic(const char *path, const void *bytes, size_t len,
		    mode_t mode);

/*
 * Creates a private directory (0700). If it exists, it must belong to the user
 * and no other user may be able to write to it, else GK_ERR_PERMISSION. Returns
 * 0 or a gk_err.
 */
int gk_make_private_dir(const char *path);

/*
 * Writes the path of a private directory for files that last until the machine
 * reboots. That is /dev/shm/NAME-UID or, if this belongs to another user or
 * cannot be written, $XDG_RUNTIME_DIR/NAME, provided that $XDG_RUNTIME_DIR is
 * private. Does not create the directory. Returns 0, or GK_ERR_INVALID if the
 * path does not fit.
 */
int gk_name_shared_dir(const char *name, char *ret_path, size_t cap);

#endif
