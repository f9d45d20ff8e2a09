/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_test.c - checks split GPUs through NVML: handles and lives, memory,
 * processes, refusals.
 */
#include "base/err.h"
#include "base/units.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

#include <pthread.h>

enum { ID_1G = 19, ID_2G = 14, ID_3G = 9, ID_7G = 0 };

/* Two GPUs, the first split: 3g.40gb (id 2), 2g.20gb (id 3), 1g.10gb (9). */
static int setup(void **state)
{
	struct fixture *fx;
	const char *part;

	front_setup_init(state);
	fx = *state;
	atomic_store(&fx->file->permission, GKF_PERMIT_ALL);
	assert_int_equal(
	    gkf_mig_layout(fx->m, 0, "3g.40gb+2g.20gb+1g.10gb", &part), 0);
	return 0;
}

static nvmlDevice_t mig_at(unsigned index)
{
	nvmlDevice_t mig = NULL;

	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(0), index, &mig),
	    SUCCESS);
	return mig;
}

static nvmlGpuInstance_t gi_of(unsigned id)
{
	nvmlGpuInstance_t gi = NULL;

	assert_nvml(NV(nvmlDeviceGetGpuInstanceById)(device_at(0), id, &gi),
		    SUCCESS);
	return gi;
}

static nvmlComputeInstance_t ci_of(nvmlGpuInstance_t gi, unsigned id)
{
	nvmlComputeInstance_t ci = NULL;

	assert_nvml(NV(nvmlGpuInstanceGetComputeInstanceById)(gi, id, &ci),
		    SUCCESS);
	return ci;
}

static void destroy(unsigned id)
{
	nvmlGpuInstance_t gi = gi_of(id);

	assert_nvml(NV(nvmlComputeInstanceDestroy)(ci_of(gi, 0)), SUCCESS);
	assert_nvml(NV(nvmlGpuInstanceDestroy)(gi), SUCCESS);
}

static void create(unsigned profile, unsigned start, unsigned size)
{
	nvmlGpuInstancePlacement_t at = {start, size};
	nvmlGpuInstance_t gi;
	nvmlComputeInstance_t ci;
	unsigned whole = profile == ID_2G; /* its number in NVML */

	assert_nvml(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(
			device_at(0), profile, &at, &gi),
		    SUCCESS);
	assert_nvml(NV(nvmlGpuInstanceCreateComputeInstance)(gi, whole, &ci),
		    SUCCESS);
}

static void a_mig_device_is_named_after_its_gpu(void **state)
{
	char name[96], uuid[96], again[96];
	nvmlDevice_t mig = mig_at(1), found, parent;
	unsigned id, is;

	(void)state;
	assert_nvml(NV(nvmlDeviceGetName)(mig, name, sizeof name), SUCCESS);
	assert_string_equal(name, "NVIDIA A100-SXM4-80GB MIG 2g.20gb");
	assert_nvml(NV(nvmlDeviceGetIndex)(mig, &id), SUCCESS);
	assert_int_equal(id, 1);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceId)(mig, &id), SUCCESS);
	assert_int_equal(id, 3);
	assert_nvml(NV(nvmlDeviceGetComputeInstanceId)(mig, &id), SUCCESS);
	assert_int_equal(id, 0);
	assert_nvml(NV(nvmlDeviceIsMigDeviceHandle)(mig, &is), SUCCESS);
	assert_int_equal(is, 1);
	assert_nvml(NV(nvmlDeviceIsMigDeviceHandle)(device_at(0), &is),
		    SUCCESS);
	assert_int_equal(is, 0);
	assert_nvml(
	    NV(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(mig, &parent),
	    SUCCESS);
	assert_ptr_equal(parent, device_at(0));
	assert_nvml(NV(nvmlDeviceGetUUID)(mig, uuid, sizeof uuid), SUCCESS);
	assert_memory_equal(uuid, "MIG-", 4);
	assert_int_equal(strlen(uuid), 40);
	assert_nvml(NV(nvmlDeviceGetHandleByUUID)(uuid, &found), SUCCESS);
	assert_ptr_equal(found, mig);
	assert_ptr_equal(mig_at(1), mig);
	assert_nvml(NV(nvmlDeviceGetUUID)(mig_at(0), again, sizeof again),
		    SUCCESS);
	assert_string_not_equal(uuid, again);
	uuid[10] ^= 1;
	assert_nvml(NV(nvmlDeviceGetHandleByUUID)(uuid, &found),
		    ERROR_NOT_FOUND);
}

