/* model.c - the state of a device, computed once a bin by whoever asks. */
#include "fake/model.h"

#include "base/clock.h"
#include "base/err.h"
#include "fake/physics.h"
#include "fake/private.h"

#define MIB (1024LL * 1024)

/* More than any value or profile may say. */
#define POWER_MAX_MW 4000000
#define TEMP_MAX_MC  200000

/* Longer gaps than an hour are filled by the first bins' power. */
#define CATCH_UP_BINS (3600ULL * GKF_BINS_PER_S)

/*
 * A state this much behind is worth waiting for: somebody is catching up with
 * a long gap. A stopped process that holds the lock costs this much a call.
 */
#define OLD_BINS    3
#define PATIENCE_NS (20 * GK_NS_PER_MS)

/* A state is written and read as words: its other copy may be in the works. */
static void copy_state(struct gkf_state *to, const struct gkf_state *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
		__atomic_store_n(&t[i],
				 __atomic_load_n(&f[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

/* The figures that are reckoned with stay within reason. */
static void read_state(struct gkf_device *dev, struct gkf_state *ret_state)
{
	uint64_t seq;

	do {
		seq =
		    atomic_load_explicit(&dev->state_seq, memory_order_acquire);
		copy_state(ret_state, &dev->state[seq % 2]);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&dev->state_seq, memory_order_relaxed) !=
		 seq);
	ret_state->gpu_util = gkf_clamp(ret_state->gpu_util, 0, 100);
	ret_state->power_mw = gkf_clamp(ret_state->power_mw, 0, POWER_MAX_MW);
	ret_state->temp_mc = gkf_clamp(ret_state->temp_mc, 0, TEMP_MAX_MC);
}

/* Writes the copy that does not hold, then says that it does. */
static void commit_state(struct gkf_device *dev, const struct gkf_state *state)
{
	uint64_t seq =
	    atomic_load_explicit(&dev->state_seq, memory_order_relaxed);

	atomic_thread_fence(memory_order_release);
	copy_state(&dev->state[(seq + 1) % 2], state);
	atomic_store_explicit(&dev->state_seq, seq + 1, memory_order_release);
}

/* What nobody can have set is not believed. */
static int64_t set_value(const struct gkf_device *dev, enum gkf_value value)
{
	int64_t set =
	    atomic_load_explicit(&dev->set[value], memory_order_relaxed);

	return set >= gkf_values[value].min && set <= gkf_values[value].max
		   ? set
		   : GKF_UNSET;
}

/* What the processes of a device want in a bin. */
static void drive_at(struct gkf_machine *m, unsigned device, uint64_t bin,
		     struct gkf_drive *drive)
{
	unsigned high = gkf_slots_high(m);

	drive->attached = drive->demand = 0;
	drive->mem = drive->enc = drive->dec = 0;
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;
		uint32_t busy;

		if (!gkf_slot_read_on(m, i, device, &slot))
			continue;
		busy = gkf_wave_at(&slot.wave, bin);
		drive->attached++;
		drive->demand += busy;
		drive->mem += busy * slot.wave.mem_permille / 1000;
		drive->enc += busy * slot.wave.encoder_permille / 1000;
		drive->dec += busy * slot.wave.decoder_permille / 1000;
	}
}

/* A machine nobody looked at for long: the first of it as one long bin. */
static void skip(struct gkf_state *state, uint64_t bins)
{
	state->energy_uj +=
	    (uint64_t)state->power_mw * 1000 * bins / GKF_BINS_PER_S;
	state->bin += bins;
}

static void advance_to(struct gkf_machine *m, unsigned device, uint64_t bin,
		       struct gkf_state *state)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	struct gkf_device *dev = &m->file->device[device];
	int64_t limit = set_value(dev, GKF_V_POWER_LIMIT);
	struct gkf_drive drive = {
	    .set_util = set_value(dev, GKF_V_GPU_UTIL),
	    .set_temperature = set_value(dev, GKF_V_TEMPERATURE),
	    .set_power = set_value(dev, GKF_V_POWER),
	    .power_limit = limit == GKF_UNSET ? profile->power_limit_mw : limit,
	};

	if (bin - state->bin > CATCH_UP_BINS)
		skip(state, bin - state->bin - CATCH_UP_BINS);
	while (state->bin < bin) {
		drive_at(m, device, state->bin, &drive);
		gkf_physics_step(profile, &drive, state);
	}
}

void gkf_state_advance(struct gkf_machine *m, unsigned device)
{
	struct gkf_device *dev = &m->file->device[device];
	uint64_t bin = gkf_machine_bin(m);
	struct gkf_state state;

	read_state(dev, &state);
	if (state.bin >= bin)
		return;
	advance_to(m, device, bin, &state);
	commit_state(dev, &state);
}

void gkf_state_now(struct gkf_machine *m, unsigned device,
		   struct gkf_state *ret_state)
{
	struct gkf_device *dev = &m->file->device[device];
	uint64_t bin = gkf_machine_bin(m);

	read_state(dev, ret_state);
	if (ret_state->bin >= bin)
		return;
	if (!gkf_trylock(m, bin - ret_state->bin > OLD_BINS ? PATIENCE_NS : 0))
		return;
	gkf_state_advance(m, device);
	gkf_unlock(m);
	read_state(dev, ret_state);
}

/* Where a value comes from when nobody has set it. */
enum source {
	FROM_STATE,   /* a word of gkf_state, divided by scale */
	FROM_PROFILE, /* an integer of the profile */
	FROM_ZERO,    /* counts and amounts that begin at nothing */
	FROM_CODE,    /* compute() */
};

/* clang-format off */
static const struct {
	enum source source;
	size_t offset;
	int64_t scale;
	size_t needs; /* profile integer that must not be below need_min */
	int64_t need_min;
} sources[GKF_V_COUNT] = {
#define ALWAYS offsetof(struct gkf_profile, memory_mib), 0
#define HAS(member, least) offsetof(struct gkf_profile, member), least
#define STATE(member, scale) \
	FROM_STATE, offsetof(struct gkf_state, member), scale
#define PROFILE(member) FROM_PROFILE, offsetof(struct gkf_profile, member), 1
	[GKF_V_GPU_UTIL] = { STATE(gpu_util, 1), ALWAYS },
	[GKF_V_MEM_UTIL] = { STATE(mem_util, 1), ALWAYS },
	[GKF_V_ENC_UTIL] = { STATE(enc_util, 1), ALWAYS },
	[GKF_V_DEC_UTIL] = { STATE(dec_util, 1), ALWAYS },
	[GKF_V_TEMPERATURE] = { STATE(temp_mc, 1000), ALWAYS },
	[GKF_V_MEM_TEMPERATURE] = { FROM_CODE, 0, 1, HAS(mem_temp_max_c, 0) },
	[GKF_V_POWER] = { STATE(power_mw, 1), ALWAYS },
	[GKF_V_POWER_LIMIT] = { PROFILE(power_limit_mw), ALWAYS },
	[GKF_V_FAN] = { FROM_CODE, 0, 1, HAS(fans, 1) },
	[GKF_V_SM_CLOCK] = { STATE(sm_clock_mhz, 1), ALWAYS },
	[GKF_V_MEM_CLOCK] = { STATE(mem_clock_mhz, 1), ALWAYS },
	[GKF_V_VIDEO_CLOCK] = { STATE(video_clock_mhz, 1), ALWAYS },
	[GKF_V_PSTATE] = { STATE(pstate, 1), ALWAYS },
	[GKF_V_THROTTLE] = { STATE(throttle, 1), ALWAYS },
	[GKF_V_ENERGY] = { STATE(energy_uj, 1000), ALWAYS },
	[GKF_V_EXTRA_MEMORY] = { FROM_ZERO, 0, 1, ALWAYS },
	[GKF_V_PERSISTENCE] = { PROFILE(persistence), ALWAYS },
	[GKF_V_DISPLAY_ACTIVE] = { PROFILE(display_mode), ALWAYS },
	[GKF_V_DISPLAY_MODE] = { PROFILE(display_mode), ALWAYS },
	[GKF_V_COMPUTE_MODE] = { FROM_ZERO, 0, 1, ALWAYS },
	[GKF_V_ECC_MODE] = { PROFILE(ecc), HAS(ecc, 0) },
	[GKF_V_ECC_CORRECTED] = { FROM_ZERO, 0, 1, HAS(ecc, 0) },
	[GKF_V_ECC_UNCORRECTED] = { FROM_ZERO, 0, 1, HAS(ecc, 0) },
	[GKF_V_PCIE_GEN] = { FROM_CODE, 0, 1, ALWAYS },
	[GKF_V_PCIE_WIDTH] = { PROFILE(pcie_width), ALWAYS },
	[GKF_V_PCIE_TX] = { FROM_CODE, 0, 1, ALWAYS },
	[GKF_V_PCIE_RX] = { FROM_CODE, 0, 1, ALWAYS },
	[GKF_V_BAR1_USED] = { FROM_CODE, 0, 1, ALWAYS },
#undef ALWAYS
#undef HAS
#undef STATE
#undef PROFILE
};
/* clang-format on */

static int64_t word_at(const void *base, size_t offset)
{
	return *(const int64_t *)((const char *)base + offset);
}

/* A board whose whole memory is visible maps all that is allocated. */
static int64_t bar1_used(struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	struct gkf_memory memory;

	if (p->bar1_mib < p->memory_mib)
		return MIB;
	gkf_memory(m, device, &memory);
	return (int64_t)memory.used + MIB;
}

/* KB/s of one direction at full load: a fiftieth of the link. */
static int64_t pcie_traffic(const struct gkf_profile *p, int64_t busy_percent)
{
	/* KB/s of a lane: 250 MB/s in generation 1, then twice each time. */
	int64_t lane = 250000LL << (p->pcie_gen - 1);

	return lane * p->pcie_width / 50 * busy_percent / 100;
}

static int64_t compute(struct gkf_machine *m, unsigned device,
		       enum gkf_value value)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	struct gkf_state s;
	int64_t temp = 0;

	gkf_state_now(m, device, &s);
	switch ((int)value) {
	case GKF_V_MEM_TEMPERATURE:
		/* Stacked memory runs some degrees above the core in use. */
		gkf_value_get(m, device, GKF_V_TEMPERATURE, &temp);
		return temp + s.gpu_util / 12;
	case GKF_V_FAN:
		gkf_value_get(m, device, GKF_V_TEMPERATURE, &temp);
		return gkf_physics_fan(p, temp);
	case GKF_V_PCIE_GEN:
		/* Boards that leave P0 at rest let the link rest as well. */
		return s.pstate > 0 ? 1 : p->pcie_gen;
	case GKF_V_PCIE_TX:
		return pcie_traffic(p, s.gpu_util) / 2;
	case GKF_V_PCIE_RX:
		return pcie_traffic(p, s.gpu_util);
	default:
		return bar1_used(m, device);
	}
}

