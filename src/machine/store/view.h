/*
 * view.h - an open machine as this process sees it: the mapping, and copies of
 * what never changes. For src/machine alone.
 */
#ifndef GKF_VIEW_H
#define GKF_VIEW_H

#include "machine/file/topology.h"
#include "machine/store/settings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gkf_board;
struct gkf_device;
struct gkf_emptied;
struct gkf_file;
struct gkf_gate;
struct gkf_locks;

struct gkf_machine {
	struct gkf_file *file;
	struct gkf_emptied *emptied;
	struct gkf_locks *locks; /* of its file */
	struct gkf_gate *gate;
	unsigned device_count;
	unsigned steps, texts; /* of its scenario; see scenario_state.h */
	size_t size;           /* of the mapping */
	bool scratch;
	atomic_bool damaged, told; /* truncated; and the log says so */
	bool copied; /* of another user's file: see gkf_machine_is_copy() */
	_Atomic uint64_t stuck_books; /* a bit a device: not to be had lately */
	_Atomic uint64_t glance_ns; /* reap.c: when to look next who is left */
	/* Of a copy: what is still computed bin by bin; see copy_bound.h. */
	uint64_t bins_left[GKF_DEVICES_MAX];
	/* A thread that applies a step, and the step's time + 1 or 0. */
	_Atomic pid_t applier;
	_Atomic uint64_t applied_ns;
	struct gkf_driver driver;
	struct gkf_topology topology;
	struct gkf_board *boards; /* device_count of them */
};

/*
 * While a thread applies a step of the scenario it holds the writers' lock,
 * and the clock shows it the time of the step. pid_t: of gettid(), so that
 * no thread of a forked child is taken for it.
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
