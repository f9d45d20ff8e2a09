/*
 * front.c - the machine behind this NVML: opening it, counting who initialised
 * it, and what has to be right after fork().
 *
 * Machines stay mapped from the first nvmlInit on, see front.h; nvmlInit takes
 * the old mapping when its path still leads to the same file. The library is
 * linked -z nodelete: a thread may be inside a call while another one unloads
 * it or ends the process.
 */
#include "fronts/nvml/front.h"
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"
#include "machine/store/machine.h"
#include "machine/store/settings.h"

#include <pthread.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* More machines than this in one process: the oldest is closed. */
#define OPENED_MAX 16

struct nvmlDevice_st front_handles[GKF_DEVICES_MAX];
_Atomic(struct opened *) front_current;

/* Guarded by lock; only nvmlInit and nvmlShutdown and their kin take it. */
static struct {
	pthread_mutex_t lock;
	unsigned references;
	struct opened opened[OPENED_MAX];
	unsigned next; /* place of the machine opened next */
} front = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct {
	int error;
	nvmlReturn_t nvml;
} errors[] = {
    {0, NVML_SUCCESS},
    {GK_ERR_NOT_FOUND, NVML_ERROR_DRIVER_NOT_LOADED},
    {GK_ERR_INVALID, NVML_ERROR_DRIVER_NOT_LOADED},
    {GK_ERR_CORRUPT, NVML_ERROR_DRIVER_NOT_LOADED},
    {GK_ERR_PERMISSION, NVML_ERROR_NO_PERMISSION},
    {GK_ERR_VERSION, NVML_ERROR_LIB_RM_VERSION_MISMATCH},
    {GK_ERR_NOMEM, NVML_ERROR_MEMORY},
    {GK_ERR_NO_SPACE, NVML_ERROR_INSUFFICIENT_RESOURCES},
    {GK_ERR_TOO_MANY, NVML_ERROR_INSUFFICIENT_RESOURCES},
    {GK_ERR_IO, NVML_ERROR_OPERATING_SYSTEM},
    {GK_ERR_TIMEOUT, NVML_ERROR_TIMEOUT},
    {GK_ERR_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED},
    {GK_ERR_LOST, NVML_ERROR_GPU_IS_LOST},
    {GK_ERR_RANGE, NVML_ERROR_INVALID_ARGUMENT},
};

nvmlReturn_t front_error(int gk_err)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].error == gk_err)
			return errors[i].nvml;
	return NVML_ERROR_UNKNOWN;
}

static bool same_file(const struct opened *o, const struct stat *st)
{
	return o->machine && o->ino && o->dev == st->st_dev &&
	       o->ino == st->st_ino && gkf_machine_is_whole(o->machine);
}

static struct opened *find_opened(const struct stat *st)
{
	for (unsigned i = 0; i < OPENED_MAX; i++)
		if (same_file(&front.opened[i], st))
			return &front.opened[i];
	return NULL;
}

/* Keeps a machine, in the place of the oldest. */
static struct opened *keep_machine(struct gkf_machine *machine)
{
	struct opened *o = &front.opened[front.next++ % OPENED_MAX];

	if (o->machine)
		gkf_machine_close(o->machine);
	*o = (struct opened){.machine = machine,
			     .gate = gkf_gate(machine),
			     .device_count = gkf_device_count(machine)};
	return o;
}

int front_machine(struct opened **ret_opened)
{
	struct gkf_machine *machine;
	struct stat before, after;
	char path[PATH_MAX];
	bool was_there;
	int r;

	r = gkf_machine_path(NULL, path, sizeof(path));
	if (r)
		return r;
	was_there = stat(path, &before) == 0;
	*ret_opened = was_there ? find_opened(&before) : NULL;
	if (*ret_opened)
		return 0;
	r = gkf_machine_open(NULL, &machine);
	if (r)
		return r;
	*ret_opened = keep_machine(machine);
	/* Replaced meanwhile: which one is open is unknown, so do not reuse. */
	if (stat(path, &after) == 0 &&
	    (!was_there || before.st_ino == after.st_ino)) {
		(*ret_opened)->dev = after.st_dev;
		(*ret_opened)->ino = after.st_ino;
	}
	return 0;
}

/*
 * A copy of another user's machine shows one moment, from nvmlInit on. It is
 * not closed: as with a machine, calls may still be in it.
 */
