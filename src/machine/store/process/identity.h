/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h - identifies processes and checks whether they still live. */
#ifndef GKF_IDENTITY_H
#define GKF_IDENTITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_slot;

/* The identity of a process; 0 where /proc does not say. */
struct gkf_identity {
	int32_t pid;
	uint64_t pid_ns, start;
	uint64_t stack; /* differs after exec; 0: unknown */
};

/* This process's own identity; zeroed in a forked child (emptied.h). */
struct gkf_own {
	_Atomic uint32_t ready;
	_Atomic int32_t pid;
	_Atomic uint64_t pid_ns, start, stack;
};

/*
 * The identity of the calling process; correct after a fork, too. It is looked
 * up when the machine is opened, so that a program may close descriptors or
 * hide /proc later.
 */
struct gkf_identity gkf_self(const struct gkf_machine *m);

/*
 * Like gkf_self(), but without a machine; looks up the identity at each call.
 */
struct gkf_identity gkf_self_look_up(void);

/*
 * Whether other processes can check that this one is alive. If not, it must not
 * hold anything.
 */
static inline bool gkf_is_known(const struct gkf_identity *who)
{
	return who->pid > 0 && who->pid_ns && who->start;
}

/* Whether the slot is in use by this process. Cheap. */
bool gkf_owns(const struct gkf_machine *m, const struct gkf_slot *slot);

/* The pid namespace of this process; 0 when /proc does not say. */
uint64_t gkf_own_namespace(const struct gkf_machine *m);

/*
 * Whether an owner is alive. It is not if it is a zombie or unknown, if another
 * process has its pid, or if it has run exec since. Owners of a pid namespace
 * other than own_ns count as alive: see others.h.
 */
bool gkf_alive(uint64_t own_ns, const struct gkf_identity *owner);

/* Whether the owner's pid no longer exists in our pid namespace. This finds
 * only some dead owners, but costs a single system call. */
bool gkf_is_gone(uint64_t own_ns, const struct gkf_identity *owner);

#endif
