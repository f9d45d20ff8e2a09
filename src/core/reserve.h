/*
 * reserve.h - reservations of devices: locks that the kernel gives up when
 * whoever holds them ends, however it ends.
 *
 * All users of a host share one file of no content; each device is a byte of
 * it that is locked (an open file description lock). The descriptor holds the
 * locks, also after exec(2) and fork(2), until its last copy is closed.
 */
#ifndef GK_CORE_RESERVE_H
#define GK_CORE_RESERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The file of this host: in /run/lock where all users may write there, else in
 * /dev/shm. systemd removes a user's files from that one when they log out
 * (RemoveIPC), and who comes next would then lock another file.
 */
const char *gk_reserve_path(void);

/*
 * Any user can put something in the file's place or lock it: what is in the
 * way, and whose it is.
 */
struct gk_reserve_bar {
	enum gk_reserve_bar_kind {
		GK_BAR_NONE,
		GK_BAR_KIND,      /* no file lies there: mode says what */
		GK_BAR_CLOSED,    /* the file is not for this user to open */
		GK_BAR_DIRECTORY, /* others can replace what lies in it */
		GK_BAR_LOCK,      /* locked by who reserves nothing */
		GK_BAR_ERROR,     /* errno says */
	} kind;
	uid_t owner; /* of what is in the way; GK_RESERVE_NOBODY: not known */
	mode_t mode;
	pid_t holder; /* of the lock; 0: not known */
	int error;
};
#define GK_RESERVE_NOBODY ((uid_t)-1)

/*
 * Opens the file to look, or, to take, makes it if need be. Never waits for
 * what lies there. The descriptor closes on exec. 0, or a gk_err after *ret_bar
 * says why. Who only looks gets -1 with 0 where there is no file, and may get a
 * descriptor and a bar.
 */
int gk_reserve_open(const char *path, bool to_take, int *ret_fd,
		    struct gk_reserve_bar *ret_bar);

/*
 * Enters the section in which one process at a time looks for devices and
 * takes them; until: a time of gk_mono_ns(). 0, or a gk_err: GK_ERR_TIMEOUT
 * with who has been in the way.
 */
int gk_reserve_enter(int fd, uint64_t until_ns, struct gk_reserve_bar *ret_bar);
void gk_reserve_leave(int fd);

/*
 * scope: devices of different machines may have the same UUID; "" for the
 * host's own.
 */
enum gk_reserve_hold {
	GK_HOLD_NONE,
	GK_HOLD_RESERVED,
	GK_HOLD_FOREIGN, /* no reservation looks so; it is in *ret_bar */
};
enum gk_reserve_hold gk_reserve_held(int fd, const char *scope,
				     const char *uuid,
				     struct gk_reserve_bar *ret_bar);

/* 0; GK_ERR_IN_USE: somebody else has it. */
int gk_reserve_take(int fd, const char *scope, const char *uuid);

#endif
