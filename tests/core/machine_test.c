/* SPDX-License-Identifier: Apache-2.0 */
/* machine_test.c - checks that libgpukit reports what the fake machine says. */
#include "abi/nvml/nvml_abi.h"
#include "base/array.h"
#include "base/clock.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/process/ledger.h"
#include "machine/trouble/fault.h"

#include <gpukit/gpukit.h>

#include <dlfcn.h>

#define FRONT FAKE_DIR "/libnvidia-ml.so.1"

static struct fixture fx;
static struct gk *gk;
static struct gk_snapshot *snap;

static int setup(void **state)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;

	(void)state;
	fixture_open(&fx, 3);
	options.nvml_path = FRONT;
	assert_int_equal(gk_open(&options, NULL, &gk), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_snapshot_free(snap);
	snap = NULL;
	assert_int_equal(gk_close(gk), 0);
	fixture_close(&fx);
	return 0;
}

static const struct gk_snapshot *take(void)
{
	gk_snapshot_free(snap);
	snap = NULL;
	assert_int_equal(gk_snapshot_take(gk, &snap), 0);
	return snap;
}

/* Values that can be set, and their metrics in libgpukit, in base units. */
static const struct {
	enum gkf_value value;
	enum gk_metric metric;
	int64_t to, scale;
} settable[] = {
    {GKF_V_GPU_UTIL, GK_M_GPU_UTIL, 43, 1},
    {GKF_V_MEM_UTIL, GK_M_MEM_UTIL, 12, 1},
    {GKF_V_ENC_UTIL, GK_M_ENC_UTIL, 13, 1},
    {GKF_V_DEC_UTIL, GK_M_DEC_UTIL, 14, 1},
    {GKF_V_TEMPERATURE, GK_M_TEMP, 77, 1},
    {GKF_V_POWER, GK_M_POWER, 123456, 1},
    {GKF_V_SM_CLOCK, GK_M_SM_CLOCK, 1111, 1000000},
    {GKF_V_MEM_CLOCK, GK_M_MEM_CLOCK, 1212, 1000000},
    {GKF_V_VIDEO_CLOCK, GK_M_VIDEO_CLOCK, 1313, 1000000},
    {GKF_V_PSTATE, GK_M_PSTATE, 3, 1},
    {GKF_V_THROTTLE, GK_M_THROTTLE, 0x24, 1},
    {GKF_V_ENERGY, GK_M_ENERGY, 987654321, 1},
    {GKF_V_PERSISTENCE, GK_M_PERSISTENCE, 0, 1},
    {GKF_V_COMPUTE_MODE, GK_M_COMPUTE_MODE, 3, 1},
    {GKF_V_ECC_CORRECTED, GK_M_ECC_CORRECTED, 21, 1},
    {GKF_V_ECC_UNCORRECTED, GK_M_ECC_UNCORRECTED, 22, 1},
    {GKF_V_PCIE_GEN, GK_M_PCIE_GEN, 2, 1},
    {GKF_V_PCIE_WIDTH, GK_M_PCIE_WIDTH, 8, 1},
    {GKF_V_BAR1_USED, GK_M_BAR1_USED, 4096, 1},
};

static void a_value_that_is_set_is_in_the_next_snapshot(void **state)
{
	(void)state;
	take();
	for (size_t i = 0; i < COUNT(settable); i++) {
		const struct gk_value *v;

		assert_int_equal(
		    gkf_value_set(fx.m, 1, settable[i].value, settable[i].to),
		    0);
		v = &take()->devices[1].m[settable[i].metric];
		if (v->why || v->v != settable[i].to * settable[i].scale)
			fail_msg("%s: %d, %ld",
				 gk_metrics[settable[i].metric].name,
				 (int)v->why, (long)v->v);
	}
}

/* Calls the drop-in library directly, as its clients do. */
static void ask(const char *function, unsigned index, void *to, unsigned cap)
{
	void *library = dlopen(FRONT, RTLD_NOW | RTLD_LOCAL);
	nvmlReturn_t (*handle)(unsigned, nvmlDevice_t *);
	nvmlReturn_t (*get)(nvmlDevice_t, void *, unsigned);
	nvmlDevice_t device;

	assert_non_null(library);
	*(void **)&handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&get = dlsym(library, function);
	assert_int_equal(handle(index, &device), NVML_SUCCESS);
	assert_int_equal(get(device, to, cap), NVML_SUCCESS);
	dlclose(library);
}

static void identity_and_memory_are_those_of_the_machine(void **state)
{
	(void)state;
	take();
	assert_int_equal(snap->device_count, 3);
	assert_string_equal(snap->driver_version, fx.file->driver_version);
	assert_string_equal(snap->nvml_version, fx.file->nvml_version);
	assert_int_equal(snap->cuda_version, fx.file->cuda_version);
	for (unsigned i = 0; i < 3; i++) {
		const struct gk_device *dev = &snap->devices[i];
		struct gkf_memory memory;
		char text[96];

		gkf_memory(fx.m, i, &memory);
		ask("nvmlDeviceGetUUID", i, text, sizeof text);
		assert_string_equal(dev->uuid, text);
		ask("nvmlDeviceGetName", i, text, sizeof text);
		assert_string_equal(dev->name, text);
		ask("nvmlDeviceGetSerial", i, text, sizeof text);
		assert_string_equal(dev->serial, text);
		assert_int_equal(dev->m[GK_M_MEM_TOTAL].v, memory.total);
		assert_int_equal(dev->m[GK_M_MEM_USED].v, memory.used);
		assert_int_equal(dev->m[GK_M_MEM_FREE].v, memory.free);
		assert_int_equal(dev->m[GK_M_MEM_RESERVED].v, memory.reserved);
		assert_int_equal(dev->health, GK_HEALTH_OK);
	}
}