static void a_handle_is_good_for_one_life(void **state)
{
	char before[96], after[96];
	nvmlDevice_t mig = mig_at(1), now;
	nvmlGpuInstance_t gi = gi_of(3);
	nvmlComputeInstance_t ci = ci_of(gi, 0);
	nvmlGpuInstanceInfo_t gi_info;
	nvmlComputeInstanceInfo_t ci_info;
	nvmlMemory_t memory;

	(void)state;
	assert_nvml(NV(nvmlDeviceGetUUID)(mig, before, sizeof before), SUCCESS);
	destroy(3);
	for (int again = 0; again < 2; again++) {
		assert_nvml(NV(nvmlDeviceGetMemoryInfo)(mig, &memory),
			    ERROR_INVALID_ARGUMENT);
		assert_nvml(NV(nvmlGpuInstanceGetInfo)(gi, &gi_info),
			    ERROR_INVALID_ARGUMENT);
		assert_nvml(NV(nvmlGpuInstanceDestroy)(gi),
			    ERROR_INVALID_ARGUMENT);
		assert_nvml(NV(nvmlComputeInstanceGetInfo)(ci, &ci_info),
			    ERROR_INVALID_ARGUMENT);
		assert_nvml(NV(nvmlComputeInstanceDestroy)(ci),
			    ERROR_INVALID_ARGUMENT);
		if (again)
			break;
		/* The same profile in the same place is another instance. */
		create(ID_2G, 0, 2);
		now = mig_at(1);
		assert_ptr_not_equal(now, mig);
		assert_nvml(NV(nvmlDeviceGetUUID)(now, after, sizeof after),
			    SUCCESS);
		assert_string_not_equal(before, after);
	}
}

static void destroying_leaves_a_hole(void **state)
{
	nvmlDevice_t mig;
	unsigned index;

	(void)state;
	destroy(3);
	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(0), 1, &mig),
	    ERROR_NOT_FOUND);
	assert_nvml(NV(nvmlDeviceGetIndex)(mig_at(2), &index), SUCCESS);
	assert_int_equal(index, 2);
	create(ID_1G, 1, 1);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceId)(mig_at(1), &index), SUCCESS);
	assert_int_equal(index, 8);
	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(0), 7, &mig),
	    ERROR_INVALID_ARGUMENT);
	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(1), 0, &mig),
	    ERROR_NOT_FOUND);
}

static struct resident into(struct fixture *fx, uint32_t instance,
			    uint64_t bytes)
{
	struct resident r;
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	r.pid = fork();
	if (!r.pid) {
		unsigned slot;
		bool ok = !gkf_attach_instance(fx->m, 0, instance, GKF_COMPUTE,
					       NULL, &slot) &&
			  !gkf_books_charge(fx->m, slot, bytes);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], ok ? "y" : "n", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	assert_int_equal(c, 'y');
	return r;
}

static void processes_are_in_their_instance(void **state)
{
	struct fixture *fx = *state;
	struct resident a = into(fx, GKF_INSTANCE(9, 0), 5 * MIB);
	struct resident b = into(fx, GKF_NO_INSTANCE, 7 * MIB);
	nvmlProcessInfo_t list[8];
	unsigned count = 8;

	assert_nvml(NV(nvmlDeviceGetComputeRunningProcesses_v3)(mig_at(2),
								&count, list),
		    SUCCESS);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].pid, a.pid);
	assert_int_equal(list[0].gpuInstanceId, 9);
	assert_int_equal(list[0].computeInstanceId, 0);
	count = 8;
	assert_nvml(NV(nvmlDeviceGetComputeRunningProcesses_v3)(device_at(0),
								&count, list),
		    SUCCESS);
	assert_int_equal(count, 2);
	count = 8;
	/* Without an instance it joins the first one, as CUDA does. */
	assert_nvml(NV(nvmlDeviceGetComputeRunningProcesses_v3)(mig_at(0),
								&count, list),
		    SUCCESS);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].pid, b.pid);
	assert_int_equal(list[0].gpuInstanceId, 2);
	count = 8;
	assert_nvml(NV(nvmlDeviceGetComputeRunningProcesses_v3)(mig_at(1),
								&count, list),
		    SUCCESS);
	assert_int_equal(count, 0);
	fixture_end(&a);
	fixture_end(&b);
}

