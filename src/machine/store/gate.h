/*
 * gate.h - the words of a machine that fronts look at in every call, as
 * pointers into its file: read at the cost of a load, without knowing the
 * file. They hold until gkf_machine_close(). Any of them may be overwritten
 * by anybody at any time.
 */
#ifndef GKF_GATE_H
#define GKF_GATE_H

#include "base/export.h"
#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

struct gkf_gate_device {
	const _Atomic uint64_t *faults;   /* a bit a gkf_fault */
	const _Atomic uint64_t *strike;   /* see fault_state.h */
	const _Atomic uint64_t *mig_mode; /* GKF_MIG_CURRENT and _PENDING */
	const _Atomic int64_t *removed, *excluded; /* 1: it is */
};

struct gkf_gate {
	_Atomic uint64_t *calls, *refused;    /* by row of nvml.def */
	_Atomic uint64_t *cuda_calls;         /* by row of cuda.def */
	const _Atomic uint64_t *extra_ns;     /* by row of nvml.def */
	const _Atomic uint64_t *latency;      /* enum gkf_latency */
	const _Atomic uint64_t *rules;        /* how many */
	const _Atomic uint64_t *next_step_ns; /* UINT64_MAX: none is left */
	_Atomic uint64_t *booked_ns; /* CLOCK_MONOTONIC: calls are booked */
	/* Whether the file is whole: its last word, and what that told. */
	const _Atomic uint32_t *last;
	const atomic_bool *damaged;
	struct gkf_gate_device device[]; /* as many as the machine has */
};

/* That of an open machine. */
GKF_API const struct gkf_gate *gkf_gate(const struct gkf_machine *m);

static inline uint64_t gkf_gate_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* Applies the steps of the scenario that are due; trouble/scenario.c. */
GKF_API void gkf_scenario_poll(struct gkf_machine *m);

/* Before a look at the machine; almost nothing while no step is left. */
static inline void gkf_gate_look(struct gkf_machine *m,
				 const struct gkf_gate *gate)
{
	if (__builtin_expect(gkf_gate_word(gate->next_step_ns) != UINT64_MAX,
			     0))
		gkf_scenario_poll(m);
}

/*
 * False when the file has been truncated under us: what is read then are
 * zeros, and the first who asks has a line in the log. Cheap.
 */
GKF_API bool gkf_machine_is_whole(struct gkf_machine *m);

/*
 * The same at the cost of two loads: the last word of a file is gone whenever
 * anything of it is, and looking at it says so.
 */
static inline bool gkf_gate_whole(struct gkf_machine *m,
				  const struct gkf_gate *gate)
{
	(void)atomic_load_explicit(gate->last, memory_order_relaxed);
	return __builtin_expect(
		   !atomic_load_explicit(gate->damaged, memory_order_relaxed),
		   1) ||
	       gkf_machine_is_whole(m);
}

/* Does the driver list it? device must exist. */
static inline bool gkf_gate_lists(const struct gkf_gate *gate, unsigned device)
{
	const struct gkf_gate_device *d = &gate->device[device];

	return atomic_load_explicit(d->removed, memory_order_relaxed) != 1 &&
	       atomic_load_explicit(d->excluded, memory_order_relaxed) != 1;
}

/* Is its MIG mode on? */
static inline bool gkf_gate_split(const struct gkf_gate *gate, unsigned device)
{
	return gkf_gate_word(gate->device[device].mig_mode) & GKF_MIG_CURRENT;
}

/* A call of a row of cuda.def; rows beyond what is counted are nothing. */
static inline void gkf_gate_count_cuda(const struct gkf_gate *gate,
				       unsigned row)
{
	if (row < GKF_CUDA_FUNCTIONS_MAX)
		atomic_fetch_add_explicit(&gate->cuda_calls[row], 1,
					  memory_order_relaxed);
}

#endif
