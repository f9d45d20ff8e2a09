/*
 * fs.h - small files: read whole, written whole or not at all.
 */
#ifndef GK_BASE_FS_H
#define GK_BASE_FS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads at most cap - 1 bytes of a file relative to a directory descriptor
 * (AT_FDCWD allowed) and adds a NUL; cap must be at least 1. Returns the number
 * of bytes without the NUL, or a gk_err.
 */
ssize_t gk_read_at(int dir, const char *path, char *buf, size_t cap);

/* The same of a file that is open, from where it stands. */
ssize_t gk_read_fd(int fd, char *buf, size_t cap);

/*
 * Replaces a file: written beside, synced, renamed. Readers see the old or
 * the new content whole, whatever happens. 0 or a gk_err.
 */
int gk_write_atomic(const char *path, const void *bytes, size_t len,
		    mode_t mode);

/*
 * Makes a private directory (0700). One that is there already must belong to
 * the user, and nobody else may write to it: else GK_ERR_PERMISSION. 0 or a
 * gk_err.
 */
int gk_make_private_dir(const char *path);

#endif