static void memory_is_that_of_the_instance(void **state)
{
	struct fixture *fx = *state;
	nvmlMemory_t whole, one, other;
	nvmlBAR1Memory_t bar1;
	unsigned slot;

	assert_int_equal(gkf_attach_instance(fx->m, 0, GKF_INSTANCE(9, 0),
					     GKF_COMPUTE, NULL, &slot),
			 0);
	assert_int_equal(gkf_books_charge(fx->m, slot, 9000 * MIB), 0);
	assert_nvml(NV(nvmlDeviceGetMemoryInfo)(mig_at(2), &one), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetMemoryInfo)(mig_at(1), &other), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetMemoryInfo)(device_at(0), &whole), SUCCESS);
	assert_int_equal(one.total, 9728 * MIB);
	assert_in_range(one.used, 9000 * MIB, 9020 * MIB);
	assert_int_equal(one.free, one.total - one.used);
	assert_in_range(other.used, 1, 20 * MIB);
	assert_true(whole.used > one.used && whole.total > 80000 * MIB);
	/* The instance is the limit, however much the GPU has. */
	assert_int_equal(gkf_books_charge(fx->m, slot, one.free + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx->m, slot, one.free), 0);
	assert_int_equal(gkf_detach(fx->m, slot), 0);
	assert_nvml(NV(nvmlDeviceGetBAR1MemoryInfo)(mig_at(0), &bar1), SUCCESS);
	assert_int_equal(bar1.bar1Total, 65535 * MIB);
}

static void what_is_in_use_stays(void **state)
{
	struct fixture *fx = *state;
	struct resident a = into(fx, GKF_INSTANCE(3, 0), MIB);
	nvmlGpuInstance_t gi = gi_of(3);
	nvmlComputeInstance_t ci = ci_of(gi, 0);
	unsigned now, pending;
	nvmlReturn_t status;

	assert_nvml(NV(nvmlGpuInstanceDestroy)(gi), ERROR_IN_USE);
	assert_nvml(NV(nvmlComputeInstanceDestroy)(ci), ERROR_IN_USE);
	assert_nvml(NV(nvmlDeviceSetMigMode)(device_at(0), 0, &status),
		    ERROR_IN_USE);
	assert_nvml(NV(nvmlDeviceGetMigMode)(device_at(0), &now, &pending),
		    SUCCESS);
	assert_int_equal(now, 1);
	assert_int_equal(pending, 1);
	fixture_end(&a);
	/* Dead processes do not hold it. */
	assert_nvml(NV(nvmlComputeInstanceDestroy)(ci), SUCCESS);
	assert_nvml(NV(nvmlGpuInstanceDestroy)(gi), SUCCESS);
	destroy(2);
	destroy(9);
	assert_nvml(NV(nvmlDeviceSetMigMode)(device_at(0), 0, &status),
		    SUCCESS);
	assert_nvml(status, SUCCESS);
	assert_nvml(NV(nvmlDeviceGetMigMode)(device_at(0), &now, &pending),
		    SUCCESS);
	assert_int_equal(now | pending, 0);
}

static void a_busy_gpu_becomes_split_later(void **state)
{
	struct fixture *fx = *state;
	struct resident r = fixture_resident(fx, 1, GKF_COMPUTE, MIB, NULL);
	nvmlDevice_t gpu = device_at(1);
	unsigned now, pending;
	nvmlReturn_t status;
	nvmlGpuInstance_t gi;

	assert_nvml(NV(nvmlDeviceSetMigMode)(gpu, 1, &status), SUCCESS);
	assert_nvml(status, ERROR_IN_USE);
	assert_nvml(NV(nvmlDeviceGetMigMode)(gpu, &now, &pending), SUCCESS);
	assert_int_equal(now, 0);
	assert_int_equal(pending, 1);
	assert_nvml(NV(nvmlDeviceCreateGpuInstance)(gpu, ID_1G, &gi),
		    ERROR_NOT_SUPPORTED);
	fixture_end(&r);
	assert_nvml(NV(nvmlDeviceSetMigMode)(gpu, 1, &status), SUCCESS);
	assert_nvml(status, SUCCESS);
	assert_nvml(NV(nvmlDeviceCreateGpuInstance)(gpu, ID_1G, &gi), SUCCESS);
}

static void a_split_gpu_has_no_utilisation(void **state)
{
	nvmlUtilization_t rates;
	unsigned watts;

	(void)state;
	assert_nvml(NV(nvmlDeviceGetUtilizationRates)(device_at(0), &rates),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetUtilizationRates)(mig_at(0), &rates),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetUtilizationRates)(device_at(1), &rates),
		    SUCCESS);
	assert_nvml(NV(nvmlDeviceGetPowerUsage)(device_at(0), &watts), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetPowerUsage)(mig_at(0), &watts),
		    ERROR_INVALID_ARGUMENT);
}

