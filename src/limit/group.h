/*
 * group.h - a group: a policy and a ledger under one name.
 *
 * `gpukit limit` makes a directory /dev/shm/gpukit-limit-<uid>/NAME with the
 * files `policy` and `ledger`, and tells it to its program as
 * GPUKIT_LIMIT_GROUP=<directory>. With HAMi's environment alone, the group is
 * the file CUDA_DEVICE_MEMORY_SHARED_CACHE (the v1 region, region.h), and ours
 * lie beside it: <file without .cache>.gpukit-policy and .gpukit-ledger.
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
 * The group that the environment names, opened (HAMi's: made when it is not
 * there). GK_ERR_NOT_FOUND: the environment limits nothing. Other errors: there
 * is a limit that cannot be kept; the caller must refuse GPU work.
 */
int gkl_group_from_environment(struct gkl_group *ret_group);

/*
 * The operator's side. NAME is [A-Za-z0-9._-]+; one with a slash is a group's
 * directory or HAMi's region file. GK_ERR_NOT_FOUND: there is none;
 * GK_ERR_EXISTS: there is one already; GK_ERR_PERMISSION: it is a stranger's.
 */
int gkl_group_make(const char *name, const struct gkl_policy *first,
		   struct gkl_group *ret_group);
int gkl_group_open(const char *name, bool writable,
		   struct gkl_group *ret_group);
void gkl_group_close(struct gkl_group *group);

/* Calls `each` with the name of every group of this user. A gk_err. */
int gkl_group_each(void (*each)(const char *name, void *arg), void *arg);

/* Removes a group without living processes; GK_ERR_IN_USE otherwise. */
int gkl_group_remove(const char *name);

#endif