static void forget_copies(void)
{
	for (unsigned i = 0; i < OPENED_MAX; i++) {
		struct opened *o = &front.opened[i];

		if (o->machine && gkf_machine_is_copy(o->machine))
			o->ino = 0;
	}
}

/* The kernel's driver and this library must be of one generation. */
static bool is_our_driver(const struct opened *o)
{
	return gkf_generation_find(gkf_driver(o->machine)->version) ==
	       front_generation;
}

/* Takes back one initialisation; the last one ends it all. */
static void release_locked(struct gkf_machine *machine)
{
	if (front.references && --front.references == 0) {
		atomic_store(&front_current, NULL);
		front_drop_events(machine);
	}
}

static void release_machine(struct gkf_machine *machine)
{
	pthread_mutex_lock(&front.lock);
	release_locked(machine);
	pthread_mutex_unlock(&front.lock);
}

static nvmlReturn_t init(enum nvml_row row)
{
	struct opened *o;
	nvmlReturn_t answer;
	struct call c;
	int r;

	pthread_mutex_lock(&front.lock);
	o = atomic_load(&front_current);
	if (!o)
		forget_copies();
	r = o ? 0 : front_machine(&o);
	if (!r && !is_our_driver(o))
		r = GK_ERR_VERSION;
	if (!r)
		gkf_scenario_poll(o->machine);
	answer = r ? front_error(r) : front_machine_fault(o->machine);
	if (!answer) {
		front.references++;
		atomic_store(&front_current, o);
		answer = begin_call(&c, row);
		if (answer)
			release_locked(c.machine);
	}
	pthread_mutex_unlock(&front.lock);
	if (!answer) {
		answer = hold_device(&c, row);
		if (answer)
			release_machine(c.machine);
	}
	return answer;
}

nvmlReturn_t nvmlInit(void)
{
	return init(ROW_nvmlInit);
}

nvmlReturn_t nvmlInit_v2(void)
{
	return init(ROW_nvmlInit_v2);
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
	const unsigned known = NVML_INIT_FLAG_NO_GPUS |
			       NVML_INIT_FLAG_NO_ATTACH |
			       NVML_INIT_FLAG_FORCE_INIT;

	if (flags & ~known)
		return NVML_ERROR_INVALID_ARGUMENT;
	return init(ROW_nvmlInitWithFlags);
}

/*
 * It may have ended while the call took its time; a machine that was lost is
 * left, too.
 */
nvmlReturn_t nvmlShutdown(void)
{
	struct call c = {.machine = NULL};
	nvmlReturn_t r = enter_call(&c, ROW_nvmlShutdown, true);
	struct opened *o;

	if (r && (!c.machine || gkf_machine_is_whole(c.machine)))
		return r;
	pthread_mutex_lock(&front.lock);
	o = atomic_load(&front_current);
	if (o)
		release_locked(o->machine);
	pthread_mutex_unlock(&front.lock);
	return o ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

/* Works before nvmlInit, too: then the machine is only looked at. */
static nvmlReturn_t cuda_version(enum nvml_row row, int *version)
{
	struct call c = {.index = FRONT_NO_DEVICE};
	struct opened *o;
	nvmlReturn_t answer;
	int r;

	if (!version)
		return NVML_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&front.lock);
	o = atomic_load(&front_current);
	r = o ? 0 : front_machine(&o);
	if (!r) {
		c.machine = o->machine;
		c.gate = o->gate;
		atomic_fetch_add(&c.gate->calls[row], 1);
	}
	pthread_mutex_unlock(&front.lock);
	answer = r ? front_error(r) : hold_device(&c, row);
	if (!answer)
		*version = (int)gkf_driver(c.machine)->cuda_version;
	return answer;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
	return cuda_version(ROW_nvmlSystemGetCudaDriverVersion,
			    cudaDriverVersion);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
	return cuda_version(ROW_nvmlSystemGetCudaDriverVersion_v2,
			    cudaDriverVersion);
}

uint64_t front_wall_us(void)
{
	return gk_wall_ns() / GK_NS_PER_US;
}

nvmlReturn_t front_copy(char *to, unsigned len, const char *from,
			size_t from_len)
{
	size_t n = strnlen(from, from_len);

	if (n >= len)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, from, n);
	to[n] = '\0';
	return NVML_SUCCESS;
}

/* fork() must not copy a lock that another thread holds. */
static void before_fork(void)
{
	pthread_mutex_lock(&front.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&front.lock);
}

__attribute__((constructor)) static void load(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}
