/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - opens the machine behind this NVML, counts nvmlInit and
 * nvmlShutdown, and keeps the lock usable across fork().
 *
 * Machines stay mapped after nvmlShutdown, see front.h; the next nvmlInit
 * reuses the mapping if the path still leads to the same file. The library is
 * linked with -z nodelete: a thread may be inside a call while another thread
 * unloads the library or ends the process.
 */
#include "fronts/nvml/front.h"
#include "base/assert.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"
#include "machine/store/machine.h"
#include "machine/store/settings.h"
#include "machine/trouble/machine.h"

#include <pthread.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The maximum number of open machines in a process; one more closes the oldest.
 */
#define OPENED_MAX 16

/* Guarded by `lock`. Calls other than nvmlInit and nvmlShutdown take no lock.
 */
static struct {
	pthread_mutex_t lock;
	unsigned references;
	struct opened opened[OPENED_MAX];
	unsigned next; /* index for the next machine, modulo OPENED_MAX */
} front = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool same_file(const struct opened *o, const struct stat *st)
{
	return o->machine && o->ino && o->dev == st->st_dev &&
	       o->ino == st->st_ino && gkf_machine_is_whole(o->machine);
}

/* The caller holds front.lock. */
static struct opened *find_opened(const struct stat *st)
{
	GK_ASSERT(gk_lock_held(&front.lock));
	for (unsigned i = 0; i < OPENED_MAX; i++)
		if (same_file(&front.opened[i], st))
			return &front.opened[i];
	return NULL;
}

/*
 * Stores a machine in place of the oldest one, which is closed. The caller
 * holds front.lock.
 */
static struct opened *keep_machine(struct gkf_machine *machine)
{
	struct opened *o = &front.opened[front.next++ % OPENED_MAX];

	GK_ASSERT(gk_lock_held(&front.lock));
	if (o->machine)
		gkf_machine_close(o->machine);
	*o = (struct opened){.machine = machine,
			     .gate = gkf_gate(machine),
			     .device_count = gkf_device_count(machine)};
	return o;
}

/*
 * Finds the machine that nvmlInit should use, or opens it; `front` owns it.
 * Returns 0 or a gk_err. The caller holds front.lock.
 */
static int find_machine(struct opened **ret_opened)
{
	struct gkf_machine *machine;
	struct stat before, after;
	char path[PATH_MAX];
	bool was_there;
	int r;

	GK_ASSERT(gk_lock_held(&front.lock));
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
	/* If the file was replaced meanwhile, either file may be open: do not
	 * reuse the mapping. */
	if (stat(path, &after) == 0 &&
	    (!was_there || before.st_ino == after.st_ino)) {
		(*ret_opened)->dev = after.st_dev;
		(*ret_opened)->ino = after.st_ino;
	}
	return 0;
}

/*
 * A process that uses another user's machine reads a copy, which shows the
 * machine's state at nvmlInit. Makes the next nvmlInit create a new copy; the
 * old one stays open, as calls may still use it. The caller holds front.lock.
 */
static void forget_copies(void)
{
	GK_ASSERT(gk_lock_held(&front.lock));
	for (unsigned i = 0; i < OPENED_MAX; i++) {
		struct opened *o = &front.opened[i];

		if (o->machine && gkf_machine_is_copy(o->machine))
			o->ino = 0;
	}
}

/* The machine's driver and this library must be of the same generation. */
static bool is_our_driver(const struct opened *o)
{
	return gkf_generation_find(gkf_driver(o->machine)->version) ==
	       front_generation;
}

/*
 * Undoes one nvmlInit; after the last one, NVML is uninitialised. The caller
 * holds front.lock.
 */
static void release_locked(struct gkf_machine *machine)
{
	GK_ASSERT(gk_lock_held(&front.lock));
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

static nvmlReturn_t init_nvml(enum nvml_row row)
{
	struct opened *o;
	nvmlReturn_t answer;
	struct call c;
	int r;

	pthread_mutex_lock(&front.lock);
	o = atomic_load(&front_current);
	if (!o)
		forget_copies();
	r = o ? 0 : find_machine(&o);
	if (!r && !is_our_driver(o))
		r = GK_ERR_VERSION;
	if (!r)
		gkf_scenario_poll(o->machine);
	answer = r ? front_error(r) : front_machine_fault(o->machine);
	if (!answer) {
		GK_ASSERT(o);
		front.references++;
		atomic_store(&front_current, o);
		answer = begin_call(&c, row);
		if (answer)
			release_locked(o->machine);
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
	return init_nvml(ROW_nvmlInit);
}

nvmlReturn_t nvmlInit_v2(void)
{
	return init_nvml(ROW_nvmlInit_v2);
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
	const unsigned known = NVML_INIT_FLAG_NO_GPUS |
			       NVML_INIT_FLAG_NO_ATTACH |
			       NVML_INIT_FLAG_FORCE_INIT;

	if (flags & ~known)
		return NVML_ERROR_INVALID_ARGUMENT;
	return init_nvml(ROW_nvmlInitWithFlags);
}

/*
 * Another thread may have shut NVML down during the delay of enter_call().
 * NVML can also be shut down on a machine whose file was truncated.
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

/* Also works before nvmlInit, and does not initialise NVML. */
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
	r = o ? 0 : find_machine(&o);
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

/*
 * Takes the lock, because otherwise another thread could hold it during fork()
 * and the child would inherit it locked.
 */
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
