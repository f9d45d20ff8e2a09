/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited_policy.h - the calling thread's copy of the policy, for the files
 * that implement limited.h.
 */
#ifndef GKL_PRELOAD_LIMITED_POLICY_H
#define GKL_PRELOAD_LIMITED_POLICY_H

#include "limit/preload/limited.h"

/*
 * The calling thread's copy. Every launch reads it, so it uses the initial-exec
 * TLS model, which works because a preloaded library is present when the
 * program starts.
 */
struct limited_copy {
	bool filled;
	uint32_t version;
	struct gkl_policy policy;
};
extern _Thread_local struct limited_copy limited_copy
    __attribute__((tls_model("initial-exec")));

void limited_fill_copy(struct gkl_group *group, uint32_t version);

static inline const struct gkl_policy *
limited_read_policy(struct gkl_group *group)
{
	uint32_t version = gkl_policy_version(group->policy);

	if (__builtin_expect(
		!limited_copy.filled || limited_copy.version != version, 0))
		limited_fill_copy(group, version);
	return &limited_copy.policy;
}

/* Whether there is a limit that could not be read, and no group. */
bool limited_is_unreadable(void);

#endif
