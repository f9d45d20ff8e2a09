/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofd_locks.h - lists all locks of open files (F_OFD_SETLK), which /proc/locks
 * shows in every pid namespace. Such a lock lasts as long as the open file:
 * until the last descriptor, including one in transit through a socket, is
 * closed and the last mapping is removed.
 */
#ifndef GK_BASE_OFD_LOCKS_H
#define GK_BASE_OFD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct gk_ofd_lock {
	uint64_t device; /* encoded like st_dev, by makedev() */
	uint64_t inode;
	uint64_t begin, end; /* end is exclusive */
};

typedef void gk_ofd_lock_visit(void *arg, const struct gk_ofd_lock *lock);

/*
 * Calls visit() for every lock that is held throughout the call, at least once
 * each. Returns 0; GK_ERR_NOT_SUPPORTED if the kernel does not list such locks;
 * another gk_err if they cannot be listed now, for example because no
 * descriptor is free. On failure, visit() may already have been called for some
 * locks. Allocates no memory.
 */
int gk_ofd_locks(gk_ofd_lock_visit *visit, void *arg);

/*
 * Parses one line of /proc/locks. Returns false if it describes another kind of
 * lock, or a lock that a process still waits for.
 */
bool gk_ofd_lock_parse(const char *line, struct gk_ofd_lock *ret_lock);

#endif
