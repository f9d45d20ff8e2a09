/* computed.c - values that follow from others; see computed.h. */
#include "machine/model/computed.h"
#include "base/units.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/ledger.h"
#include "machine/store/view.h"

static int64_t value_now(struct gkf_machine *m, unsigned device,
			 enum gkf_value value)
{
	int64_t number = 0;

	gkf_value_get(m, device, value, &number);
	return number;
}

/*
 * The mean of the last second's bins that are remembered. Power that is set
 * has been so for the whole second.
 */
int64_t gkf_compute_power_average(struct gkf_machine *m, unsigned device)
{
	int64_t sum = 0, bins = 0;
	struct gkf_state s;
	int64_t set = atomic_load_explicit(
	    &m->file->device[device].set[GKF_V_POWER], memory_order_relaxed);

	if (set != GKF_UNSET)
		return set;
	gkf_state_now(m, device, &s);
	for (uint64_t b = 1; b <= GKF_BINS_PER_S && b <= s.bin; b++) {
		struct gkf_past past;

		if (!gkf_past_read(m, device, s.bin - b, &past))
			continue;
		sum += past.power_mw;
		bins++;
	}
	return bins ? sum / bins : s.power_mw;
}

/* The fan is driven to this when nobody asks for anything. */
int64_t gkf_compute_fan_target(struct gkf_machine *m, unsigned device)
{
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	return gkf_physics_fan(&m->boards[device].profile,
			       s.fan_temp_mc / 1000);
}

int64_t gkf_compute_fan_rpm(struct gkf_machine *m, unsigned device)
{
	return value_now(m, device, GKF_V_FAN) *
	       m->boards[device].profile.fan_max_rpm / 100;
}

/* Boards that leave P0 at rest let the link rest as well. */
int64_t gkf_compute_pcie_generation(struct gkf_machine *m, unsigned device)
{
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	return s.pstate > 0 ? 1 : m->boards[device].profile.pcie_gen;
}

/* A board whose whole memory is visible maps all that is allocated. */
int64_t gkf_compute_bar1_used(struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	struct gkf_memory memory;

	if (p->bar1_mib < p->memory_mib)
		return MIB;
	gkf_memory(m, device, &memory);
	return (int64_t)memory.used + MIB;
}
