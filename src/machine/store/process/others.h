/* SPDX-License-Identifier: Apache-2.0 */
/*
 * others.h - checks in /proc whether owners in pid namespaces below ours
 * (containers) still live. The owner's own namespace may have ended with it, so
 * that nobody inside it can check.
 */
#ifndef GKF_OTHERS_H
#define GKF_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gkf_identity;

struct gkf_others {
	bool looked;
	bool blind; /* there may be processes that were not seen */
	struct gkf_other {
		uint64_t pid_ns; /* 0: could not be read */
		int32_t pid;     /* pid in that namespace */
		int32_t seen;    /* pid in our namespace */
	} * at;
	size_t count, cap;
};

/*
 * Whether an owner of a pid namespace other than own_ns lives. Also true when
 * that is unknown: a process outside the host's first namespace sees only some
 * processes, and cannot read the namespaces of other users' processes. `others`
 * must begin as all zeros. The first call reads /proc, later ones do not, so
 * processes that started after it are not known.
 */
bool gkf_others_live(struct gkf_others *others, uint64_t own_ns,
		     const struct gkf_identity *owner);

/*
 * The pid, in our namespace, of an owner from another namespace; 0: our /proc
 * does not show the owner, because it is outside our namespace or hidden. Like
 * gkf_others_live(), reads /proc only at the first call.
 */
int32_t gkf_others_pid(struct gkf_others *others,
		       const struct gkf_identity *owner);
void gkf_others_free(struct gkf_others *others);

#endif
