/* identity.h - who a process is to the others, and whether it still lives. */
#ifndef GKF_IDENTITY_H
#define GKF_IDENTITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_slot;

/* Who a process is to the others; 0 where /proc does not tell. */
struct gkf_identity {
	int32_t pid;
	uint64_t pid_ns, start;
	uint64_t stack; /* another one after exec; 0: not known */
};

/* This process's own identity; a forked child begins without it (emptied.h). */
struct gkf_own {
	_Atomic uint32_t ready;
	_Atomic int32_t pid;
	_Atomic uint64_t pid_ns, start, stack;
};

/*
 * The identity of the calling process; right again after a fork. It is looked
 * up when the machine is opened: nothing that a program closes or hides later
 * (descriptors, /proc) takes it away.
 */
struct gkf_identity gkf_self(const struct gkf_machine *m);

/* Without a machine. Every time anew. */
struct gkf_identity gkf_self_look_up(void);

/* Can others see whether it lives? Else it must not hold anything. */
static inline bool gkf_is_known(const struct gkf_identity *who)
{
	return who->pid > 0 && who->pid_ns && who->start;
}

/* Is the slot in use, and by this process? Cheap. */
bool gkf_owns(const struct gkf_machine *m, const struct gkf_slot *slot);

/* The pid namespace of this process; 0 when /proc does not tell. */
uint64_t gkf_own_namespace(const struct gkf_machine *m);

/*
 * Whether an owner is alive: a zombie is not, nor a process that has taken
 * over the pid, nor one that runs another program since, nor who is not known.
 * Owners of another pid namespace than own_ns count as alive: see others.h.
 */
bool gkf_alive(uint64_t own_ns, const struct gkf_identity *owner);

/* Whether nobody has an owner's pid any more, in our pid namespace: some of
 * those that are not alive, for one system call. */
bool gkf_is_gone(uint64_t own_ns, const struct gkf_identity *owner);

#endif
