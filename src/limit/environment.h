/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - what the environment says about limits: our variable names a
 * group, HAMi's variables contain the limits themselves.
 */
#ifndef GKL_ENVIRONMENT_H
#define GKL_ENVIRONMENT_H

#include "limit/policy.h"

#include <sys/types.h>

struct gkl_environment {
	const char *group;  /* GPUKIT_LIMIT_GROUP; NULL: none */
	const char *region; /* HAMi's region file; NULL: HAMi limits nothing */
	/* The policy that HAMi's variables describe. */
	struct gkl_policy policy;
	char own_region[48]; /* the default of `region` */
};

/*
 * Returns 0 or a gk_err. GK_ERR_INVALID: a limit cannot be read, which must not
 * mean "no limit"; the log names its variable. The strings point into the
 * environment. If the environment names no region, `region` points to
 * own_region, the path of this user's own region.
 */
int gkl_environment_read(struct gkl_environment *ret_environment);

/* Replaces own_region by that of another user. */
void gkl_environment_user(struct gkl_environment *environment, uid_t user);

/*
 * Sets the log level from LIBCUDA_LOG_LEVEL (HAMi's, 0 to 4) unless GPUKIT_LOG
 * sets it. Without either variable nothing is printed.
 */
void gkl_environment_set_log(void);

/*
 * HOOK_NVML_ENABLE: whether NVML shows programs the limit (the default) or the
 * whole GPU.
 */
bool gkl_environment_nvml(void);

#endif
