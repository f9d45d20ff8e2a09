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

/*
 * The file of this host: in /run/lock where all users may write there, else in
 * /dev/shm. systemd removes a user's files from that one when they log out
 * (RemoveIPC), and who comes next would then lock another file.
 */
const char *gk_reserve_path(void);

/*
 * Opens the file, which is made if need be. The descriptor closes on exec. 0
 * or a gk_err.
 */
int gk_reserve_open(const char *path, int *ret_fd);

/*
 * Enters the section in which one process at a time looks for devices and
 * takes them. Waits some seconds at most. 0 or a gk_err.
 */
int gk_reserve_enter(int fd);
void gk_reserve_leave(int fd);

/* scope: devices of different machines may have the same UUID; "" for the
 * host's own. */
bool gk_reserve_held(int fd, const char *scope, const char *uuid);

/* 0; GK_ERR_IN_USE: somebody else has it. */
int gk_reserve_take(int fd, const char *scope, const char *uuid);

#endif
