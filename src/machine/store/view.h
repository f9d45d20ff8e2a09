/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - an open machine in this process: the mapping, and copies of the
 * content that never changes. For src/machine alone.
 */
#ifndef GKF_VIEW_H
#define GKF_VIEW_H

#include "machine/file/topology.h"
#include "machine/store/settings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gkf_above;
struct gkf_board;
struct gkf_device;
struct gkf_emptied;
struct gkf_file;
struct gkf_gate;
struct gkf_locks;

struct gkf_machine {
	const struct gkf_above *above; /* functions of model/ and trouble/ */
	struct gkf_file *file;
	struct gkf_emptied *emptied;
	struct gkf_locks *locks;
	struct gkf_gate *gate;
	unsigned device_count;
	unsigned steps, texts; /* sizes of the scenario; see scenario_state.h */
	size_t size;           /* bytes of the mapping */
	bool scratch;
	atomic_bool damaged, told; /* the file was truncated; that was logged */
	/* A copy of another user's file: see gkf_machine_is_copy(). */
	bool copied;
	/* The file that a copy follows, mapped for reading; NULL: none. */
	void *source;
	_Atomic uint64_t followed_ns; /* when it was copied last */
	uint64_t shown_ns; /* the machine time at which a copy stands still */
	/* A bit for each device whose lock timed out. */
	_Atomic uint64_t stuck_books;
	_Atomic uint64_t glance_ns; /* reap.c: when to check owners again */
	/* In a copy: bins that may still be computed; see copy_bound.h. */
	uint64_t bins_left[GKF_DEVICES_MAX];
	/*
	 * The thread that is applying a step, and the step's time + 1; 0:
	 * none.
	 */
	_Atomic pid_t applier;
	_Atomic uint64_t applied_ns;
	struct gkf_driver driver;
	struct gkf_topology topology;
	struct gkf_board *boards; /* an array of device_count */
};

/*
 * Whether the calling thread is applying a step of the scenario. It then holds
 * the writers' lock, and its clock shows the time of the step. Threads are
 * told apart by gettid(), which differs in a forked child.
 */
bool gkf_is_applier(const struct gkf_machine *m);
static inline bool gkf_applying(const struct gkf_machine *m)
{
	return __builtin_expect(atomic_load_explicit(&m->applied_ns,
						     memory_order_acquire) != 0,
				0) &&
	       gkf_is_applier(m);
}
void gkf_apply_at(struct gkf_machine *m, uint64_t machine_ns);
void gkf_apply_end(struct gkf_machine *m);

#endif
