/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h - who uses the memory of a GPU. The owners are users or, if there is
 * only one user, that user's processes. An owner's number does not change while
 * the program runs.
 */
#ifndef GK_FORMAT_OWNERS_H
#define GK_FORMAT_OWNERS_H

#include <gpukit/gpukit.h>

#define GK_OWNERS 6 /* owners with a number and colour of their own */
/* Represents all further owners, and memory that belongs to no process. */
#define GK_OWNER_REST GK_OWNERS
#define GK_SHARES     (GK_OWNERS + 2)

/* Users in the order in which they appeared. Zero it to start. */
struct gk_owners {
	char names[GK_OWNERS][GK_NAME_MAX];
	int count;
};

/* Adds the users who have processes in the snapshot. */
void gk_owners_take(struct gk_owners *owners, const struct gk_snapshot *snap);

/*
 * Returns the number of a process's owner, 0 to GK_OWNER_REST. If there is only
 * one user, the owner is the process itself, and its number is its position
 * among the processes of its device.
 */
int gk_owner_of(const struct gk_owners *owners, const struct gk_snapshot *snap,
		const struct gk_process *process);

/* A share of a device's memory. The name lives as long as the snapshot. */
struct gk_share {
	int owner;
	const char *name;
	int64_t bytes;
	unsigned processes;
	pid_t pid; /* pid of the owner if it is a process; else 0 */
};

/*
 * Divides the used memory of a device among its owners. `device` is its
 * position in the snapshot; the memory of its MIG devices is included. Shares
 * are sorted by size, largest first; the last one is the remainder, which the
 * driver or unknown processes hold. Returns the number of shares.
 */
int gk_shares_of(const struct gk_owners *owners, const struct gk_snapshot *snap,
		 size_t device, struct gk_share shares[GK_SHARES]);

#endif
