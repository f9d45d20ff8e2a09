/*
 * environment.h - what the environment says about limits: ours names a group,
 * HAMi's has the limits themselves.
 */
#ifndef GKL_ENVIRONMENT_H
#define GKL_ENVIRONMENT_H

#include "limit/policy.h"

struct gkl_environment {
	const char *group;        /* GPUKIT_LIMIT_GROUP; NULL: none */
	const char *region;       /* HAMi's file; NULL: HAMi limits nothing */
	struct gkl_policy policy; /* as HAMi's variables have it */
};

/*
 * GK_ERR_INVALID: a limit that cannot be read (said in the log), which must not
 * become none. Texts are those of the environment.
 */
int gkl_environment_read(struct gkl_environment *ret_environment);

/*
 * LIBCUDA_LOG_LEVEL: 0 to 4, HAMi's, where GPUKIT_LOG says nothing. Not said:
 * nothing is printed.
 */
void gkl_environment_set_log(void);

/* HOOK_NVML_ENABLE: whether NVML tells programs of the limit (or: all). */
bool gkl_environment_nvml(void);

#endif
