/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_test.h - a fake machine and the drop-in NVML on it, loaded as by a
 * client.
 */
#ifndef TESTS_NVML_FRONT_H
#define TESTS_NVML_FRONT_H

#include "abi/nvml/nvml_abi.h"
#include "base/str.h"
#include "machine/fixture.h"

#include <dlfcn.h>
#include <signal.h>

/*
 * The driver on which the tests of a file run; the default one unless defined.
 */
#ifndef FRONT_DRIVER
#define FRONT_DRIVER "580.95.05"
#define FRONT        FAKE_DIR "/libnvidia-ml.so.1"
#endif

/* NV(nvmlInit_v2)() calls it with the type from its row. */
#define NV(symbol) ((__typeof__(&symbol))front_symbol(#symbol))

#define assert_nvml(call, result) assert_int_equal((call), NVML_##result)

static void *front_library;

static inline void *front_symbol(const char *name)
{
	void *at = dlsym(front_library, name);

	assert_non_null(at);
	return at;
}

static inline void front_load(void)
{
	front_library = dlopen(FRONT, RTLD_NOW | RTLD_LOCAL);
	if (!front_library)
		fail_msg("%s", dlerror());
}

/* Makes a machine of two A100; NVML is loaded but not initialised. */
static inline int front_setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fixture_open(fx, 2);
	fixture_set_driver(fx, FRONT_DRIVER);
	front_load();
	*state = fx;
	return 0;
}

static inline int front_setup_init(void **state)
{
	front_setup(state);
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	return 0;
}

/* Undoes all initialisations that a test left. */
static inline int front_teardown(void **state)
{
	while (NV(nvmlShutdown)() == NVML_SUCCESS)
		;
	dlclose(front_library);
	fixture_close(*state);
	free(*state);
	return 0;
}

static inline nvmlDevice_t device_at(unsigned index)
{
	nvmlDevice_t device = NULL;

	assert_nvml(NV(nvmlDeviceGetHandleByIndex_v2)(index, &device), SUCCESS);
	return device;
}

/* The utilization of the first GPU in percent. */
static inline unsigned gpu_utilization(void)
{
	nvmlUtilization_t u;

	assert_nvml(NV(nvmlDeviceGetUtilizationRates)(device_at(0), &u),
		    SUCCESS);
	return u.gpu;
}

/* Its PCIe traffic in KB/s. */
static inline unsigned traffic(nvmlPcieUtilCounter_t which)
{
	unsigned kilobytes;

	assert_nvml(
	    NV(nvmlDeviceGetPcieThroughput)(device_at(0), which, &kilobytes),
	    SUCCESS);
	return kilobytes;
}

/* Ends residents in any order. */
static inline void end_resident(struct resident *r)
{
	kill(r->pid, SIGKILL);
	fixture_end(r);
}

#define FRONT_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, front_setup_init, front_teardown)
#define FRONT_TEST_BEFORE_INIT(name)                                           \
	cmocka_unit_test_setup_teardown(name, front_setup, front_teardown)

#endif