static void bad_arguments_are_refused(void **state)
{
	nvmlGpuInstancePlacement_t at = {1, 2}, room[8];
	nvmlComputeInstanceProfileInfo_t info;
	nvmlGpuInstance_t gi, bad = (nvmlGpuInstance_t)(void *)&at;
	nvmlComputeInstance_t ci;
	unsigned n;

	(void)state;
	destroy(2);
	assert_nvml(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(
			device_at(0), ID_2G, &at, &gi),
		    ERROR_INVALID_ARGUMENT);
	at = (nvmlGpuInstancePlacement_t){4, 3};
	assert_nvml(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(
			device_at(0), ID_2G, &at, &gi),
		    ERROR_INVALID_ARGUMENT);
	at = (nvmlGpuInstancePlacement_t){0, 2};
	assert_nvml(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(
			device_at(0), ID_2G, &at, &gi),
		    ERROR_INSUFFICIENT_RESOURCES);
	assert_nvml(NV(nvmlDeviceCreateGpuInstance)(device_at(0), ID_7G, &gi),
		    ERROR_INSUFFICIENT_RESOURCES);
	assert_nvml(NV(nvmlDeviceCreateGpuInstance)(device_at(0), 77, &gi),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceById)(device_at(0), 99, &gi),
		    ERROR_NOT_FOUND);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceRemainingCapacity)(device_at(1),
								  ID_1G, &n),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetGpuInstancePossiblePlacements_v2)(
			device_at(1), ID_3G, room, &n),
		    SUCCESS);
	assert_int_equal(n, 2);
	assert_nvml(NV(nvmlGpuInstanceDestroy)(bad), ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlGpuInstanceDestroy)(NULL), ERROR_INVALID_ARGUMENT);
	/* A handle of one kind is not accepted as another. */
	gi = gi_of(3);
	assert_nvml(
	    NV(nvmlComputeInstanceDestroy)((nvmlComputeInstance_t)(void *)gi),
	    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetIndex)((nvmlDevice_t)(void *)gi, &n),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlGpuInstanceCreateComputeInstance)(gi, 0, &ci),
		    ERROR_INSUFFICIENT_RESOURCES);
	assert_nvml(
	    NV(nvmlGpuInstanceGetComputeInstanceProfileInfo)(gi, 2, 0, &info),
	    ERROR_NOT_SUPPORTED);
	assert_nvml(
	    NV(nvmlGpuInstanceGetComputeInstanceProfileInfo)(gi, 9, 0, &info),
	    ERROR_INVALID_ARGUMENT);
	assert_nvml(
	    NV(nvmlGpuInstanceGetComputeInstanceProfileInfo)(gi, 0, 1, &info),
	    ERROR_INVALID_ARGUMENT);
}

static void who_may_not_changes_nothing(void **state)
{
	struct fixture *fx = *state;
	nvmlGpuInstance_t gi = gi_of(3);
	nvmlComputeInstance_t ci = ci_of(gi, 0), made;
	nvmlReturn_t status;
	unsigned n;

	atomic_store(&fx->file->permission, GKF_PERMIT_NONE);
	assert_nvml(NV(nvmlDeviceSetMigMode)(device_at(1), 1, &status),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlComputeInstanceDestroy)(ci), ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlGpuInstanceDestroy)(gi), ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlGpuInstanceCreateComputeInstance)(gi, 0, &made),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceById)(device_at(0), 3, &gi),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceCreateGpuInstance)(device_at(0), ID_1G, &gi),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceRemainingCapacity)(device_at(0),
								  ID_1G, &n),
		    ERROR_NO_PERMISSION);
	/* Everybody may ask where a MIG device belongs. */
	assert_nvml(NV(nvmlDeviceGetGpuInstanceId)(mig_at(1), &n), SUCCESS);
}

/* Callers of the first versions have room for 24 bytes. */
static void old_records_are_not_overrun(void **state)
{
	union {
		nvmlDeviceAttributes_t attributes;
		nvmlComputeInstanceInfo_t info;
		unsigned char bytes[64];
	} u;

	(void)state;
	memset(&u, 0xa5, sizeof u);
	assert_nvml(NV(nvmlDeviceGetAttributes)(mig_at(0), &u.attributes),
		    SUCCESS);
	assert_int_equal(u.attributes.multiprocessorCount, 42);
	assert_int_equal(u.bytes[24], 0xa5);
	memset(&u, 0xa5, sizeof u);
	assert_nvml(NV(nvmlComputeInstanceGetInfo)(ci_of(gi_of(2), 0), &u.info),
		    SUCCESS);
	assert_ptr_equal(u.info.device, device_at(0));
	assert_int_equal(u.bytes[24], 0xa5);
	assert_nvml(NV(nvmlDeviceGetAttributes)(device_at(0), &u.attributes),
		    ERROR_NOT_SUPPORTED);
}

