/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - a group: a policy and a ledger under one name.
 *
 * `gpukit limit` makes a directory /dev/shm/gpukit-limit-<uid>/NAME (or one in
 * XDG_RUNTIME_DIR: gk_name_shared_dir()) with the files `policy` and `ledger`,
 * and starts its program with GPUKIT_LIMIT_GROUP=<directory>.
 *
 * HAMi is another limiter, whose variables and files are supported, too. With
 * its environment alone, the group is the file CUDA_DEVICE_MEMORY_SHARED_CACHE
 * (the v1 region, region.h). Our two files are beside it: <file without
 * .cache>.gpukit-policy and .gpukit-ledger.
 */
#ifndef GKL_GROUP_H
#define GKL_GROUP_H

#include "limit/ledger.h"
#include "limit/policy.h"

struct gkl_region;

struct gkl_group {
	char path[512]; /* directory, or HAMi's region file */
	struct gkl_policy_page *policy;
	struct gkl_ledger *ledger;
	struct gkl_region *region; /* NULL without HAMi's file */
};

/*
 * Opens the group that the environment names. If HAMi's variables name it and
 * it does not exist, makes it. GK_ERR_NOT_FOUND: the environment limits
 * nothing. Other errors: a limit exists but cannot be enforced; the caller must
 * refuse GPU work.
 */
int gkl_group_from_environment(struct gkl_group *ret_group);

/*
 * For the operator. A NAME is [A-Za-z0-9._-]+ or, with a slash, the path of a
 * group's directory or of HAMi's region file. GK_ERR_NOT_FOUND: no such group;
 * GK_ERR_EXISTS: it exists already; GK_ERR_PERMISSION: it belongs to another
 * user.
 */
int gkl_group_make(const char *name, const struct gkl_policy *first,
		   struct gkl_group *ret_group);
int gkl_group_open(const char *name, bool writable,
		   struct gkl_group *ret_group);
void gkl_group_close(struct gkl_group *group);

/*
 * gkl_group_bury() removes dead processes, in HAMi's region too.
 * gkl_group_refresh() also writes the current limits to the region.
 */
void gkl_group_bury(const struct gkl_group *group);
void gkl_group_refresh(const struct gkl_group *group);

/*
 * Calls `each` with the name of every group of this user. Returns 0 or a
 * gk_err.
 */
int gkl_group_each(void (*each)(const char *name, void *arg), void *arg);

/* Removes a group without living processes; GK_ERR_IN_USE otherwise. */
int gkl_group_remove(const char *name);

#endif
