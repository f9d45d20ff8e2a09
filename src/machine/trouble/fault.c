/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c - begins and ends faults of a made-up GPU; see fault.h. */
#include "machine/trouble/fault.h"
#include "abi/cuda/cuda_abi.h"
#include "abi/nvml/nvml_abi.h"
#include "base/assert.h"
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/ecc_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/ecc.h"
#include "machine/model/link.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"
#include "machine/trouble/cuda_fault.h"

#define EVERY_FAULT (GKF_FAULT_BIT(GKF_FAULT_COUNT) - 1)

static struct gkf_fault_state *faults_of(const struct gkf_machine *m,
					 unsigned device)
{
	return &m->file->device[device].fault;
}

static uint64_t active_faults(const struct gkf_machine *m, unsigned device)
{
	return atomic_load_explicit(&faults_of(m, device)->active,
				    memory_order_acquire) &
	       EVERY_FAULT;
}

bool gkf_fault_active(struct gkf_machine *m, unsigned device,
		      enum gkf_fault fault)
{
	GK_ASSERT(device < m->device_count);
	GK_ASSERT((unsigned)fault < GKF_FAULT_COUNT);
	return active_faults(m, device) >> fault & 1;
}

uint64_t gkf_fault_argument(struct gkf_machine *m, unsigned device,
			    enum gkf_fault fault)
{
	const struct gkf_fault_info *info = &gkf_faults[fault];
	uint64_t argument = atomic_load(&faults_of(m, device)->argument[fault]);

	if (!gkf_fault_active(m, device, fault))
		return 0;
	if (info->argument == GKF_ARGUMENT_LINK)
		return argument; /* any bits may be set */
	/* Any process may have overwritten the argument. */
	return gkf_fault_takes(info, argument) ? argument : info->usual;
}

/* The severity of each nvmlDeviceGpuRecoveryAction_t. */
static const uint8_t gravity[] = {
    [NVML_GPU_RECOVERY_ACTION_NONE] = 0,
    [NVML_GPU_RECOVERY_ACTION_GPU_RESET] = 2,
    [NVML_GPU_RECOVERY_ACTION_NODE_REBOOT] = 4,
    [NVML_GPU_RECOVERY_ACTION_DRAIN_P2P] = 1,
    [NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET] = 3,
};

/* The action for pending memory repairs, regardless of their cause. */
static int advice_of_memory(const struct gkf_machine *m, unsigned device)
{
	struct gkf_ecc_rows rows;

	return gkf_ecc_rows(m, device, &rows) &&
		       rows.pending[GKF_ECC_BY_UNCORRECTED]
		   ? NVML_GPU_RECOVERY_ACTION_GPU_RESET
		   : NVML_GPU_RECOVERY_ACTION_NONE;
}

int gkf_fault_recovery(struct gkf_machine *m, unsigned device)
{
	uint64_t left;
	int advice;

	GK_ASSERT(device < m->device_count);
	advice = advice_of_memory(m, device);
	for (left = active_faults(m, device); left; left &= left - 1) {
		int of = gkf_faults[__builtin_ctzll(left)].recovery;

		if (gravity[of] > gravity[advice])
			advice = of;
	}
	return advice;
}

/* ---- events; the caller holds the writers' lock ---- */

void gkf_fault_tell_recovery(struct gkf_machine *m, unsigned device, int before)
{
	GK_ASSERT(gkf_lock_held(m));
	if (gkf_fault_recovery(m, device) != before)
		gkf_event_push(m, device, nvmlEventTypeGpuRecoveryAction, 0,
			       GKF_NO_INSTANCE);
}

static void push_each(struct gkf_machine *m, unsigned device, uint64_t types)
{
	GK_ASSERT(gkf_lock_held(m));
	for (; types; types &= types - 1)
		gkf_event_push(m, device, types & -types, 0, GKF_NO_INSTANCE);
}

static void push_xid_in(struct gkf_machine *m, unsigned device, unsigned number,
			uint32_t instance)
{
	struct gkf_fault_state *s = faults_of(m, device);
	const struct gkf_xid_info *info = gkf_xid_find(number);

	GK_ASSERT(gkf_lock_held(m));
	if (!number)
		return;
	atomic_store(&s->last_xid, number);
	atomic_fetch_add(&s->xids, 1);
	gkf_event_push(m, device, nvmlEventTypeXidCriticalError, number,
		       instance);
	if (info)
		push_each(m, device, info->events);
}

static void push_xid(struct gkf_machine *m, unsigned device, unsigned number)
{
	GK_ASSERT(gkf_lock_held(m));
	push_xid_in(m, device, number, GKF_NO_INSTANCE);
}

/* ---- beginning ---- */

