/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_test.c - checks event sets: their handles, sleeping and waking, the
 * events of a GPU that changes or breaks, and the driver's release of one.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/asleep.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/model/ecc.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"
#include "machine/store/scenario_table.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/reset.h"

#include <pthread.h>
#include <sys/resource.h>

#define MS 1000000ULL

static nvmlEventSet_t new_set(void)
{
	nvmlEventSet_t set = NULL;

	assert_nvml(NV(nvmlEventSetCreate)(&set), SUCCESS);
	return set;
}

static nvmlReturn_t wait_ms(nvmlEventSet_t set, nvmlEventData_t *data,
			    unsigned ms)
{
	return NV(nvmlEventSetWait_v2)(set, data, ms);
}

static nvmlReturn_t register_for(unsigned device, unsigned long long types,
				 nvmlEventSet_t set)
{
	return NV(nvmlDeviceRegisterEvents)(device_at(device), types, set);
}

static nvmlEventSet_t set_for(unsigned device, unsigned long long types)
{
	nvmlEventSet_t set = new_set();

	assert_nvml(register_for(device, types, set), SUCCESS);
	return set;
}

/* Checks that the next event is this one. */
static void expect_event(nvmlEventSet_t set, unsigned long long type,
			 unsigned long long number)
{
	nvmlEventData_t data;

	assert_nvml(wait_ms(set, &data, 5000), SUCCESS);
	assert_int_equal(data.eventType, type);
	assert_int_equal(data.eventData, number);
	assert_int_equal(data.gpuInstanceId, 0xffffffff);
}

static void expect_xid(nvmlEventSet_t set, unsigned number)
{
	expect_event(set, nvmlEventTypeXidCriticalError, number);
}

static void expect_nothing(nvmlEventSet_t set)
{
	nvmlEventData_t data;

	assert_nvml(wait_ms(set, &data, 30), ERROR_TIMEOUT);
}

static long sleeps_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

struct waiting {
	nvmlEventSet_t set;
	nvmlReturn_t answer;
	uint64_t took_ns;
	long sleeps;
};

static void *wait_a_second(void *arg)
{
	struct waiting *w = arg;
	uint64_t began = gk_mono_ns();
	nvmlEventData_t data;

	w->sleeps = sleeps_so_far();
	w->answer = wait_ms(w->set, &data, 1000);
	w->sleeps = sleeps_so_far() - w->sleeps;
	w->took_ns = gk_mono_ns() - began;
	return NULL;
}

static void wait_sleeps_until_its_end(void **state)
{
	struct waiting w = {.set = set_for(0, nvmlEventTypeXidCriticalError)};
	nvmlEventData_t data;
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, wait_a_second, &w);
	await_others_asleep();
	pthread_join(thread, NULL);
	assert_nvml(w.answer, ERROR_TIMEOUT);
	assert_in_range(w.took_ns, 1000 * MS, 20000 * MS);
	assert_in_range(w.sleeps, 1, 3);
	assert_nvml(wait_ms(w.set, &data, 0), ERROR_TIMEOUT);
}

/* A waiter for clocks looks once a bin, no more often. */
static void the_model_wakes_a_wait_once_a_bin(void **state)
{
	nvmlEventSet_t set = set_for(0, nvmlEventTypePState);
	nvmlEventData_t data;
	long sleeps = sleeps_so_far();

	(void)state;
	assert_nvml(wait_ms(set, &data, 1000), ERROR_TIMEOUT);
	assert_in_range(sleeps_so_far() - sleeps, 4, 30);
}

