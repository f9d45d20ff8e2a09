/*
 * nvml_event_test.c - event sets: their handles, waiting without an event,
 * and the Xid of a GPU that is lost.
 */
#include "fake/nvml_front.h"

#include "base/clock.h"

#include <pthread.h>

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

static void wait_sleeps_until_its_end(void **state)
{
	nvmlEventSet_t set = new_set();
	nvmlEventData_t data;
	uint64_t began = gk_mono_ns(), cpu;

	(void)state;
	cpu = gk_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	assert_nvml(NV(nvmlDeviceRegisterEvents)(
			device_at(0), nvmlEventTypeXidCriticalError, set),
		    SUCCESS);
	assert_nvml(wait_ms(set, &data, 300), ERROR_TIMEOUT);
	assert_in_range(gk_mono_ns() - began, 300000000, 3000000000);
	cpu = gk_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	assert_in_range(cpu, 0, 30000000);
	assert_nvml(wait_ms(set, &data, 0), ERROR_TIMEOUT);
}

static void lost_gpu_tells_its_xid_once(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = new_set();
	nvmlEventData_t data;
	unsigned long long types;

	assert_nvml(NV(nvmlDeviceGetSupportedEventTypes)(device_at(1), &types),
		    SUCCESS);
	assert_nvml(NV(nvmlDeviceRegisterEvents)(device_at(1), types, set),
		    SUCCESS);
	nvmlDevice_t device = device_at(1);
	gkf_fault_begin(fx->m, 0, GKF_FAULT_LOST, 0); /* not watched */
	assert_nvml(wait_ms(set, &data, 50), ERROR_TIMEOUT);
	gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0);
	assert_nvml(wait_ms(set, &data, 2000), SUCCESS);
	assert_ptr_equal(data.device, device);
	assert_int_equal(data.eventType, nvmlEventTypeXidCriticalError);
	assert_int_equal(data.eventData, 79);
	assert_nvml(wait_ms(set, &data, 50), ERROR_TIMEOUT);
	gkf_fault_end(fx->m, 1, GKF_FAULT_BIT(GKF_FAULT_LOST));
	assert_nvml(wait_ms(set, &data, 50), ERROR_TIMEOUT);
	gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0);
	assert_nvml(wait_ms(set, &data, 2000), SUCCESS);
}

static void bad_sets(void **state)
{
	nvmlEventSet_t set = new_set();
	nvmlEventData_t data;

	(void)state;
	assert_nvml(wait_ms((nvmlEventSet_t)((char *)set + 1), &data, 0),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(wait_ms((nvmlEventSet_t)&data, &data, 0),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(wait_ms(set, NULL, 0), ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceRegisterEvents)(device_at(0), 1ULL << 40, set),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceRegisterEvents)(device_at(0),
						 nvmlEventTypePState, set),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlEventSetFree)(set), SUCCESS);
	assert_nvml(NV(nvmlEventSetFree)(set), ERROR_INVALID_ARGUMENT);
	assert_nvml(wait_ms(set, &data, 0), ERROR_INVALID_ARGUMENT);
}

/* Far more than fit at once: freed ones are used again. */
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

static void *shut_down_soon(void *arg)
{
	usleep(50000);
	NV(nvmlShutdown)();
	return arg;
}

static void shutdown_ends_a_wait(void **state)
{
	nvmlEventSet_t set = new_set();
	nvmlEventData_t data;
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, shut_down_soon, NULL);
	assert_nvml(wait_ms(set, &data, 0xffffffffu), ERROR_UNINITIALIZED);
	pthread_join(thread, NULL);
}

static void system_events(void **state)
{
	nvmlSystemEventSetCreateRequest_t create = {
	    .version = nvmlSystemEventSetCreateRequest_v1};
	nvmlSystemRegisterEventRequest_t registration = {
	    .version = nvmlSystemRegisterEventRequest_v1,
	    .eventTypes = nvmlSystemEventTypeGpuDriverUnbind,
	};
	nvmlSystemEventData_v1_t data[2];
	nvmlSystemEventSetWaitRequest_t wait = {
	    .version = nvmlSystemEventSetWaitRequest_v1,
	    .timeoutms = 30,
	    .data = data,
	    .dataSize = 2,
	    .numEvent = 5,
	};

	(void)state;
	assert_nvml(NV(nvmlSystemEventSetCreate)(&create), SUCCESS);
	assert_nvml(NV(nvmlSystemRegisterEvents)(&registration),
		    ERROR_INVALID_ARGUMENT);
	wait.set = registration.set = create.set;
	assert_nvml(NV(nvmlSystemRegisterEvents)(&registration), SUCCESS);
	assert_nvml(NV(nvmlSystemEventSetWait)(&wait), ERROR_TIMEOUT);
	assert_int_equal(wait.numEvent, 0);
	wait.version = 0;
	assert_nvml(NV(nvmlSystemEventSetWait)(&wait),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
	/* A set of one kind is none of the other. */
	assert_nvml(NV(nvmlEventSetFree)((nvmlEventSet_t)(void *)create.set),
		    ERROR_INVALID_ARGUMENT);
}

/* Programs built before _v2 hold 24 bytes. */
static void the_old_wait_writes_the_old_record(void **state)
{
	struct fixture *fx = *state;
	nvmlEventSet_t set = new_set();
	nvmlEventData_t data = {.gpuInstanceId = 0x5a5a,
				.computeInstanceId = 0x5a5a};

	assert_nvml(NV(nvmlDeviceRegisterEvents)(
			device_at(0), nvmlEventTypeXidCriticalError, set),
		    SUCCESS);
	assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_LOST, 0), 0);
	assert_nvml(NV(nvmlEventSetWait)(set, &data, 1000), SUCCESS);
	assert_int_equal(data.eventData, 79);
	assert_int_equal(data.gpuInstanceId, 0x5a5a);
	assert_int_equal(data.computeInstanceId, 0x5a5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(wait_sleeps_until_its_end),
	    FRONT_TEST(lost_gpu_tells_its_xid_once),
	    FRONT_TEST(the_old_wait_writes_the_old_record),
	    FRONT_TEST(bad_sets),
	    FRONT_TEST(sets_are_not_used_up),
	    FRONT_TEST(shutdown_ends_a_wait),
	    FRONT_TEST(system_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
