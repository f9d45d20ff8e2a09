/* SPDX-License-Identifier: Apache-2.0 */
/* copy_bound.c - limits the work of bringing a copy up to date. */
#include "machine/store/copy_bound.h"
#include "base/log.h"
#include "base/min.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/file/state.h"
#include "machine/store/clock.h"
#include "machine/store/process/slot.h"
#include "machine/store/state_bin.h"
#include "machine/store/view.h"

/* Costs are in slot reads; the maximum takes well below a second. */
#define LOOKS_MAX (1ULL << 22)
/* Cost of a bin of a GPU, without slot reads. */
#define BIN_LOOKS   16
#define STEP_LOOKS  (1ULL << 10) /* cost of a step, without slot reads */
#define ERROR_LOOKS (1ULL << 14) /* cost of a million memory errors */
#define STEP_SCANS  4            /* number of scans of all slots by a step */

/* Bins that are always computed: those that are kept, and one before them. */
#define LEAST_BINS (GKF_PAST_BINS + 1)

/* How many bins must be computed for the GPU that is farthest behind. */
static uint64_t count_bins(const struct gkf_machine *m)
{
	uint64_t now = gkf_machine_bin(m), first = now;

	for (unsigned i = 0; i < m->device_count; i++)
		first = gk_min(first, gkf_state_bin(m, i));
	return now - first;
}

/*
 * Returns the number of due steps. *ret_looks: their cost, except for reading
 * slots.
 */
static uint64_t count_due(const struct gkf_machine *m, uint64_t done,
			  uint64_t *ret_looks)
{
	const struct gkf_step *steps = gkf_file_steps(m->file);
	uint64_t now = gkf_machine_bin(m), due = 0;

	for (*ret_looks = 0; done < m->steps; done++) {
		if (steps[done].bin > now)
			continue;
		due++;
		*ret_looks += steps[done].kind == GKF_STEP_FAULT ||
				      steps[done].kind == GKF_STEP_ECC
				  ? ERROR_LOOKS
				  : STEP_LOOKS;
	}
	return due;
}

/*
 * Drops all due steps if they cost too much. Applying a step also computes the
 * bins of its GPU.
 */
static void bound_steps(struct gkf_machine *m, uint64_t bin_looks)
{
	struct gkf_scenario_head *head = &m->file->scenario;
	uint64_t looks, due = count_due(m, atomic_load(&head->done), &looks);
	uint64_t bins = gk_min(count_bins(m), due * LEAST_BINS);

	if (looks <= LOOKS_MAX &&
	    bins + due * STEP_SCANS <= LOOKS_MAX / bin_looks)
		return;
	gk_log(
	    GK_LOG_WARN,
	    "%llu steps of the scenario are due: too many to apply to a copy",
	    (unsigned long long)due);
	atomic_store(&head->done, m->steps);
	atomic_store(&head->next_ns, UINT64_MAX);
}

void gkf_copy_bound(struct gkf_machine *m)
{
	uint64_t looks = BIN_LOOKS + gkf_slots_high(m);

	bound_steps(m, looks);
	for (unsigned i = 0; i < m->device_count; i++)
		m->bins_left[i] = LOOKS_MAX / looks / m->device_count;
}