/* Nothing that the default GPU has is absent, and reasons are correct. */
static void absent_values_are_those_the_model_lacks(void **state)
{
	(void)state;
	take();
	for (int m = 0; m < GK_M_COUNT; m++) {
		enum gk_absence why = snap->devices[0].m[m].why;

		if (why && why != GK_ABSENT_NOT_SUPPORTED &&
		    gk_metrics[m].tier <= GK_TIER_SLOW)
			fail_msg("%s: %s", gk_metrics[m].name,
				 gk_absence_text(why));
	}
	/* A passive board has no fan, but all the rest. */
	assert_int_equal(snap->devices[0].m[GK_M_FAN].why,
			 GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(snap->devices[0].m[GK_M_POWER].why, GK_PRESENT);
	assert_int_equal(snap->devices[0].m[GK_M_ECC_MODE].why, GK_PRESENT);
}

static const struct gk_process *find(pid_t pid, unsigned device)
{
	for (size_t i = 0; i < snap->process_count; i++)
		if (snap->processes[i].pid == pid &&
		    snap->processes[i].device == device)
			return &snap->processes[i];
	return NULL;
}

static void children_are_joined_with_what_proc_says(void **state)
{
	struct resident a =
	    fixture_resident(&fx, 0, GKF_COMPUTE, 3 * GIB, NULL);
	struct resident b =
	    fixture_resident(&fx, 2, GKF_COMPUTE | GKF_GRAPHICS, GIB, NULL);
	const struct gk_process *p;

	(void)state;
	take();
	assert_int_equal(snap->process_count, 2);
	p = find(a.pid, 0);
	assert_non_null(p);
	assert_int_equal(p->m[GK_PM_GPU_MEM].v, 3 * GIB);
	assert_int_equal(p->types, GK_PROCESS_COMPUTE);
	assert_int_equal(p->parent, getpid());
	assert_int_equal(p->uid, getuid());
	assert_int_equal(p->state, GK_PROCESS_RUNNING);
	assert_non_null(strstr(p->command, "test-core-machine"));
	assert_true(p->m[GK_PM_RSS].v > 0);
	assert_true(p->m[GK_PM_RUN_TIME].v < (int64_t)(100 * GK_NS_PER_S));
	p = find(b.pid, 2);
	assert_non_null(p);
	assert_int_equal(p->types, GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS);
	assert_int_equal(p->m[GK_PM_GPU_MEM].v, GIB);
	fixture_end(&a);
	gkf_reap(fx.m, true);
	take();
	assert_null(find(a.pid, 0));
	assert_non_null(find(b.pid, 2));
	assert_int_equal(take()->process_count, 1);
	fixture_end(&b);
}

static void a_lost_gpu_is_lost_until_it_is_mended(void **state)
{
	struct resident r = fixture_resident(&fx, 1, GKF_COMPUTE, GIB, NULL);
	char uuid[96];

	(void)state;
	take();
	strcpy(uuid, snap->devices[1].uuid);
	assert_int_equal(gkf_fault_begin(fx.m, 1, GKF_FAULT_LOST, 0), 0);
	for (int i = 0; i < 2; i++) {
		take();
		assert_int_equal(snap->device_count, 3);
		assert_int_equal(snap->devices[1].health, GK_HEALTH_LOST);
		assert_int_equal(snap->devices[1].m[GK_M_TEMP].why,
				 GK_ABSENT_LOST);
		assert_string_equal(snap->devices[1].uuid, uuid);
		assert_int_equal(snap->devices[2].health, GK_HEALTH_OK);
		assert_int_equal(snap->process_count, 0);
	}
	assert_int_equal(gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_LOST)),
			 0);
	take();
	assert_int_equal(snap->devices[1].health, GK_HEALTH_OK);
	assert_int_equal(snap->devices[1].m[GK_M_TEMP].why, GK_PRESENT);
	assert_int_equal(snap->process_count, 1);
	fixture_end(&r);
}

static void watching_sees_a_change(void **state)
{
	int64_t seen = 0;

	(void)state;
	assert_int_equal(gk_watch_start(gk, 10 * GK_NS_PER_MS), 0);
	gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 66);
	for (int i = 0; i < 500 && seen != 66; i++) {
		gk_snapshot_free(snap);
		assert_int_equal(gk_watch_next(gk, &snap), 0);
		seen = snap->devices[0].m[GK_M_TEMP].v;
	}
	assert_int_equal(seen, 66);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(a_value_that_is_set_is_in_the_next_snapshot),
	    T(identity_and_memory_are_those_of_the_machine),
	    T(absent_values_are_those_the_model_lacks),
	    T(children_are_joined_with_what_proc_says),
	    T(a_lost_gpu_is_lost_until_it_is_mended),
	    T(watching_sees_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