static bool has(const struct gkf_profile *profile, enum gkf_value value)
{
	return word_at(profile, sources[value].needs) >=
	       sources[value].need_min;
}

bool gkf_value_get(struct gkf_machine *m, unsigned device, enum gkf_value value,
		   int64_t *ret_value)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	struct gkf_device *dev = &m->file->device[device];
	int64_t set = set_value(dev, value);
	struct gkf_state state;

	if (!has(profile, value))
		return false;
	if (set != GKF_UNSET) {
		*ret_value = set;
		return true;
	}
	switch (sources[value].source) {
	case FROM_STATE:
		gkf_state_now(m, device, &state);
		*ret_value = word_at(&state, sources[value].offset) /
			     sources[value].scale;
		break;
	case FROM_PROFILE:
		*ret_value = word_at(profile, sources[value].offset);
		break;
	case FROM_ZERO:
		*ret_value = 0;
		break;
	case FROM_CODE:
		*ret_value = compute(m, device, value);
		break;
	}
	return true;
}

bool gkf_value_range(struct gkf_machine *m, unsigned device,
		     enum gkf_value value, int64_t *ret_min, int64_t *ret_max)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	bool limit = value == GKF_V_POWER_LIMIT;

	if (!has(profile, value))
		return false;
	*ret_min = limit ? profile->power_min_mw : gkf_values[value].min;
	*ret_max = limit ? profile->power_max_mw : gkf_values[value].max;
	return true;
}

