/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - pointers to the words of a machine's file that the NVML and CUDA
 * libraries read in every call. A read costs one load, and the libraries need
 * not know the file's layout. The pointers are valid until gkf_machine_close().
 * Any process may overwrite the words at any time.
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
	const _Atomic uint64_t *faults;   /* a bit for each gkf_fault */
	const _Atomic uint64_t *strike;   /* see fault_state.h */
	const _Atomic uint64_t *mig_mode; /* GKF_MIG_CURRENT and _PENDING */
	const _Atomic int64_t *removed, *excluded; /* 1: yes */
};

struct gkf_gate {
	_Atomic uint64_t *calls, *refused; /* one per row of nvml.def */
	/* one per row of cuda_symbols.def */
	_Atomic uint64_t *cuda_calls;
	const _Atomic uint64_t *extra_ns;     /* one per row of nvml.def */
	const _Atomic uint64_t *latency;      /* enum gkf_latency */
	const _Atomic uint64_t *rules;        /* number of rules */
	const _Atomic uint64_t *next_step_ns; /* UINT64_MAX: no step is left */
	/* The time (CLOCK_MONOTONIC) until which the driver is busy. */
	_Atomic uint64_t *booked_ns;
	/*
	 * The file's last word, which any truncation removes, and whether this
	 * process has noticed a truncation.
	 */
	const _Atomic uint32_t *last;
	const atomic_bool *damaged;
	struct gkf_gate_device device[]; /* one per device of the machine */
};

/* Returns the gate of an open machine. */
GKF_API const struct gkf_gate *gkf_gate(const struct gkf_machine *m);

static inline uint64_t gkf_gate_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* Applies the steps of the scenario that are due; due.c. */
GKF_API void gkf_scenario_poll(struct gkf_machine *m);

/* Call before reading the machine; very cheap while no step is left. */
static inline void gkf_gate_look(struct gkf_machine *m,
				 const struct gkf_gate *gate)
{
	if (__builtin_expect(gkf_gate_word(gate->next_step_ns) != UINT64_MAX,
			     0))
		gkf_scenario_poll(m);
}

/*
 * Whether the file is whole, that is, was not truncated while mapped. A
 * truncated file reads as zeros; the first call that finds this writes a line
 * to the log. Cheap.
 */
GKF_API bool gkf_machine_is_whole(struct gkf_machine *m);

/*
 * Like gkf_machine_is_whole(), at the cost of two loads. Any truncation removes
 * the last word of the file, and reading that word detects it.
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

/* Whether the driver lists a device, which must exist. */
static inline bool gkf_gate_lists(const struct gkf_gate *gate, unsigned device)
{
	const struct gkf_gate_device *d = &gate->device[device];

	return atomic_load_explicit(d->removed, memory_order_relaxed) != 1 &&
	       atomic_load_explicit(d->excluded, memory_order_relaxed) != 1;
}

/* Whether a device's MIG mode is on. */
static inline bool gkf_gate_split(const struct gkf_gate *gate, unsigned device)
{
	return gkf_gate_word(gate->device[device].mig_mode) & GKF_MIG_CURRENT;
}

/*
 * Counts a call of the function in a row of cuda_symbols.def; ignores rows past
 * the table.
 */
static inline void gkf_gate_count_cuda(const struct gkf_gate *gate,
				       unsigned row)
{
	if (row < GKF_CUDA_FUNCTIONS_MAX)
		atomic_fetch_add_explicit(&gate->cuda_calls[row], 1,
					  memory_order_relaxed);
}

/*
 * Brings the copy of a machine that its owner shares up to date, at most every
 * eighth of a second; does nothing for other machines.
 */
GKF_API void gkf_machine_follow(struct gkf_machine *m);

#endif