static void lost_gpu_tells_its_xid_once(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device = device_at(1);
	nvmlEventSet_t set = set_for(1, nvmlEventTypeXidCriticalError);
	nvmlEventData_t data;

	gkf_fault_begin(fx->m, 0, GKF_FAULT_LOST, 0); /* not watched */
	expect_nothing(set);
	gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0);
	assert_nvml(wait_ms(set, &data, 2000), SUCCESS);
	assert_ptr_equal(data.device, device);
	assert_int_equal(data.eventType, nvmlEventTypeXidCriticalError);
	assert_int_equal(data.eventData, 79);
	assert_nvml(wait_ms(set, &data, 50), ERROR_GPU_IS_LOST);
	gkf_fault_end(fx->m, 1, GKF_FAULT_BIT(GKF_FAULT_LOST));
	expect_nothing(set);
	gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0);
	expect_xid(set, 79);
}

static void what_was_before_is_not_told(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = new_set();

	gkf_xid(fx->m, 0, 13);
	assert_nvml(register_for(0, nvmlEventTypeXidCriticalError, set),
		    SUCCESS);
	gkf_xid(fx->m, 1, 31);
	assert_nvml(register_for(1, nvmlEventTypeXidCriticalError, set),
		    SUCCESS);
	expect_nothing(set);
	gkf_xid(fx->m, 1, 43);
	gkf_xid(fx->m, 0, 45);
	/* Registering again loses nothing. */
	assert_nvml(register_for(0, nvmlEventTypeXidCriticalError, set),
		    SUCCESS);
	expect_xid(set, 43);
	expect_xid(set, 45);
	expect_nothing(set);
}

static void each_set_hears_it(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t one = set_for(0, nvmlEventTypeXidCriticalError);
	nvmlEventSet_t other = set_for(0, nvmlEventTypeXidCriticalError);

	gkf_xid(fx->m, 0, 31);
	expect_xid(one, 31);
	expect_xid(other, 31);
	expect_nothing(one);
	expect_nothing(other);
}

/* With more events than the ring holds, the last ones are returned. */
static void a_slow_reader_hears_the_last(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = set_for(0, nvmlEventTypeXidCriticalError);
	nvmlEventData_t data;
	unsigned told = 0;

	for (int i = 0; i < GKF_EVENTS_MAX + 100; i++)
		gkf_xid(fx->m, 0, i % 2 ? 13 : 31);
	gkf_xid(fx->m, 0, 45);
	while (wait_ms(set, &data, 0) == NVML_SUCCESS)
		told++;
	assert_in_range(told, GKF_EVENTS_MAX - 1, GKF_EVENTS_MAX);
	assert_int_equal(data.eventData, 45);
}

static void memory_errors_are_told_by_kind(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = set_for(0, nvmlEventTypeDoubleBitEccError |
					    nvmlEventTypeDramRetirementEvent |
					    nvmlEventTypeGpuRecoveryAction);
	nvmlEventSet_t xids = set_for(0, nvmlEventTypeXidCriticalError);

	assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_ECC, 2), 0);
	expect_event(set, nvmlEventTypeDoubleBitEccError, 0);
	expect_event(set, nvmlEventTypeGpuRecoveryAction, 0);
	expect_event(set, nvmlEventTypeDramRetirementEvent, 0);
	expect_xid(xids, 48);
	expect_xid(xids, 63);
	gkf_fault_end(fx->m, 0, ~0ULL);
	expect_event(set, nvmlEventTypeGpuRecoveryAction, 0);
	assert_int_equal(gkf_ecc_error(fx->m, 0, GKF_ECC_PARITY, GKF_ECC_L2, 1),
			 0);
	expect_event(set, nvmlEventTypeDoubleBitEccError, 0);
	assert_int_equal(
	    gkf_ecc_error(fx->m, 0, GKF_ECC_SECDED, GKF_ECC_DRAM, 1), 0);
	expect_event(set, nvmlEventTypeDoubleBitEccError, 0);
	expect_event(set, nvmlEventTypeGpuRecoveryAction, 0);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	expect_event(set, nvmlEventTypeGpuRecoveryAction, 0);
	assert_int_equal(
	    gkf_ecc_error(fx->m, 0, GKF_ECC_CORRECTED, GKF_ECC_L2, 1), 0);
	expect_nothing(set);
	expect_nothing(xids);
}

