/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_test.c - checks that every function reports a fault: each of nvml.def
 * that concerns a GPU is called with each fault. Also rules that make single
 * functions fail, calls that hang, machines that cannot be initialised.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/asleep.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/store/board.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/rule.h"

#include <pthread.h>

#define MS 1000000ULL

/* ---- every function, called with arguments that it can accept ---- */

static const struct {
	const char *name, *params;
} functions[] = {
#define NVML(symbol, major, minor, core, mig, limit, refused, params)          \
	{#symbol, #params},
#include "abi/nvml/nvml.def"
#undef NVML
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static unsigned row_of(const char *name)
{
	for (unsigned i = 0; i < FUNCTIONS; i++)
		if (!strcmp(functions[i].name, name))
			return i;
	fail_msg("no %s", name);
	return 0;
}

#define ARGUMENTS_MAX 8

/*
 * Integers are 0, pointers lead to zeroes. All are passed as words, as in both
 * calling conventions that we build for.
 */
static nvmlReturn_t call_row(unsigned row, nvmlDevice_t device)
{
	static _Alignas(64) unsigned char room[ARGUMENTS_MAX][65536];
	nvmlReturn_t (*f)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			  uintptr_t, uintptr_t, uintptr_t);
	uintptr_t a[ARGUMENTS_MAX] = {0};
	char params[1024], *rest = params, *param;
	void *at = dlsym(front_library, functions[row].name);

	assert_true(strlen(functions[row].params) < sizeof params);
	strcpy(params, functions[row].params);
	for (unsigned i = 0; (param = strsep(&rest, ",")); i++) {
		assert_in_range(i, 0, ARGUMENTS_MAX - 1);
		memset(room[i], 0, 256);
		if (strchr(param, '*') || strchr(param, '['))
			a[i] = (uintptr_t)room[i];
		else if (strstr(param, "nvmlDevice_t "))
			a[i] = (uintptr_t)device;
	}
	memcpy(&f, &at, sizeof f);
	return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
}

/* It must also exist in this driver. */
static bool is_about_a_gpu(unsigned row)
{
	const char *p = strstr(functions[row].params, "nvmlDevice_t device");

	return p == functions[row].params + 1 &&
	       dlsym(front_library, functions[row].name);
}

/* The results that a fault makes every function return. */
static const struct {
	enum gkf_fault fault;
	uint64_t argument;
	nvmlReturn_t answer, lookup;
} gates[] = {
    {GKF_FAULT_FALLEN, 0, NVML_ERROR_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST},
    {GKF_FAULT_LOST, 0, NVML_ERROR_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST},
    {GKF_FAULT_TIMEOUT, 100, NVML_ERROR_TIMEOUT, NVML_ERROR_TIMEOUT},
    {GKF_FAULT_RESET_REQUIRED, 0, NVML_ERROR_RESET_REQUIRED, NVML_SUCCESS},
    {GKF_FAULT_NO_PERMISSION, 0, NVML_ERROR_NO_PERMISSION,
     NVML_ERROR_NO_PERMISSION},
    {GKF_FAULT_UNKNOWN, 0, NVML_ERROR_UNKNOWN, NVML_ERROR_UNKNOWN},
};
#define GATES (sizeof gates / sizeof *gates)

/* Whether these arguments are refused before the GPU is asked. */
static bool takes_no_zeroes(unsigned row, nvmlDevice_t device)
{
	return call_row(row, device) == NVML_ERROR_INVALID_ARGUMENT;
}

/* A GPU that must be reset still says which one it is. */
static bool tells_identity(const char *function)
{
	static const char *const names[] = {
	    "nvmlDeviceGetBoardId",    "nvmlDeviceGetBrand",
	    "nvmlDeviceGetIndex",      "nvmlDeviceGetMinorNumber",
	    "nvmlDeviceGetName",       "nvmlDeviceGetPciInfo",
	    "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3",
	    "nvmlDeviceGetPciInfoExt", "nvmlDeviceGetSerial",
	    "nvmlDeviceGetUUID",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], function))
			return true;
	return false;
}