int gkf_value_set(struct gkf_machine *m, unsigned device, enum gkf_value value,
		  int64_t to)
{
	struct gkf_device *dev = &m->file->device[device];
	int64_t min, max;
	int r;

	if (!gkf_value_range(m, device, value, &min, &max))
		return GK_ERR_NOT_SUPPORTED;
	if (to != GKF_UNSET && (to < min || to > max))
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	gkf_state_advance(m, device);
	atomic_store(&dev->set[value], to);
	gkf_unlock(m);
	return 0;
}

int gkf_fault_set(struct gkf_machine *m, unsigned device, enum gkf_fault fault)
{
	if (device >= m->device_count)
		return GK_ERR_RANGE;
	atomic_store(&m->file->device[device].fault, fault);
	return 0;
}

uint32_t gkf_demand_at(struct gkf_machine *m, unsigned device, uint64_t bin)
{
	struct gkf_drive drive;

	drive_at(m, device, bin, &drive);
	return drive.demand;
}

struct gkf_share gkf_share_at(const struct gkf_wave *wave, uint64_t bin,
			      uint32_t demand_permille)
{
	uint32_t busy = gkf_wave_at(wave, bin);
	uint32_t shared =
	    demand_permille > 1000 ? busy * 1000 / demand_permille : busy;

	return (struct gkf_share){
	    .sm = shared / 10,
	    .mem = shared * wave->mem_permille / 10000,
	    .enc = shared * wave->encoder_permille / 10000,
	    .dec = shared * wave->decoder_permille / 10000,
	};
}