static void a_change_is_an_event(void **state)
{
	nvmlEventSet_t set;
	nvmlEventData_t data;

	(void)state;
	assert_nvml(NV(nvmlEventSetCreate)(&set), SUCCESS);
	assert_nvml(NV(nvmlDeviceRegisterEvents)(device_at(0),
						 nvmlEventMigConfigChange, set),
		    SUCCESS);
	assert_nvml(NV(nvmlEventSetWait_v2)(set, &data, 0), ERROR_TIMEOUT);
	destroy(9);
	assert_nvml(NV(nvmlEventSetWait_v2)(set, &data, 1000), SUCCESS);
	assert_int_equal(data.eventType, nvmlEventMigConfigChange);
	assert_ptr_equal(data.device, device_at(0));
	assert_nvml(NV(nvmlEventSetFree)(set), SUCCESS);
}

static _Atomic bool over;

/* All results for a handle belong to one instance, or say that it is gone. */
static void *look(void *arg)
{
	nvmlDevice_t gpu = arg, mig;
	nvmlDeviceAttributes_t a;
	nvmlMemory_t memory;
	char name[96];

	while (!atomic_load(&over))
		for (unsigned i = 0; i < 7; i++) {
			if (NV(nvmlDeviceGetMigDeviceHandleByIndex)(gpu, i,
								    &mig) ||
			    NV(nvmlDeviceGetAttributes_v2)(mig, &a) ||
			    NV(nvmlDeviceGetMemoryInfo)(mig, &memory) ||
			    NV(nvmlDeviceGetName)(mig, name, sizeof name))
				continue;
			if (memory.total != a.memorySizeMB * MIB ||
			    !strstr(name, a.gpuInstanceSliceCount == 1
					      ? " MIG 1g."
					  : a.gpuInstanceSliceCount == 2
					      ? " MIG 2g."
					      : " MIG 3g."))
				return arg; /* a mixture */
		}
	return NULL;
}

static void threads_see_instances_come_and_go(void **state)
{
	enum { LOOKERS = 3, ROUNDS = 200 };
	pthread_t thread[LOOKERS];

	(void)state;
	atomic_store(&over, false);
	for (unsigned i = 0; i < LOOKERS; i++)
		assert_int_equal(
		    pthread_create(&thread[i], NULL, look, device_at(0)), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		destroy(3);
		create(ID_1G, 1, 1);
		destroy(8);
		create(ID_2G, 0, 2);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < LOOKERS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(thread[i], &wrong), 0);
		assert_null(wrong);
	}
}

/* Another process may write garbage into the words. */
static void garbage_is_no_instance(void **state)
{
	struct fixture *fx = *state;
	struct gkf_mig *mig = &fx->file->device[0].mig;
	nvmlMemory_t memory;
	nvmlDevice_t found;
	uint64_t noise = 1;

	for (int round = 0; round < 20000; round++) {
		for (unsigned i = 0; i < GKF_MIG_GIS; i++) {
			noise = noise * 6364136223846793005ULL + 1;
			atomic_store(&mig->gi[i], noise >> (round % 3 * 16));
			for (unsigned k = 0; k < GKF_MIG_CIS; k++) {
				noise = noise * 6364136223846793005ULL + 1;
				atomic_store(&mig->ci[i][k],
					     noise & 0xf00000fff0f01ULL);
			}
		}
		atomic_store(&mig->mode, noise | GKF_MIG_CURRENT);
		for (unsigned i = 0; i < 7; i++)
			if (!NV(nvmlDeviceGetMigDeviceHandleByIndex)(
				device_at(0), i, &found))
				NV(nvmlDeviceGetMemoryInfo)(found, &memory);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, front_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_mig_device_is_named_after_its_gpu),
	    T(a_handle_is_good_for_one_life),
	    T(destroying_leaves_a_hole),
	    T(processes_are_in_their_instance),
	    T(memory_is_that_of_the_instance),
	    T(what_is_in_use_stays),
	    T(a_busy_gpu_becomes_split_later),
	    T(a_split_gpu_has_no_utilisation),
	    T(bad_arguments_are_refused),
	    T(who_may_not_changes_nothing),
	    T(old_records_are_not_overrun),
	    T(a_change_is_an_event),
	    T(threads_see_instances_come_and_go),
	    T(garbage_is_no_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
