/*
 * owners.h - whose the memory of a GPU is: users, or the processes of the only
 * user, each with a number that stays while this runs.
 */
#ifndef GK_FORMAT_OWNERS_H
#define GK_FORMAT_OWNERS_H

#include <gpukit/gpukit.h>

#define GK_OWNERS 6 /* that have a number (and a colour) of their own */
/* The rest: those from the seventh on, and what no process holds. */
#define GK_OWNER_REST GK_OWNERS
#define GK_SHARES     (GK_OWNERS + 2)

/* Users in the order in which they were seen first. Zero it to start. */
struct gk_owners {
	char names[GK_OWNERS][GK_NAME_MAX];
	int count;
};

/* Takes in who has processes in a snapshot. */
void gk_owners_take(struct gk_owners *owners, const struct gk_snapshot *snap);

/*
 * The owner that a process of the snapshot counts for: 0 to GK_OWNER_REST.
 * With one user only it is the processes that are told apart, each by its place
 * among those of its device.
 */
int gk_owner_of(const struct gk_owners *owners, const struct gk_snapshot *snap,
		const struct gk_process *process);

/* Part of a memory. The name lives as long as the snapshot. */
struct gk_share {
	int owner;
	const char *name;
	int64_t bytes;
	unsigned processes;
	pid_t pid; /* of the one process that it is; 0: it is a user, or rest */
};

/*
 * Who holds the memory of a device (a position), with its MIG devices, most
 * first; what is left is the driver's, or others'. Returns how many.
 */
int gk_shares_of(const struct gk_owners *owners, const struct gk_snapshot *snap,
		 size_t device, struct gk_share shares[GK_SHARES]);

#endif