static nvmlReturn_t expected_answer(size_t gate, unsigned row,
				    nvmlDevice_t healthy)
{
	return gates[gate].answer == NVML_ERROR_RESET_REQUIRED &&
		       tells_identity(functions[row].name)
		   ? call_row(row, healthy)
		   : gates[gate].answer;
}

static void every_function_tells_of_a_fault(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device = device_at(0), other = device_at(1);

	for (size_t g = 0; g < GATES; g++) {
		unsigned told = 0;

		assert_int_equal(gkf_fault_begin(fx->m, 0, gates[g].fault,
						 gates[g].argument),
				 0);
		for (unsigned row = 0; row < FUNCTIONS; row++) {
			nvmlReturn_t r, expected;

			if (!is_about_a_gpu(row))
				continue;
			expected = expected_answer(g, row, other);
			r = call_row(row, device);
			told += r == expected;
			if (r != expected &&
			    (r != NVML_ERROR_INVALID_ARGUMENT ||
			     !takes_no_zeroes(row, other)))
				fail_msg("%s answers %d where %s says %d",
					 functions[row].name, (int)r,
					 gkf_faults[gates[g].fault].name,
					 (int)expected);
		}
		assert_in_range(told, 260, FUNCTIONS);
		gkf_fault_end(fx->m, 0, ~0ULL);
	}
}

/* Calls about two GPUs, whichever of them is broken. */
static void pairs_tell_of_a_fault(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device = device_at(0), other = device_at(1);
	nvmlGpuTopologyLevel_t level;
	nvmlGpuP2PStatus_t status;
	int same;

	for (size_t g = 0; g < GATES; g++) {
		gkf_fault_begin(fx->m, 0, gates[g].fault, gates[g].argument);
		assert_int_equal(NV(nvmlDeviceGetTopologyCommonAncestor)(
				     other, device, &level),
				 gates[g].answer);
		assert_int_equal(NV(nvmlDeviceGetTopologyCommonAncestor)(
				     device, other, &level),
				 gates[g].answer);
		assert_int_equal(
		    NV(nvmlDeviceOnSameBoard)(other, device, &same),
		    gates[g].answer);
		assert_int_equal(
		    NV(nvmlDeviceGetP2PStatus)(other, device, 0, &status),
		    gates[g].answer);
		gkf_fault_end(fx->m, 0, ~0ULL);
	}
}

static void handles_tell_of_a_fault(void **state)
{
	struct fixture *fx = *state;
	const struct gkf_board *board = gkf_board(fx->m, 0);
	char pci[32];
	nvmlDevice_t device;

	snprintf(pci, sizeof pci, "%08X:%02X:%02X.0", board->pci_domain,
		 board->pci_bus, board->pci_device);
	for (size_t g = 0; g < GATES; g++) {
		nvmlReturn_t by_pci = gates[g].fault == GKF_FAULT_FALLEN
					  ? NVML_ERROR_NOT_FOUND
					  : gates[g].lookup;

		gkf_fault_begin(fx->m, 0, gates[g].fault, gates[g].argument);
		assert_int_equal(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device),
				 gates[g].lookup);
		assert_int_equal(
		    NV(nvmlDeviceGetHandleByUUID)(board->uuid, &device),
		    gates[g].lookup);
		assert_int_equal(
		    NV(nvmlDeviceGetHandleByPciBusId_v2)(pci, &device), by_pci);
		assert_nvml(NV(nvmlDeviceGetHandleByIndex_v2)(1, &device),
			    SUCCESS);
		gkf_fault_end(fx->m, 0, ~0ULL);
		assert_nvml(NV(nvmlDeviceGetHandleByPciBusId_v2)(pci, &device),
			    SUCCESS);
	}
}

static nvmlReturn_t power_of(nvmlDevice_t device)
{
	unsigned power;

	return NV(nvmlDeviceGetPowerUsage)(device, &power);
}

/* ---- hanging ---- */

struct caller {
	nvmlDevice_t device;
	pthread_t thread;
	_Atomic bool done;
	nvmlReturn_t answer;
};