/* 0 if a board can have a fault, or a gk_err. */
static int can_have(struct gkf_machine *m, unsigned device,
		    enum gkf_fault fault, uint64_t argument)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	int64_t ecc = 0;
	bool can = true;

	if (fault == GKF_FAULT_FAN)
		can = p->fans >= 1;
	else if (fault == GKF_FAULT_ECC || fault == GKF_FAULT_REMAP_PENDING ||
		 fault == GKF_FAULT_REMAP_FAILURE)
		can = gkf_value_get(m, device, GKF_V_ECC_MODE, &ecc) && ecc;
	else if (fault == GKF_FAULT_NVLINK)
		can = argument < gkf_links(m, device);
	else if (fault == GKF_FAULT_INFOROM)
		can = p->inforom_image[0];
	else if (fault == GKF_FAULT_PCIE)
		can = (int64_t)(argument >> 8) <= p->pcie_gen &&
		      (int64_t)(argument & 0xff) <= p->pcie_width;
	return can ? 0 : GK_ERR_NOT_SUPPORTED;
}

static void mark_fault(struct gkf_machine *m, unsigned device,
		       enum gkf_fault fault, uint64_t argument)
{
	struct gkf_fault_state *s = faults_of(m, device);

	if (gkf_faults[fault].argument == GKF_ARGUMENT_LINK)
		argument =
		    1ULL << argument | gkf_fault_argument(m, device, fault);
	atomic_store(&s->argument[fault], argument);
	atomic_fetch_add(&s->begun[fault], 1);
	atomic_store(&s->seen[fault], 0);
	if (!gkf_fault_active(m, device, fault))
		atomic_store(&s->since_ns[fault], gkf_machine_ns(m));
	atomic_fetch_or(&s->active, GKF_FAULT_BIT(fault));
}

/* The CUresult with which a fault makes all contexts fail; 0: it does not. */
static unsigned result_of_contexts(enum gkf_fault fault, uint64_t argument)
{
	if (fault == GKF_FAULT_FALLEN || fault == GKF_FAULT_LOST)
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	if (fault == GKF_FAULT_ECC)
		return CUDA_ERROR_ECC_UNCORRECTABLE;
	return fault == GKF_FAULT_STICKY ? GKF_CUDA_FAULT_RESULT(argument) : 0;
}

/* Sends the Xid first, so that a program whose context fails finds the Xid. */
static void strike_contexts(struct gkf_machine *m, unsigned device,
			    enum gkf_fault fault, uint64_t argument)
{
	struct gkf_fault_state *s = faults_of(m, device);
	unsigned result = result_of_contexts(fault, argument);

	if (fault == GKF_FAULT_STICKY)
		push_xid(m, device, gkf_cuda_fault_xid(result));
	if (result)
		atomic_store(&s->strike, ((atomic_load(&s->strike) >> 16) + 1)
						 << 16 |
					     result);
}

static void begin_fault(struct gkf_machine *m, unsigned device,
			enum gkf_fault fault, uint64_t argument, unsigned xid)
{
	int advice = gkf_fault_recovery(m, device);

	mark_fault(m, device, fault, argument);
	push_xid(m, device, xid);
	push_each(m, device, gkf_faults[fault].events);
	strike_contexts(m, device, fault, argument);
	gkf_fault_tell_recovery(m, device, advice);
}

/* Sends the Xids and events of a memory error and its repair. */
static void tell_ecc(struct gkf_machine *m, unsigned device, uint64_t argument,
		     unsigned xid)
{
	const unsigned double_bit = gkf_faults[GKF_FAULT_ECC].xid;
	enum gkf_fault repair = GKF_FAULT_REMAP_PENDING;

	if (gkf_fault_active(m, device, GKF_FAULT_REMAP_FAILURE))
		repair = GKF_FAULT_REMAP_FAILURE;
	begin_fault(m, device, GKF_FAULT_ECC, argument, double_bit);
	if (xid != double_bit)
		push_xid(m, device, xid);
	begin_fault(m, device, repair, 0, gkf_faults[repair].xid);
}

/*
 * Records the errors that a fault causes in memory or on a link.
 * GKF_FAULT_REMAP_PENDING causes two corrected errors in one memory row, which
 * is then remapped. The recovery error of a link stays when the fault ends;
 * link.c treats the link as down while the fault is active.
 */
static int damage_gpu(struct gkf_machine *m, unsigned device,
		      enum gkf_fault fault, uint64_t argument)
{
	struct gkf_ecc *ecc = &m->file->device[device].ecc;
	unsigned link = (unsigned)argument;

