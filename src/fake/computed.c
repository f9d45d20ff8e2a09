/* computed.c - values that follow from others; see computed.h. */
#include "fake/computed.h"

#include "fake/physics.h"
#include "fake/private.h"

#define MIB (1024LL * 1024)

static int64_t get(struct gkf_machine *m, unsigned device, enum gkf_value value)
{
	int64_t number = 0;

	gkf_value_get(m, device, value, &number);
	return number;
}

/* Stacked memory runs some degrees above the core in use. */
int64_t gkf_compute_memory_temperature(struct gkf_machine *m, unsigned device)
{
	return get(m, device, GKF_V_TEMPERATURE) +
	       get(m, device, GKF_V_GPU_UTIL) / 12;
}

int64_t gkf_compute_fan(struct gkf_machine *m, unsigned device)
{
	return gkf_physics_fan(&m->boards[device].profile,
			       get(m, device, GKF_V_TEMPERATURE));
}

/* Boards that leave P0 at rest let the link rest as well. */
int64_t gkf_compute_pcie_generation(struct gkf_machine *m, unsigned device)
{
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	return s.pstate > 0 ? 1 : m->boards[device].profile.pcie_gen;
}

/* KB/s of one direction at full load: a fiftieth of the link. */
static int64_t pcie_traffic(struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	/* KB/s of a lane: 250 MB/s in generation 1, then twice each time. */
	int64_t lane = 250000LL << (p->pcie_gen - 1);
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	return lane * p->pcie_width / 50 * s.gpu_util / 100;
}

int64_t gkf_compute_pcie_tx(struct gkf_machine *m, unsigned device)
{
	return pcie_traffic(m, device) / 2;
}

int64_t gkf_compute_pcie_rx(struct gkf_machine *m, unsigned device)
{
	return pcie_traffic(m, device);
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