/* Only the waiter reads the machine meanwhile. */
static void the_model_tells_of_clocks(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = set_for(0, nvmlEventTypeClock);

	expect_nothing(set);
	gkf_value_set(fx->m, 0, GKF_V_GPU_UTIL, 100);
	expect_event(set, nvmlEventTypeClock, 0);
}

static void a_value_that_is_set_is_told(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set =
	    set_for(0, nvmlEventTypePState | nvmlEventTypePowerSourceChange |
			   nvmlEventTypeSingleBitEccError);

	gkf_value_set(fx->m, 0, GKF_V_PSTATE, 8);
	expect_event(set, nvmlEventTypePState, 0);
	gkf_value_set(fx->m, 0, GKF_V_PSTATE, 8); /* as it was */
	expect_nothing(set);
	gkf_value_set(fx->m, 0, GKF_V_POWER_SOURCE, 1);
	expect_event(set, nvmlEventTypePowerSourceChange, 0);
	gkf_value_set(fx->m, 0, GKF_V_ECC_CORRECTED, 3);
	expect_event(set, nvmlEventTypeSingleBitEccError, 0);
}

static void bad_sets(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = new_set();
	nvmlEventData_t data;
	unsigned long long types;

	assert_nvml(wait_ms((nvmlEventSet_t)((char *)set + 1), &data, 0),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(wait_ms((nvmlEventSet_t)&data, &data, 0),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(wait_ms(set, NULL, 0), ERROR_INVALID_ARGUMENT);
	assert_nvml(register_for(0, 1ULL << 40, set), ERROR_INVALID_ARGUMENT);
	gkf_value_set(fx->m, 0, GKF_V_ECC_MODE, 0);
	assert_nvml(NV(nvmlDeviceGetSupportedEventTypes)(device_at(0), &types),
		    SUCCESS);
	assert_int_equal(types & nvmlEventTypeSingleBitEccError, 0);
	assert_nvml(register_for(0, nvmlEventTypeSingleBitEccError, set),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlEventSetFree)(set), SUCCESS);
	assert_nvml(NV(nvmlEventSetFree)(set), ERROR_INVALID_ARGUMENT);
	assert_nvml(wait_ms(set, &data, 0), ERROR_INVALID_ARGUMENT);
}

/* Far more than fit at once: freed ones are reused. */
static void sets_are_not_used_up(void **state)
{
	nvmlEventSet_t set;
	nvmlReturn_t r;
	int n = 0;

	(void)state;
	for (int i = 0; i < 5000; i++)
		assert_nvml(NV(nvmlEventSetFree)(new_set()), SUCCESS);
	while ((r = NV(nvmlEventSetCreate)(&set)) == NVML_SUCCESS)
		n++;
	assert_nvml(r, ERROR_INSUFFICIENT_RESOURCES);
	assert_in_range(n, 64, 100000);
	NV(nvmlShutdown)();
	NV(nvmlInit_v2)();
	new_set();
}

/* An action while another thread waits, and its time. */
struct later {
	void (*act)(struct later *l);
	struct fixture *fx;
	nvmlEventSet_t set;
	uint64_t done_ns;
	pthread_t thread;
};

static void *act_later(void *arg)
{
	struct later *l = arg;

	usleep(100000);
	l->done_ns = gk_mono_ns();
	l->act(l);
	return NULL;
}

static void shut_down(struct later *l)
{
	(void)l;
	NV(nvmlShutdown)();
}

static void free_set(struct later *l)
{
	NV(nvmlEventSetFree)(l->set);
}

static void push_xid(struct later *l)
{
	gkf_xid(l->fx->m, 0, 31);
}

static void step_clock(struct later *l)
{
	gkf_machine_age(l->fx->m, 1000 * MS);
}

/* Waits without a limit during the action; the wait must end soon after it. */
static void woken_by(struct fixture *fx, void (*act)(struct later *),
		     nvmlEventSet_t set, nvmlReturn_t expected)
{
	struct later l = {.act = act, .fx = fx, .set = set};
	nvmlEventData_t data;
	uint64_t woke;

	pthread_create(&l.thread, NULL, act_later, &l);
	assert_int_equal(wait_ms(set, &data, 0xffffffffu), expected);
	woke = gk_mono_ns();
	pthread_join(l.thread, NULL);
	assert_in_range(woke - l.done_ns, 0, 10000 * MS);
}

static void everything_wakes_a_wait_at_once(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = set_for(0, nvmlEventTypeXidCriticalError);

	woken_by(fx, push_xid, set, NVML_SUCCESS);
	woken_by(fx, free_set, set, NVML_ERROR_INVALID_ARGUMENT);
	woken_by(fx, shut_down, new_set(), NVML_ERROR_UNINITIALIZED);
}

/* A stopped clock wakes nobody; stepping it does. */
static void a_step_of_the_clock_wakes_a_wait(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = set_for(0, nvmlEventTypeClock);

	assert_int_equal(gkf_clock_speed(fx->m, 0), 0);
	gkf_value_set(fx->m, 0, GKF_V_GPU_UTIL, 100);
	expect_nothing(set);
	woken_by(fx, step_clock, set, NVML_SUCCESS);
}

static void driver_lets_go(struct fixture *fx, int64_t removed)
{
	assert_int_equal(gkf_value_set(fx->m, 1, GKF_V_REMOVED, removed), 0);
}

static void system_events(void **state)
{
	struct fixture *fx = *state;
	nvmlSystemEventSetCreateRequest_t create = {
	    .version = nvmlSystemEventSetCreateRequest_v1};
	nvmlSystemRegisterEventRequest_t registration = {
	    .version = nvmlSystemRegisterEventRequest_v1,
	    .eventTypes = nvmlSystemEventTypeGpuDriverUnbind |
			  nvmlSystemEventTypeGpuDriverBind,
	};
	nvmlSystemEventData_v1_t data[2];
	nvmlSystemEventSetWaitRequest_t wait = {
	    .version = nvmlSystemEventSetWaitRequest_v1,
	    .timeoutms = 30,
	    .data = data,
	    .dataSize = 2,
	    .numEvent = 5,
	};

	assert_nvml(NV(nvmlSystemEventSetCreate)(&create), SUCCESS);
	assert_nvml(NV(nvmlSystemRegisterEvents)(&registration),
		    ERROR_INVALID_ARGUMENT);
	wait.set = registration.set = create.set;
	assert_nvml(NV(nvmlSystemRegisterEvents)(&registration), SUCCESS);
	gkf_xid(fx->m, 0, 31); /* an event of a device */
	assert_nvml(NV(nvmlSystemEventSetWait)(&wait), ERROR_TIMEOUT);
	assert_int_equal(wait.numEvent, 0);
	driver_lets_go(fx, 1);
	driver_lets_go(fx, 0);
	driver_lets_go(fx, 1);
	assert_nvml(NV(nvmlSystemEventSetWait)(&wait), SUCCESS);
	assert_int_equal(wait.numEvent, 2);
	assert_int_equal(data[0].eventType, nvmlSystemEventTypeGpuDriverUnbind);
	assert_int_equal(data[1].eventType, nvmlSystemEventTypeGpuDriverBind);
	assert_int_equal(data[0].gpuId, 15 << 8); /* on bus 0f */
	assert_nvml(NV(nvmlSystemEventSetWait)(&wait), SUCCESS);
	assert_int_equal(wait.numEvent, 1);
	wait.version = 0;
	assert_nvml(NV(nvmlSystemEventSetWait)(&wait),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
	/* A set of one kind is not accepted as the other. */
	assert_nvml(NV(nvmlEventSetFree)((nvmlEventSet_t)(void *)create.set),
		    ERROR_INVALID_ARGUMENT);
}

/* Programs built before _v2 have room for 24 bytes. */
static void the_old_wait_writes_the_old_record(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = set_for(0, nvmlEventTypeXidCriticalError);
	nvmlEventData_t data = {.gpuInstanceId = 0x5a5a,
				.computeInstanceId = 0x5a5a};

	assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_LOST, 0), 0);
	assert_nvml(NV(nvmlEventSetWait)(set, &data, 1000), SUCCESS);
	assert_int_equal(data.eventData, 79);
	assert_int_equal(data.gpuInstanceId, 0x5a5a);
	assert_int_equal(data.computeInstanceId, 0x5a5a);
}

