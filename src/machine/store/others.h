/*
 * others.h - the processes of pid namespaces below ours (containers), as /proc
 * shows them: whether an owner there still lives, when all of its namespace
 * may have ended with it.
 */
#ifndef GKF_OTHERS_H
#define GKF_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gkf_identity;

struct gkf_others {
	bool looked;
	bool blind; /* somebody may be there who was not seen */
	struct gkf_other {
		uint64_t pid_ns; /* 0: it was not to be seen */
		int32_t pid;     /* in that namespace */
	} * at;
	size_t count, cap;
};

/*
 * Does an owner of another pid namespace than own_ns live? True as well when
 * that cannot be told: who is not in the first namespace of the host sees only
 * some of the others, and of processes of other users not in which they are.
 * Zeros are a new one; the first call looks, once for all: who began later is
 * not known.
 */
bool gkf_others_live(struct gkf_others *others, uint64_t own_ns,
		     const struct gkf_identity *owner);
void gkf_others_free(struct gkf_others *others);

#endif
