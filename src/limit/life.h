/*
 * life.h - who owns a slot, and whether that process still lives.
 *
 * An owner is one wide word: high is its start time and its pid, low its pid
 * namespace, where its stack begins (another place after exec), and the turn of
 * the slot. So a slot is taken, and freed, by one swap, and no owner is like
 * the one before, be it the same process.
 *
 * Besides, an owner has a lock on the byte of the file that has its slot's
 * number, kept by a mapping and not by a descriptor, which programs close. The
 * kernel takes it away when the mapping goes: by death and by exec, also where
 * /proc does not show the process.
 */
#ifndef GKL_LIFE_H
#define GKL_LIFE_H

#include "limit/wide.h"

#include <stdint.h>
#include <sys/types.h>

struct gkl_ledger;

/* The calling process; 0 or a gk_err where /proc does not tell. */
int gkl_life_self(union gkl_wide *ret_life);

static inline int32_t gkl_life_pid(union gkl_wide life)
{
	return (int32_t)(life.high >> 1 & 0x3fffff);
}

static inline uint64_t gkl_life_start(union gkl_wide life)
{
	return life.high >> 23;
}

static inline uint32_t gkl_life_stack(union gkl_wide life)
{
	return (uint32_t)life.low >> 8;
}

/* The same owner in its turn at a slot. */
static inline union gkl_wide gkl_life_in_turn(union gkl_wide life,
					      uint32_t turn)
{
	life.low = (life.low & ~0xffULL) | (turn & 0xff);
	return life;
}

/*
 * The pid namespace by its inode. That of the host's first one is fixed in the
 * kernel: there, own pids are the host's. In a container the kernel tells
 * nobody which pid the host has for him.
 */
#define GKL_FIRST_NAMESPACE 0xEFFFFFFCu

static inline uint64_t gkl_life_ns(union gkl_wide life)
{
	return life.low >> 32;
}

/* 0: not known. */
static inline int32_t gkl_life_host_pid(union gkl_wide life)
{
	return gkl_life_ns(life) == GKL_FIRST_NAMESPACE ? gkl_life_pid(life)
							: 0;
}

/* Takes the lock of a slot; what keeps it, or NULL. */
void *gkl_life_lock(const struct gkl_ledger *ledger, unsigned int slot);
void gkl_life_unlock(void *kept);

/* A look at the owners of slots. */
struct gkl_look {
	const struct gkl_ledger *ledger;
	union gkl_wide self;
	int fd; /* of the file, for its locks; negative: none */
};

void gkl_look_begin(struct gkl_look *look, const struct gkl_ledger *ledger);
void gkl_look_end(struct gkl_look *look);

enum gkl_life {
	GKL_ALIVE,
	GKL_DYING, /* its memory may not be free yet, but soon will be */
	GKL_DEAD,
};

enum gkl_life gkl_look_at(const struct gkl_look *look, unsigned int slot,
			  union gkl_wide life);

#endif
