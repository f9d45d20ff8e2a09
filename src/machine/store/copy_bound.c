/* copy_bound.c - reckons what it costs to bring a copy up to its time. */
#include "machine/store/copy_bound.h"
#include "base/log.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/file/state.h"
#include "machine/store/clock.h"
#include "machine/store/slot.h"
#include "machine/store/state_bin.h"
#include "machine/store/view.h"

/* Costs are in looks at a slot; so many take well below a second. */
#define LOOKS_MAX   (1ULL << 22)
#define BIN_LOOKS   16           /* of a GPU, beside those at its slots */
#define STEP_LOOKS  (1ULL << 10) /* of a step, beside those at slots */
#define ERROR_LOOKS (1ULL << 14) /* the same, of a million memory errors */
#define STEP_SCANS  4            /* of all slots, by a step */

/* The bins that are always computed, and the one before they are leapt to. */
#define LEAST_BINS (GKF_PAST_BINS + 1)

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How far the GPU that is most behind is behind. */
static uint64_t count_bins(const struct gkf_machine *m)
{
	uint64_t now = gkf_machine_bin(m), first = now;

	for (unsigned i = 0; i < m->device_count; i++)
		first = min(first, gkf_state_bin(m, i));
	return now - first;
}

/* How many steps are due, and what they do beside looking at slots. */
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

/* Each step brings its GPU to its bin first. */
static void bound_steps(struct gkf_machine *m, uint64_t bin_looks)
{
	struct gkf_scenario_head *head = &m->file->scenario;
	uint64_t looks, due = count_due(m, atomic_load(&head->done), &looks);
	uint64_t bins = min(count_bins(m), due * LEAST_BINS);

	if (looks <= LOOKS_MAX &&
	    bins + due * STEP_SCANS <= LOOKS_MAX / bin_looks)
		return;
	gk_log(GK_LOG_WARN,
	       "%llu steps of the scenario are due: none is applied to the "
	       "copy",
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