static void *call_power(void *arg)
{
	struct caller *c = arg;

	c->answer = power_of(c->device);
	atomic_store(&c->done, true);
	return NULL;
}

static void a_call_hangs_until_the_fault_is_cleared(void **state)
{
	struct fixture *fx = *state;
	struct caller c = {.device = device_at(0)};

	gkf_fault_begin(fx->m, 0, GKF_FAULT_HANG, 0);
	pthread_create(&c.thread, NULL, call_power, &c);
	await_others_asleep();
	assert_false(atomic_load(&c.done));
	assert_nvml(power_of(device_at(1)), SUCCESS); /* others go on */
	gkf_xid(fx->m, 0, 31); /* wakes it, and it sleeps again */
	await_others_asleep();
	assert_false(atomic_load(&c.done));
	gkf_fault_end(fx->m, 0, GKF_FAULT_BIT(GKF_FAULT_HANG));
	pthread_join(c.thread, NULL);
	assert_int_equal(c.answer, NVML_SUCCESS);
}

static void a_process_that_hangs_can_be_ended(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device = device_at(0);
	int status;
	pid_t pid;

	gkf_fault_begin(fx->m, 0, GKF_FAULT_HANG, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(power_of(device) ? 1 : 0);
	usleep(50000);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	gkf_fault_end(fx->m, 0, ~0ULL);
}

static void a_late_answer_is_a_timeout(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device = device_at(0);
	uint64_t began;

	gkf_fault_begin(fx->m, 0, GKF_FAULT_TIMEOUT, 200 * MS);
	began = gk_mono_ns();
	assert_nvml(power_of(device), ERROR_TIMEOUT);
	assert_in_range(gk_mono_ns() - began, 200 * MS, 20000 * MS);
}

/* ---- rules ---- */

static struct gkf_rule_spec rule(const char *function, int answer)
{
	return (struct gkf_rule_spec){.gpus = ~0ULL,
				      .function = row_of(function),
				      .answer = answer,
				      .per_million = 1000000};
}

static void a_rule_fails_its_function_alone(void **state)
{
	struct fixture *fx = *state;
	struct gkf_rule_spec r =
	    rule("nvmlDeviceGetPowerUsage", NVML_ERROR_UNKNOWN);
	unsigned number;

	r.gpus = 2;
	assert_int_equal(gkf_rule_add(fx->m, &r), 0);
	assert_nvml(power_of(device_at(0)), SUCCESS);
	assert_nvml(power_of(device_at(1)), ERROR_UNKNOWN);
	assert_nvml(NV(nvmlDeviceGetTemperature)(device_at(1), 0, &number),
		    SUCCESS);
	gkf_rules_drop(fx->m, -1, ~0ULL);
	assert_nvml(power_of(device_at(1)), SUCCESS);
}

/* Also functions that need neither a GPU nor an initialised NVML. */
static void a_rule_fails_functions_of_the_system(void **state)
{
	struct fixture *fx = *state;
	struct gkf_rule_spec r =
	    rule("nvmlSystemGetCudaDriverVersion_v2", NVML_ERROR_UNKNOWN);
	struct gkf_rule_spec end = rule("nvmlShutdown", NVML_ERROR_TIMEOUT);
	unsigned count;
	int version = 7;

	assert_int_equal(gkf_rule_add(fx->m, &r), 0);
	assert_int_equal(gkf_rule_add(fx->m, &end), 0);
	assert_nvml(NV(nvmlSystemGetCudaDriverVersion_v2)(&version),
		    ERROR_UNKNOWN);
	assert_int_equal(version, 7);
	assert_nvml(NV(nvmlSystemGetCudaDriverVersion)(&version), SUCCESS);
	assert_nvml(NV(nvmlShutdown)(), ERROR_TIMEOUT);
	assert_nvml(NV(nvmlDeviceGetCount_v2)(&count), SUCCESS);
	gkf_rules_drop(fx->m, -1, ~0ULL);
	assert_nvml(NV(nvmlShutdown)(), SUCCESS);
	assert_nvml(NV(nvmlShutdown)(), ERROR_UNINITIALIZED);
}

static void a_rule_counts_calls(void **state)
{
	struct fixture *fx = *state;
	struct gkf_rule_spec r =
	    rule("nvmlDeviceGetPowerUsage", NVML_ERROR_UNKNOWN);
	nvmlDevice_t device = device_at(0);

	r.after = 3;
	r.times = 2;
	gkf_rule_add(fx->m, &r);
	for (int i = 0; i < 8; i++)
		assert_int_equal(power_of(device), i == 3 || i == 4
						       ? NVML_ERROR_UNKNOWN
						       : NVML_SUCCESS);
}

/* Which of 64 calls fail, as bits. */
static uint64_t pattern(struct fixture *fx, uint64_t seed, unsigned millionths)
{
	struct gkf_rule_spec r =
	    rule("nvmlDeviceGetPowerUsage", NVML_ERROR_UNKNOWN);
	nvmlDevice_t device = device_at(0);
	uint64_t bits = 0;

	r.seed = seed;
	r.per_million = millionths;
	gkf_rule_add(fx->m, &r);
	for (int i = 0; i < 64; i++)
		bits |= (uint64_t)(power_of(device) != NVML_SUCCESS) << i;
	return bits;
}

static void chance_is_the_seed_s(void **state)
{
	struct fixture *fx = *state;
	uint64_t one = pattern(fx, 1, 250000);

	assert_in_range(__builtin_popcountll(one), 6, 30);
	assert_true(pattern(fx, 2, 250000) != one);
	assert_true(pattern(fx, 1, 250000) == one);
	assert_true(pattern(fx, 1, 0) == 0);
	assert_true(pattern(fx, 1, 1000000) == ~0ULL);
}

static void a_rule_hangs_until_it_is_dropped(void **state)
{
	struct fixture *fx = *state;
	struct gkf_rule_spec r =
	    rule("nvmlDeviceGetPowerUsage", GKF_RULE_HANGS);
	struct caller c = {.device = device_at(0)};

	gkf_rule_add(fx->m, &r);
	pthread_create(&c.thread, NULL, call_power, &c);
	await_others_asleep();
	assert_false(atomic_load(&c.done));
	gkf_rules_drop(fx->m, (int)r.function, 1);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.answer, NVML_SUCCESS);
}