/*
 * A machine with one GPU: an Xid after 0.5 s, a hang from 1 to 5 s, so that a
 * loaded host does not sleep through it.
 */
static int setup_scenario(void **state)
{
	static const struct gkf_step steps[] = {
	    {.bin = 3, .kind = GKF_STEP_XID, .number = 31},
	    {.bin = 6, .kind = GKF_STEP_FAULT, .number = GKF_FAULT_HANG},
	    {.bin = 30, .kind = GKF_STEP_MEND, .argument = -1},
	};
	static const struct gkf_scenario_table table = {
	    .name = "test",
	    .steps = steps,
	    .count = 3,
	    .texts = "",
	    .text_size = 1,
	    .end_bin = UINT64_MAX,
	};
	struct gkf_machine_spec spec = {.device_count = 1,
					.profiles = &gkf_profile_default,
					.scenario = &table};
	struct fixture *fx = calloc(1, sizeof(*fx));

	fixture_open_spec(fx, &spec);
	front_load();
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	*state = fx;
	return 0;
}

/* Nobody else reads the machine: the sleeper applies what is due. */
static void a_scenario_wakes_who_sleeps(void **state)
{
	nvmlEventSet_t set = set_for(0, nvmlEventTypeXidCriticalError);
	nvmlDevice_t device = device_at(0);
	uint64_t began = gk_mono_ns(), took = 0;
	nvmlEventData_t data;
	unsigned power;

	(void)state;
	assert_nvml(wait_ms(set, &data, 0xffffffffu), SUCCESS);
	assert_int_equal(data.eventData, 31);
	assert_in_range(gk_mono_ns() - began, 1, 20000 * MS);
	while (took < 200 * MS) {
		uint64_t call = gk_mono_ns();

		assert_nvml(NV(nvmlDeviceGetPowerUsage)(device, &power),
			    SUCCESS);
		took = gk_mono_ns() - call;
		assert_in_range(gk_mono_ns() - began, 0, 40000 * MS);
		usleep(10000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(wait_sleeps_until_its_end),
	    FRONT_TEST(the_model_wakes_a_wait_once_a_bin),
	    FRONT_TEST(lost_gpu_tells_its_xid_once),
	    FRONT_TEST(what_was_before_is_not_told),
	    FRONT_TEST(each_set_hears_it),
	    FRONT_TEST(a_slow_reader_hears_the_last),
	    FRONT_TEST(memory_errors_are_told_by_kind),
	    FRONT_TEST(the_model_tells_of_clocks),
	    FRONT_TEST(a_value_that_is_set_is_told),
	    FRONT_TEST(the_old_wait_writes_the_old_record),
	    FRONT_TEST(bad_sets),
	    FRONT_TEST(sets_are_not_used_up),
	    FRONT_TEST(everything_wakes_a_wait_at_once),
	    FRONT_TEST(a_step_of_the_clock_wakes_a_wait),
	    FRONT_TEST(system_events),
	    cmocka_unit_test_setup_teardown(a_scenario_wakes_who_sleeps,
					    setup_scenario, front_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
