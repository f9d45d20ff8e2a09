/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - cuInit: opens the machine, finds the GPUs visible to this process,
 * and handles fork() and exit.
 *
 * No memory is ever unmapped, and the library is linked with -z nodelete,
 * because threads may be inside calls while the process exits.
 */
#include "base/err.h"
#include "base/log.h"
#include "base/visible.h"
#include "device/share.h"
#include "device/space.h"
#include "fronts/cuda/context/front.h"
#include "fronts/cuda/generation.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/settings.h"
#include "machine/trouble/fault.h"

#include <stdlib.h>
#include <string.h>

/* Serialises cuInit(). */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/* Faults that make a GPU invisible to processes that start afterwards. */
#define UNSEEN                                                                 \
	(GKF_FAULT_BIT(GKF_FAULT_FALLEN) | GKF_FAULT_BIT(GKF_FAULT_LOST) |     \
	 GKF_FAULT_BIT(GKF_FAULT_NO_PERMISSION))

/* Results of cuInit() when the machine as a whole has a fault. */
static const struct {
	enum gkf_machine_fault fault;
	CUresult says;
} broken[] = {
    {GKF_MACHINE_FAULT_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
    {GKF_MACHINE_FAULT_DRIVER_NOT_LOADED, CUDA_ERROR_NO_DEVICE},
    {GKF_MACHINE_FAULT_INIT_NO_PERMISSION, CUDA_ERROR_NO_DEVICE},
    {GKF_MACHINE_FAULT_INIT_UNKNOWN, CUDA_ERROR_UNKNOWN},
};

/*
 * The maximum number of GPUs and MIG devices from which CUDA_VISIBLE_DEVICES
 * selects.
 */
#define PLACES (GKF_DEVICES_MAX * (1 + GKF_MIG_MAX))
struct places {
	unsigned count;
	struct gk_candidate candidate[PLACES];
	struct cuda_device device[PLACES];
	char uuid[PLACES][GKF_MIG_UUID_MAX];
	unsigned chosen[PLACES];
};

static void add_device_place(struct places *p, const struct cuda_device *d,
			     int mig_index, const char *uuid)
{
	const struct gkf_board *b = d->board;
	unsigned i = p->count++;

	strncpy(p->uuid[i], uuid, sizeof(p->uuid[i]) - 1);
	p->device[i] = *d;
	p->candidate[i] = (struct gk_candidate){
	    .index = d->index,
	    .mig_index = mig_index,
	    .uuid = p->uuid[i],
	    .pci_domain = b->pci_domain,
	    .pci_bus = b->pci_bus,
	    .pci_device = b->pci_device,
	    .speed = gk_cuda_speed((int)b->profile.compute_major,
				   (int)b->profile.compute_minor,
				   (uint64_t)b->profile.sm_clock_max_mhz),
	    .mig_enabled = d->instance == GKF_NO_INSTANCE &&
			   gkf_gate_split(cuda.gate, d->index),
	};
}

static void add_instances(struct places *p, const struct cuda_device *whole)
{
	struct cuda_device d = *whole;
	char uuid[GKF_MIG_UUID_MAX];
	struct gkf_mig_ci ci;

	for (unsigned i = 0; i < GKF_MIG_MAX; i++) {
		if (gkf_mig_by_index(cuda.machine, d.index, i, &ci))
			continue;
		d.instance = GKF_INSTANCE(ci.gi, ci.id);
		d.life = ci.life;
		gkf_mig_uuid(cuda.machine, d.index, &ci, uuid);
		add_device_place(p, &d, (int)i, uuid);
	}
}

static void find_places(struct places *p)
{
	for (unsigned i = 0; i < gkf_device_count(cuda.machine); i++) {
		struct cuda_device d = {
		    .index = i,
		    .instance = GKF_NO_INSTANCE,
		    .board = gkf_board(cuda.machine, i),
		};

		if (!gkf_gate_lists(cuda.gate, i) ||
		    gkf_gate_word(cuda.gate->device[i].faults) & UNSEEN)
			continue;
		add_device_place(p, &d, -1, d.board->uuid);
		if (p->candidate[p->count - 1].mig_enabled)
			add_instances(p, &d);
	}
}

/* Finds the visible devices, in the order given by CUDA_VISIBLE_DEVICES. */
static CUresult find_devices(void)
{
	struct places *p = calloc(1, sizeof(*p));
	size_t count = 0;
	int r;

	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	find_places(p);
	r = gk_cuda_visible(getenv("CUDA_VISIBLE_DEVICES"),
			    gk_cuda_order(getenv("CUDA_DEVICE_ORDER")),
			    p->candidate, p->count, p->chosen, &count, NULL);
	for (size_t i = 0; !r && i < count; i++) {
		cuda.device[i] = p->device[p->chosen[i]];
		pthread_mutex_init(&cuda.device[i].lock, NULL);
	}
	cuda.device_count = r ? 0 : (unsigned)count;
	gk_log(GK_LOG_INFO, "CUDA sees %zu of %u devices", count, p->count);
	free(p);
	if (r)
		return front_error(r);
	return count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

static CUresult look_at_machine(void)
{
	const struct gkf_driver *driver = gkf_driver(cuda.machine);

	/*
	 * The kernel module and this library must belong to the same
	 * generation.
	 */
	if (gkf_generation_find(driver->version) != front_generation) {
		gk_log(GK_LOG_WARN, "the machine's driver is %s, not %s",
		       driver->version, front_generation->driver);
		return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
	}
	gkf_scenario_poll(cuda.machine);
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		if (gkf_machine_fault_active(cuda.machine, broken[i].fault))
			return broken[i].says;
	return find_devices();
}

static void forget_machine(void)
{
	cuda.machine = NULL;
	cuda.device_count = 0;
}

/*
 * Whether CUDA_LAUNCH_BLOCKING is set: then launches wait for their kernels, so
 * that errors appear where they occur.
 */
static bool asks_for_blocking(void)
{
	const char *asked = getenv("CUDA_LAUNCH_BLOCKING");

	return asked && atoi(asked);
}

/* Most errors in opening the machine appear to programs as a missing driver. */
static CUresult start_driver(void)
{
	struct gkf_machine *machine;
	int error = gkf_machine_open(NULL, &machine);
	CUresult r;

	if (error)
		return error == GK_ERR_VERSION || error == GK_ERR_NOMEM
			   ? front_error(error)
			   : CUDA_ERROR_NO_DEVICE;
	cuda.machine = machine;
	cuda.gate = gkf_gate(machine);
	cuda.launch_blocking = asks_for_blocking();
	r = look_at_machine();
	if (r) {
		forget_machine();
		gkf_machine_close(machine);
	}
	return r;
}

CUresult cuInit(unsigned int Flags)
{
	CUresult r = CUDA_SUCCESS;
	int ready = atomic_load(&cuda.ready);

	if (ready == CUDA_ENDED || ready == CUDA_FORKED)
		return front_enter(ROW_cuInit);
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (ready == CUDA_NOT_READY) {
		pthread_mutex_lock(&starting);
		if (atomic_load(&cuda.ready) == CUDA_NOT_READY)
			r = start_driver();
		if (!r && atomic_load(&cuda.ready) == CUDA_NOT_READY)
			atomic_store(&cuda.ready, CUDA_READY);
		pthread_mutex_unlock(&starting);
	}
	return r ? r : front_enter(ROW_cuInit);
}

/* Opens the machine just for this call, because cuInit() was not called. */
static unsigned version_before_init(void)
{
	unsigned version = front_generation->cuda;
	struct gkf_machine *machine;

	if (!gkf_machine_open(NULL, &machine)) {
		version = gkf_driver(machine)->cuda_version;
		gkf_gate_count_cuda(gkf_gate(machine), ROW_cuDriverGetVersion);
		gkf_machine_close(machine);
	}
	return version;
}

/* Also works before cuInit(), in a forked child and during exit. */
CUresult cuDriverGetVersion(int *driverVersion)
{
	CUresult r = front_enter(ROW_cuDriverGetVersion);
	int ready = atomic_load(&cuda.ready);

	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	if (!r || ready == CUDA_FORKED)
		*driverVersion = (int)gkf_driver(cuda.machine)->cuda_version;
	else if (ready == CUDA_ENDED)
		*driverVersion = (int)front_generation->cuda;
	else
		*driverVersion = (int)version_before_init();
	return CUDA_SUCCESS;
}

/*
 * A child cannot use the driver after fork(): the state belongs to the parent.
 * If the parent had not finished cuInit(), the child may call it. No lock is
 * taken before fork(), because callers of cuInit() may hold other locks.
 */
static void leave_parent(void)
{
	int ready = CUDA_READY;

	if (atomic_compare_exchange_strong(&cuda.ready, &ready, CUDA_FORKED)) {
		gkf_queue_forget();
		gkf_space_forget();
	} else if (ready == CUDA_NOT_READY) {
		forget_machine();
		pthread_mutex_init(&starting, NULL);
	}
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, leave_parent);
}

/*
 * Makes all later calls fail and ends all work. Releases what this process
 * holds, so that other processes need not first notice that it has ended.
 */
__attribute__((destructor)) static void end_driver(void)
{
	int ready = CUDA_READY;

	if (!atomic_compare_exchange_strong(&cuda.ready, &ready, CUDA_ENDED)) {
		if (ready == CUDA_NOT_READY)
			atomic_store(&cuda.ready, CUDA_ENDED);
		return;
	}
	gkf_queue_end();
	gkf_share_leave();
	for (unsigned i = 0; i < cuda.device_count; i++)
		if (cuda.device[i].attached)
			gkf_detach(cuda.machine, cuda.device[i].slot);
}