/* No place is left over, and none is used twice. */
static void rules_are_not_used_up(void **state)
{
	struct fixture *fx = *state;
	struct gkf_rule_spec r = rule("nvmlDeviceGetName", NVML_ERROR_UNKNOWN);

	for (int i = 0; i < 1000; i++)
		assert_int_equal(gkf_rule_add(fx->m, &r), 0);
	for (unsigned i = 0; i < GKF_RULES_MAX - 1; i++) {
		r.function = i;
		assert_int_equal(gkf_rule_add(fx->m, &r), 0);
	}
	r.function = GKF_RULES_MAX + 1;
	assert_true(gkf_rule_add(fx->m, &r) != 0);
	assert_int_equal(gkf_rules_drop(fx->m, -1, ~0ULL), 0);
	assert_int_equal(gkf_rule_add(fx->m, &r), 0);
}

/* ---- the whole machine ---- */

static void a_machine_that_cannot_be_initialised(void **state)
{
	static const struct {
		enum gkf_machine_fault fault;
		nvmlReturn_t answer;
	} faults[] = {
	    {GKF_MACHINE_FAULT_DRIVER_MISMATCH,
	     NVML_ERROR_LIB_RM_VERSION_MISMATCH},
	    {GKF_MACHINE_FAULT_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED},
	    {GKF_MACHINE_FAULT_INIT_NO_PERMISSION, NVML_ERROR_NO_PERMISSION},
	    {GKF_MACHINE_FAULT_INIT_UNKNOWN, NVML_ERROR_UNKNOWN},
	};
	struct fixture *fx = *state;
	unsigned count;

	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		gkf_machine_fault_set(fx->m, faults[i].fault, true);
		assert_int_equal(NV(nvmlInit_v2)(), faults[i].answer);
		assert_int_equal(NV(nvmlInit)(), faults[i].answer);
		assert_int_equal(NV(nvmlInitWithFlags)(0), faults[i].answer);
		assert_nvml(NV(nvmlDeviceGetCount_v2)(&count),
			    ERROR_UNINITIALIZED);
		gkf_machine_fault_set(fx->m, faults[i].fault, false);
		assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
		assert_nvml(NV(nvmlShutdown)(), SUCCESS);
	}
}