	if (fault == GKF_FAULT_NVLINK)
		return gkf_link_set_error(
		    m, device, link, GKF_LINK_RECOVERY,
		    gkf_link_error(m, device, link, GKF_LINK_RECOVERY) + 1);
	if (fault == GKF_FAULT_ECC)
		return gkf_ecc_error_locked(m, device, GKF_ECC_SECDED,
					    GKF_ECC_DRAM, argument);
	if (fault == GKF_FAULT_REMAP_PENDING)
		return gkf_ecc_error_locked(m, device, GKF_ECC_CORRECTED,
					    GKF_ECC_DRAM, 2);
	if (fault == GKF_FAULT_REMAP_FAILURE) {
		atomic_store(&ecc->failures, 1);
		atomic_store(&ecc->channel, 1);
	}
	return 0;
}

static void repair_memory(struct gkf_machine *m, unsigned device,
			  uint64_t faults)
{
	struct gkf_ecc *ecc = &m->file->device[device].ecc;

	if (faults & (GKF_FAULT_BIT(GKF_FAULT_ECC) |
		      GKF_FAULT_BIT(GKF_FAULT_REMAP_PENDING)))
		gkf_ecc_reset(m, device);
	if (faults & GKF_FAULT_BIT(GKF_FAULT_REMAP_FAILURE)) {
		atomic_store(&ecc->failures, 0);
		atomic_store(&ecc->channel, 0);
	}
}

/* Begins a fault with all its effects. The caller holds the writers' lock. */
static int begin_locked(struct gkf_machine *m, unsigned device,
			enum gkf_fault fault, uint64_t argument, unsigned xid)
{
	int r = can_have(m, device, fault, argument);

	GK_ASSERT(gkf_lock_held(m));
	if (r)
		return r;
	gkf_state_advance(m, device);
	r = damage_gpu(m, device, fault, argument);
	if (r)
		return r;
	if (fault == GKF_FAULT_ECC)
		tell_ecc(m, device, argument, xid);
	else
		begin_fault(m, device, fault, argument, xid);
	return 0;
}

static int begin_as(struct gkf_machine *m, unsigned device,
		    enum gkf_fault fault, uint64_t argument, unsigned xid)
{
	int r;

	if (device >= m->device_count ||
	    !gkf_fault_takes(&gkf_faults[fault], argument))
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	r = begin_locked(m, device, fault, argument, xid);
	gkf_unlock(m);
	if (!r)
		gkf_event_wake(m);
	return r;
}

int gkf_fault_begin(struct gkf_machine *m, unsigned device,
		    enum gkf_fault fault, uint64_t argument)
{
	return begin_as(m, device, fault, argument, gkf_faults[fault].xid);
}

int gkf_xid(struct gkf_machine *m, unsigned device, unsigned number)
{
	const struct gkf_xid_info *xid = gkf_xid_find(number);

	if (!xid || device >= m->device_count)
		return GK_ERR_RANGE;
	if (xid->becomes >= 0)
		return begin_as(m, device, (enum gkf_fault)xid->becomes,
				gkf_faults[xid->becomes].usual, number);
	return gkf_xid_in(m, device, number, GKF_NO_INSTANCE);
}

static bool is_instance(struct gkf_machine *m, unsigned device,
			uint32_t instance)
{
	struct gkf_mig_ci ci;

	return !gkf_mig_ci_read(m, device, GKF_INSTANCE_GI(instance),
				GKF_INSTANCE_CI(instance), &ci);
}

int gkf_xid_in(struct gkf_machine *m, unsigned device, unsigned number,
	       uint32_t instance)
{
	const struct gkf_xid_info *xid = gkf_xid_find(number);
	int r;

	if (!xid || device >= m->device_count)
		return GK_ERR_RANGE;
	if (xid->becomes >= 0)
		return GK_ERR_INVALID;
	if (instance != GKF_NO_INSTANCE && !is_instance(m, device, instance))
		return GK_ERR_NOT_FOUND;
	r = gkf_lock(m);
	if (r)
		return r;
	push_xid_in(m, device, number, instance);
	gkf_unlock(m);
	return 0;
}

void gkf_xid_tell(struct gkf_machine *m, unsigned device, unsigned number,
		  uint32_t instance)
{
	if (device >= m->device_count || gkf_lock(m))
		return;
	if (instance != GKF_NO_INSTANCE && !is_instance(m, device, instance))
		instance = GKF_NO_INSTANCE;
	push_xid_in(m, device, number, instance);
	gkf_unlock(m);
}

/* ---- ending ---- */

/*
 * Values that grow by one in every `bins` bins while a fault is active. A PCIe
 * link that was trained to a lower speed or width is assumed to be bad: it
 * damages packets, which are then sent again.
 */
