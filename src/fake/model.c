/* model.c - the state of a device, computed once a bin by whoever asks. */
#include "fake/model.h"

#include "base/clock.h"
#include "base/err.h"
#include "fake/account.h"
#include "fake/computed.h"
#include "fake/notice.h"
#include "fake/physics.h"
#include "fake/private.h"

#include <string.h>

/* More than any value or profile may say. */
#define POWER_MAX_MW 4000000
#define TEMP_MAX_MC  200000

/* Longer gaps than a day are filled by the first bins' power. */
#define CATCH_UP_BINS (86400ULL * GKF_BINS_PER_S)

/*
 * A state this much behind is worth waiting for: somebody is catching up with
 * a long gap. A stopped process that holds the lock costs this much a call.
 */
#define OLD_BINS    3
#define PATIENCE_NS (20 * GK_NS_PER_MS)

/* Words that another process may be writing or reading meanwhile. */
static void copy_words(uint64_t *to, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		__atomic_store_n(&to[i],
				 __atomic_load_n(&from[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

static void copy_state(struct gkf_state *to, const struct gkf_state *from)
{
	copy_words((uint64_t *)to, (const uint64_t *)from,
		   sizeof *to / sizeof(uint64_t));
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

/*
 * What a fault dictates, else what is set. What nobody can have set is not
 * believed.
 */
static int64_t set_value(struct gkf_machine *m, unsigned device,
			 enum gkf_value value)
{
	const struct gkf_device *dev = &m->file->device[device];
	int64_t set =
	    atomic_load_explicit(&dev->set[value], memory_order_relaxed);

	if (atomic_load_explicit(&dev->fault.active, memory_order_relaxed) &&
	    gkf_fault_value(m, device, value, &set))
		return set;
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
	memset(drive->kind, 0, sizeof drive->kind);
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;
		uint32_t busy;

		if (!gkf_slot_read_on(m, i, device, &slot) ||
		    !gkf_wave_present(&slot.wave, bin))
			continue;
		busy = gkf_wave_at(&slot.wave, bin);
		drive->attached++;
		drive->demand += busy;
		if (slot.wave.kind < GKF_WAVE_KINDS)
			drive->kind[slot.wave.kind] += busy;
		drive->mem += busy * slot.wave.mem_permille / 1000;
		drive->enc += busy * slot.wave.encoder_permille / 1000;
		drive->dec += busy * slot.wave.decoder_permille / 1000;
	}
}

/* A machine nobody looked at for long: the first of it as one long bin. */
static void skip(struct gkf_state *state, uint64_t bins)
{
	state->energy_mwbins += (uint64_t)state->power_mw * bins;
	state->bin += bins;
}

/*
 * Notes the bin that was just computed. Its number is taken away first and
 * given last: a reader never takes half of it for the whole.
 */
static void remember(struct gkf_device *dev, const struct gkf_state *s)
{
	struct gkf_past *past = &dev->past[(s->bin - 1) % GKF_PAST_BINS];
	struct gkf_past now = {
	    .bin = s->bin - 1,
	    .power_mw = (uint32_t)s->power_mw,
	    .mem_power_mw = (uint32_t)s->mem_power_mw,
	    .pcie_tx_kbs = (uint32_t)s->pcie_tx_kbs,
	    .pcie_rx_kbs = (uint32_t)s->pcie_rx_kbs,
	    .nvlink_tx_kbs = (uint32_t)s->nvlink_tx_kbs,
	    .nvlink_rx_kbs = (uint32_t)s->nvlink_rx_kbs,
	    .sm_clock_mhz = (uint16_t)s->sm_clock_mhz,
	    .mem_clock_mhz = (uint16_t)s->mem_clock_mhz,
	    .video_clock_mhz = (uint16_t)s->video_clock_mhz,
	    .temp_c = (uint16_t)(s->temp_mc / 1000),
	    .sm_active = (uint16_t)s->sm_active,
	    .sm_occupancy = (uint16_t)s->sm_occupancy,
	    .tensor_active = (uint16_t)s->tensor_active,
	    .dram_active = (uint16_t)s->dram_active,
	    .gpu_util = (uint8_t)s->gpu_util,
	    .mem_util = (uint8_t)s->mem_util,
	    .enc_util = (uint8_t)s->enc_util,
	    .dec_util = (uint8_t)s->dec_util,
	    .jpg_util = (uint8_t)s->jpg_util,
	    .ofa_util = (uint8_t)s->ofa_util,
	    .fan = (uint8_t)(s->fan_permille / 10),
	    .mem_temp_c = (uint8_t)(s->mem_temp_mc / 1000),
	    .throttle = (uint16_t)s->throttle,
	    .pstate = (uint16_t)s->pstate,
	};

	__atomic_store_n(&past->bin, UINT64_MAX, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	copy_words((uint64_t *)past + 1, (const uint64_t *)&now + 1,
		   sizeof now / sizeof(uint64_t) - 1);
	__atomic_store_n(&past->bin, now.bin, __ATOMIC_RELEASE);
}

bool gkf_past_read(struct gkf_machine *m, unsigned device, uint64_t bin,
		   struct gkf_past *ret_past)
{
	struct gkf_past *past =
	    &m->file->device[device].past[bin % GKF_PAST_BINS];
	uint64_t found = __atomic_load_n(&past->bin, __ATOMIC_ACQUIRE);

	copy_words((uint64_t *)ret_past, (const uint64_t *)past,
		   sizeof *past / sizeof(uint64_t));
	atomic_thread_fence(memory_order_acquire);
	return found == bin &&
	       __atomic_load_n(&past->bin, __ATOMIC_RELAXED) == bin;
}

static void advance_to(struct gkf_machine *m, unsigned device, uint64_t bin,
		       struct gkf_state *state)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	struct gkf_device *dev = &m->file->device[device];
	struct gkf_drive drive = {0};
	struct gkf_state before;

	drive.linked = m->device_count > 1;
	for (int v = 0; v < GKF_V_COUNT; v++)
		drive.set[v] = set_value(m, device, (enum gkf_value)v);
	if (bin - state->bin > CATCH_UP_BINS)
		skip(state, bin - state->bin - CATCH_UP_BINS);
	while (state->bin < bin) {
		drive_at(m, device, state->bin, &drive);
		before = *state;
		gkf_physics_step(profile, &drive, state);
		remember(dev, state);
		gkf_notice_step(m, device, &drive, &before, state);
	}
}

void gkf_state_advance(struct gkf_machine *m, unsigned device)
{
	struct gkf_device *dev = &m->file->device[device];
	uint64_t bin = gkf_machine_bin(m);
	struct gkf_state state;
	uint64_t first;

	read_state(dev, &state);
	if (state.bin >= bin)
		return;
	first =
	    bin - state.bin > CATCH_UP_BINS ? bin - CATCH_UP_BINS : state.bin;
	advance_to(m, device, bin, &state);
	commit_state(dev, &state);
	gkf_account_bins(m, device, first, bin);
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
	FROM_CODE,    /* a function of computed.h */
};

#define ALWAYS .needs = offsetof(struct gkf_profile, memory_mib)
#define HAS(member, least)                                                     \
	.needs = offsetof(struct gkf_profile, member), .need_min = (least)
#define STATE(member, divisor)                                                 \
	.source = FROM_STATE, .offset = offsetof(struct gkf_state, member),    \
	.scale = (divisor)
#define PROFILE(member)                                                        \
	.source = FROM_PROFILE, .offset = offsetof(struct gkf_profile, member)
#define ZERO       .source = FROM_ZERO
#define CODE(name) .source = FROM_CODE, .compute = gkf_compute_##name
static const struct {
	enum source source;
	size_t offset;
	int64_t scale;
	gkf_compute_fn *compute;
	size_t needs; /* profile integer that must not be below need_min */
	int64_t need_min;
} sources[GKF_V_COUNT] = {
#define VALUE(id, name, min, max, unit, help, ...) [GKF_V_##id] = {__VA_ARGS__},
#include "fake/values.def"
#undef VALUE
};
#undef ALWAYS
#undef HAS
#undef STATE
#undef PROFILE
#undef ZERO
#undef CODE

static int64_t word_at(const void *base, size_t offset)
{
	return *(const int64_t *)((const char *)base + offset);
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
	int64_t set = set_value(m, device, value);
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
		*ret_value = sources[value].compute(m, device);
		break;
	}
	return true;
}

bool gkf_value_is_set(struct gkf_machine *m, unsigned device,
		      enum gkf_value value)
{
	return set_value(m, device, value) != GKF_UNSET;
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
	int64_t min, max, before = 0;
	int r;

	if (!gkf_value_range(m, device, value, &min, &max))
		return GK_ERR_NOT_SUPPORTED;
	if (to != GKF_UNSET && (to < min || to > max))
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	gkf_state_advance(m, device);
	gkf_value_get(m, device, value, &before);
	if (value == GKF_V_ACCOUNTING && to != 1)
		gkf_account_forget(m, device);
	atomic_store(&dev->set[value], to);
	gkf_notice_set(m, device, value, before);
	gkf_unlock(m);
	return 0;
}

uint32_t gkf_demand_at(struct gkf_machine *m, unsigned device, uint64_t bin)
{
	struct gkf_drive drive = {0};

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