static void a_machine_whose_gpus_cannot_be_attached(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device;
	unsigned count;

	gkf_machine_fault_set(fx->m, GKF_MACHINE_FAULT_IRQ_ISSUE, true);
	assert_nvml(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device),
		    ERROR_IRQ_ISSUE);
	assert_nvml(NV(nvmlDeviceGetCount_v2)(&count), SUCCESS);
	gkf_machine_fault_set(fx->m, GKF_MACHINE_FAULT_IRQ_ISSUE, false);
	gkf_machine_fault_set(fx->m, GKF_MACHINE_FAULT_INSUFFICIENT_POWER,
			      true);
	assert_nvml(NV(nvmlDeviceGetHandleByIndex_v2)(1, &device),
		    ERROR_INSUFFICIENT_POWER);
}

static void a_failed_init_leaves_nothing_behind(void **state)
{
	struct fixture *fx = *state;
	struct gkf_rule_spec r = rule("nvmlInit_v2", NVML_ERROR_TIMEOUT);
	unsigned count;

	gkf_rule_add(fx->m, &r);
	assert_nvml(NV(nvmlInit_v2)(), ERROR_TIMEOUT);
	assert_nvml(NV(nvmlDeviceGetCount_v2)(&count), ERROR_UNINITIALIZED);
	assert_nvml(NV(nvmlShutdown)(), ERROR_UNINITIALIZED);
}

/* ---- overwritten faults ---- */

static void overwritten_faults_hurt_nobody(void **state)
{
	struct fixture *fx = *state;
	struct gkf_device *dev = &fx->file->device[0];
	nvmlDevice_t device = device_at(0);

	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		atomic_store(&dev->fault.argument[i], ~0ULL);
	atomic_store(&dev->fault.active, ~(GKF_FAULT_BIT(GKF_FAULT_HANG) |
					   GKF_FAULT_BIT(GKF_FAULT_TIMEOUT)));
	memset((void *)&fx->file->rules, 0xff, sizeof fx->file->rules);
	memset((void *)&fx->file->refusals, 0xff, sizeof fx->file->refusals);
	for (unsigned row = 0; row < FUNCTIONS; row++)
		if (is_about_a_gpu(row))
			call_row(row, device);
	atomic_store(&dev->fault.active, 0);
	assert_nvml(power_of(device), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(every_function_tells_of_a_fault),
	    FRONT_TEST(pairs_tell_of_a_fault),
	    FRONT_TEST(handles_tell_of_a_fault),
	    FRONT_TEST(a_call_hangs_until_the_fault_is_cleared),
	    FRONT_TEST(a_process_that_hangs_can_be_ended),
	    FRONT_TEST(a_late_answer_is_a_timeout),
	    FRONT_TEST(a_rule_fails_its_function_alone),
	    FRONT_TEST(a_rule_fails_functions_of_the_system),
	    FRONT_TEST(a_rule_counts_calls),
	    FRONT_TEST(chance_is_the_seed_s),
	    FRONT_TEST(a_rule_hangs_until_it_is_dropped),
	    FRONT_TEST(rules_are_not_used_up),
	    FRONT_TEST_BEFORE_INIT(a_machine_that_cannot_be_initialised),
	    FRONT_TEST(a_machine_whose_gpus_cannot_be_attached),
	    FRONT_TEST_BEFORE_INIT(a_failed_init_leaves_nothing_behind),
	    FRONT_TEST(overwritten_faults_hurt_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