static const struct {
	enum gkf_fault fault;
	enum gkf_value value;
	unsigned bins;
} counters[] = {
    {GKF_FAULT_PCIE, GKF_V_PCIE_REPLAY, 1},
    {GKF_FAULT_PCIE, GKF_V_PCIE_RECEIVER_ERRORS, 2},
    {GKF_FAULT_PCIE, GKF_V_PCIE_BAD_TLP, 2},
    {GKF_FAULT_PCIE, GKF_V_PCIE_LCRC, 2},
    {GKF_FAULT_PCIE, GKF_V_PCIE_NAKS_SENT, 2},
    {GKF_FAULT_PCIE, GKF_V_PCIE_RECOVERIES, 30},
};
#define COUNTERS (sizeof counters / sizeof *counters)

void gkf_fault_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		    uint64_t end)
{
	struct gkf_device *dev = &m->file->device[device];

	GK_ASSERT(gkf_lock_held(m));
	for (size_t i = 0; active_faults(m, device) && i < COUNTERS; i++) {
		_Atomic int64_t *count = &dev->set[counters[i].value];
		uint64_t more =
		    end / counters[i].bins - first / counters[i].bins;
		int64_t before = gkf_clamp(atomic_load(count), 0, UINT32_MAX);

		if (!gkf_fault_active(m, device, counters[i].fault) || !more)
			continue;
		atomic_store(count,
			     gkf_clamp(before + (int64_t)(more & UINT32_MAX), 0,
				       UINT32_MAX));
	}
}

void gkf_fault_catch_up(struct gkf_machine *m, unsigned device,
			enum gkf_value value)
{
	struct gkf_state state;

	for (size_t i = 0; i < COUNTERS; i++)
		if (counters[i].value == value &&
		    gkf_fault_active(m, device, counters[i].fault))
			gkf_state_now(m, device, &state);
}

static void end_faults(struct gkf_machine *m, unsigned device, uint64_t faults)
{
	int advice = gkf_fault_recovery(m, device);

	repair_memory(m, device, faults & active_faults(m, device));
	atomic_fetch_and(&faults_of(m, device)->active, ~faults);
	gkf_fault_tell_recovery(m, device, advice);
}

int gkf_fault_end(struct gkf_machine *m, unsigned device, uint64_t faults)
{
	int r;

	if (device >= m->device_count)
		return GK_ERR_RANGE;
	if (!(active_faults(m, device) & faults))
		return 0;
	r = gkf_lock(m);
	if (r)
		return r;
	gkf_state_advance(m, device);
	end_faults(m, device, faults);
	gkf_unlock(m);
	gkf_event_wake(m);
	return 0;
}

int gkf_fault_reset(struct gkf_machine *m, unsigned device)
{
	uint64_t mended = 0;

	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		if (gkf_faults[i].mended_by_reset)
			mended |= GKF_FAULT_BIT(i);
	return gkf_fault_end(m, device, mended);
}

/* ---- values that faults force ---- */

/* Values that faults force, to `fixed` or to a byte of the fault's argument. */
static const struct {
	enum gkf_fault fault;
	enum gkf_value value;
	bool is_argument;
	uint8_t fixed, shift;
} dictates[] = {
    {GKF_FAULT_THERMAL, GKF_V_THERMAL_SLOWDOWN, .fixed = 1},
    {GKF_FAULT_POWER_BRAKE, GKF_V_POWER_BRAKE, .fixed = 1},
    {GKF_FAULT_SLOWDOWN, GKF_V_SLOWDOWN, .fixed = 1},
    {GKF_FAULT_FAN, GKF_V_FAN, .fixed = 0},
    {GKF_FAULT_PCIE, GKF_V_PCIE_GEN, .is_argument = true, .shift = 8},
    {GKF_FAULT_PCIE, GKF_V_PCIE_WIDTH, .is_argument = true},
};

bool gkf_fault_value(struct gkf_machine *m, unsigned device,
		     enum gkf_value value, int64_t *ret_value)
{
	uint64_t broken = active_faults(m, device);

	for (size_t i = 0; broken && i < sizeof dictates / sizeof *dictates;
	     i++) {
		enum gkf_fault fault = dictates[i].fault;

		if (dictates[i].value != value || !(broken >> fault & 1))
			continue;
		*ret_value = dictates[i].fixed;
		if (dictates[i].is_argument)
			*ret_value = gkf_fault_argument(m, device, fault) >>
					 dictates[i].shift &
				     0xff;
		return true;
	}
	return false;
}

/* ---- faults of the whole machine ---- */

int gkf_machine_fault_set(struct gkf_machine *m, enum gkf_machine_fault fault,
			  bool on)
{
	if (on)
		atomic_fetch_or(&m->file->faults, GKF_FAULT_BIT(fault));
	else
		atomic_fetch_and(&m->file->faults, ~GKF_FAULT_BIT(fault));
	gkf_event_wake(m);
	return 0;
}

bool gkf_machine_fault_active(struct gkf_machine *m,
			      enum gkf_machine_fault fault)
{
	return atomic_load(&m->file->faults) >> fault & 1;
}
