/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve.h - reserves devices by locks, which the kernel releases when their
 * holder ends, however it ends.
 *
 * All users of a host share one empty file. A device is reserved by an open
 * file description (OFD) lock on a byte of it. The descriptor holds the locks,
 * also after exec(2) and fork(2), until its last copy is closed.
 */
#ifndef GK_CORE_RESERVE_H
#define GK_CORE_RESERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The file of this host: in /run/lock if all users may write there, else in
 * /dev/shm. /dev/shm is the second choice because systemd removes a user's
 * files there at logout (RemoveIPC), and later processes would then lock a new
 * file.
 */
const char *gk_reserve_path(void);

/*
 * Why the file cannot be used. This must be checked, because any user could
 * create another file in its place, or lock it.
 */
struct gk_reserve_bar {
	enum gk_reserve_bar_kind {
		GK_BAR_NONE,
		GK_BAR_KIND,      /* not a regular file; `mode` is set */
		GK_BAR_CLOSED,    /* this user may not open it */
		GK_BAR_DIRECTORY, /* others can replace files in its folder */
		GK_BAR_LOCK,      /* locked, but not as a reservation */
		GK_BAR_ERROR,     /* `error` is an errno */
	} kind;
	uid_t owner; /* owner of the file, or GK_RESERVE_NOBODY */
	mode_t mode;
	pid_t holder; /* who locks it; 0: unknown */
	int error;
};
#define GK_RESERVE_NOBODY ((uid_t)-1)

/*
 * Opens the file. If `to_take`, creates the file if it does not exist. Never
 * blocks. The descriptor closes on exec. Returns 0, or a gk_err with the reason
 * in *ret_bar. Without `to_take`, *ret_fd is -1 if there is no file, and
 * *ret_bar may be set although a descriptor is returned.
 */
int gk_reserve_open(const char *path, bool to_take, int *ret_fd,
		    struct gk_reserve_bar *ret_bar);

/*
 * Enters the critical section, in which one process at a time chooses and
 * reserves devices. Waits at most until the time until_ns of gk_mono_ns().
 * Returns 0 or a gk_err; on GK_ERR_TIMEOUT, *ret_bar has the holder.
 */
int gk_reserve_enter(int fd, uint64_t until_ns, struct gk_reserve_bar *ret_bar);
void gk_reserve_leave(int fd);

/*
 * Whether a device is reserved. scope names the machine, because devices of
 * different machines may have the same UUID; "" is this host.
 */
enum gk_reserve_hold {
	GK_HOLD_NONE,
	GK_HOLD_RESERVED,
	GK_HOLD_FOREIGN, /* locked, but not as a reservation; see *ret_bar */
};
enum gk_reserve_hold gk_reserve_held(int fd, const char *scope,
				     const char *uuid,
				     struct gk_reserve_bar *ret_bar);

/* Reserves a device. Returns 0, or GK_ERR_IN_USE if it is reserved already. */
int gk_reserve_take(int fd, const char *scope, const char *uuid);

#endif
