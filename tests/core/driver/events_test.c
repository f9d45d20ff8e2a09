/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_test.c - checks the thread that waits for Xids, on a driver library in
 * the test.
 */
#include "core/driver/events.h"
#include "unit.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GPUS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char
    seat[GPUS + 1]; /* their addresses are handles; the last is another GPU's */

/* The fake driver; guarded by lock. */
static struct {
	unsigned long long types; /* supported by the driver */
	nvmlReturn_t registering, creating;
	unsigned registered[GPUS]; /* registrations */
	unsigned creations, frees;
	bool has_event, ending;
	bool ask_again; /* during the next registration */
	nvmlEventData_t event;
	unsigned waits;      /* begun so far */
	unsigned wait_ms[4]; /* of the first ones */
	unsigned last_wait_ms;
	unsigned other_index;
	int index_calls;
} driver;

static struct gk_nvml *nvml;
static struct gk_events *events;
static struct gk_arena arena; /* of the results */

static nvmlDevice_t handle_of(unsigned gpu)
{
	return (nvmlDevice_t)(void *)&seat[gpu];
}

static nvmlReturn_t tell_types(nvmlDevice_t dev, unsigned long long *types)
{
	(void)dev;
	pthread_mutex_lock(&lock);
	*types = driver.types;
	pthread_mutex_unlock(&lock);
	return NVML_SUCCESS;
}

static nvmlReturn_t create_set(nvmlEventSet_t *set)
{
	nvmlReturn_t r;

	pthread_mutex_lock(&lock);
	r = driver.creating;
	driver.creations++;
	*set = r ? NULL : (nvmlEventSet_t)(void *)&driver;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return r;
}

static nvmlReturn_t free_set(nvmlEventSet_t set)
{
	assert_ptr_equal(set, &driver);
	pthread_mutex_lock(&lock);
	driver.frees++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NVML_SUCCESS;
}

static nvmlReturn_t register_gpu(nvmlDevice_t dev, unsigned long long types,
				 nvmlEventSet_t set)
{
	unsigned gpu = (unsigned)((char *)(void *)dev - seat);
	nvmlReturn_t r;
	bool again;

	assert_ptr_equal(set, &driver);
	assert_int_equal(types, nvmlEventTypeXidCriticalError);
	pthread_mutex_lock(&lock);
	r = driver.registering;
	again = driver.ask_again;
	driver.ask_again = false;
	driver.registered[gpu]++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (again)
		gk_events_want(events, gpu, dev);
	return r;
}

static nvmlReturn_t wait_event(nvmlEventSet_t set, nvmlEventData_t *data,
			       unsigned timeout_ms)
{
	struct timespec until;
	nvmlReturn_t r = NVML_ERROR_TIMEOUT;

	assert_ptr_equal(set, &driver);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	driver.last_wait_ms = timeout_ms;
	if (driver.waits < COUNT(driver.wait_ms))
		driver.wait_ms[driver.waits] = timeout_ms;
	driver.waits++;
	pthread_cond_broadcast(&changed);
	while (!driver.has_event && !driver.ending)
		if (pthread_cond_timedwait(&changed, &lock, &until))
			break;
	if (driver.has_event) {
		*data = driver.event;
		driver.has_event = false;
		pthread_cond_broadcast(&changed);
		r = NVML_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static nvmlReturn_t tell_index(nvmlDevice_t dev, unsigned *index)
{
	assert_ptr_equal(dev, handle_of(GPUS));
	pthread_mutex_lock(&lock);
	*index = driver.other_index;
	driver.index_calls++;
	pthread_mutex_unlock(&lock);
	return driver.other_index == 99 ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

static int setup(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof driver);
	driver.types = nvmlEventTypeXidCriticalError;
	nvml = calloc(1, sizeof *nvml);
	assert_non_null(nvml);
	nvml->uses = 1;
	nvml->nvmlDeviceGetSupportedEventTypes = tell_types;
	nvml->nvmlEventSetCreate = create_set;
	nvml->nvmlEventSetFree = free_set;
	nvml->nvmlDeviceRegisterEvents = register_gpu;
	nvml->nvmlEventSetWait = wait_event;
	nvml->nvmlDeviceGetIndex = tell_index;
	assert_int_equal(gk_events_open(nvml, GPUS, &events), 0);
	return 0;
}

/* The thread frees its set and releases the driver when it ends. */
static int teardown(void **state)
{
	gk_arena_free(&arena);
	(void)state;
	pthread_mutex_lock(&lock);
	driver.ending = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	gk_events_close(events);
	for (int i = 0; nvml->uses != 1; i++) {
		assert_true(i < 30000);
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	}
	assert_int_equal(driver.frees, driver.creating ? 0 : driver.creations);
	free(nvml);
	return 0;
}

/* Waits until a condition of the driver holds. */
#define AWAIT(condition)                                                       \
	do {                                                                   \
		struct timespec until_;                                        \
		bool late_ = false;                                            \
                                                                               \
		clock_gettime(CLOCK_REALTIME, &until_);                        \
		until_.tv_sec += 30;                                           \
		pthread_mutex_lock(&lock);                                     \
		while (!(condition) && !late_)                                 \
			late_ =                                                \
			    pthread_cond_timedwait(&changed, &lock, &until_);  \
		pthread_mutex_unlock(&lock);                                   \
		assert_false(late_);                                           \
	} while (0)

static void listen_to(unsigned gpu)
{
	gk_events_want(events, gpu, handle_of(gpu));
	AWAIT(driver.registered[gpu] && driver.waits);
}

/* When the next wait has begun, the event has been counted. */
static void raise_event(unsigned gpu, unsigned long long type, unsigned xid)
{
	unsigned waits;

	pthread_mutex_lock(&lock);
	driver.event = (nvmlEventData_t){
	    .device = handle_of(gpu), .eventType = type, .eventData = xid};
	driver.has_event = true;
	pthread_cond_broadcast(&changed);
	while (driver.has_event)
		pthread_cond_wait(&changed, &lock);
	waits = driver.waits;
	while (driver.waits == waits)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static struct gk_device device(unsigned gpu, int mig_index)
{
	struct gk_device dev = {.index = gpu, .mig_index = mig_index};

	for (int i = 0; i < GK_M_COUNT; i++)
		dev.m[i].why = GK_ABSENT_TIMEOUT;
	assert_int_equal(gk_events_get(events, &arena, &dev), 0);
	return dev;
}

static void check_xids(unsigned gpu, int64_t count, int64_t last)
{
	struct gk_device dev = device(gpu, -1);

	assert_int_equal(dev.m[GK_M_XID_COUNT].why, GK_PRESENT);
	assert_int_equal(dev.m[GK_M_XID_COUNT].v, count);
	assert_int_equal(dev.m[GK_M_XID_LAST].why, GK_PRESENT);
	assert_int_equal(dev.m[GK_M_XID_LAST].v, last);
	assert_int_equal(dev.m[GK_M_XID_TIME].why,
			 count ? GK_PRESENT : GK_ABSENT_NONE);
	assert_true(dev.read_ns[GK_TIER_EVENT] > 0);
	assert_true(dev.read_ns[GK_TIER_EVENT] <= gk_mono_ns());
}

#define XID nvmlEventTypeXidCriticalError

/* The older wait function serves where the newer one is missing. */
static void only_xids_are_counted(void **state)
{
	(void)state;
	listen_to(1);
	check_xids(1, 0, 0);
	raise_event(1, XID, 79);
	check_xids(1, 1, 79);
	raise_event(1, nvmlEventTypeClock, 5);
	check_xids(1, 1, 79);
	raise_event(1, XID | nvmlEventTypeClock, 31);
	check_xids(1, 2, 31);
	assert_true(device(1, -1).m[GK_M_XID_TIME].v <= (int64_t)gk_wall_ns());
	assert_true(device(1, -1).m[GK_M_XID_TIME].v >
		    (int64_t)(gk_wall_ns() - 60 * GK_NS_PER_S));
}

/* A driver may name a GPU by another handle than it was registered by. */
/* Three within a moment, of which only the last was known before. */
static void every_xid_of_a_burst_is_kept(void **state)
{
	static const unsigned burst[] = {48, 94, 63, 48};
	static const struct {
		unsigned number;
		uint64_t count;
	} kinds[] = {{48, 2}, {63, 1}, {94, 1}};
	const struct gk_xids *xids;

	(void)state;
	listen_to(0);
	assert_null(device(0, -1).xids);
	for (int i = 0; i < 4; i++)
		raise_event(0, nvmlEventTypeXidCriticalError, burst[i]);
	xids = device(0, -1).xids;
	assert_non_null(xids);
	assert_int_equal(xids->count, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(xids->last[i].number, burst[i]);
		assert_int_equal(xids->last[i].at, i + 1);
		assert_true(xids->last[i].wall_ns > 0);
		assert_true(!i ||
			    xids->last[i].wall_ns >= xids->last[i - 1].wall_ns);
	}
	assert_int_equal(xids->kind_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(xids->kinds[i].number, kinds[i].number);
		assert_int_equal(xids->kinds[i].count, kinds[i].count);
	}
	gk_arena_free(&arena);
}

static void the_list_of_xids_is_bounded(void **state)
{
	struct gk_xids xids = {0};
	uint64_t all = 0;

	(void)state;
	for (uint32_t i = 1; i <= 1000; i++) {
		gk_xids_add(&xids, &(struct gk_xid){.at = i, .number = i});
		gk_xids_count(&xids, i % 100 + 1, 1);
	}
	assert_int_equal(xids.count, GK_XIDS_MAX);
	assert_int_equal(xids.last[0].at, 1000 - GK_XIDS_MAX + 1);
	assert_int_equal(xids.last[GK_XIDS_MAX - 1].at, 1000);
	assert_int_equal(xids.kind_count, GK_XID_KINDS_MAX);
	assert_int_equal(xids.kinds[0].number, 0);
	for (size_t i = 0; i < xids.kind_count; i++) {
		all += xids.kinds[i].count;
		assert_true(!i ||
			    xids.kinds[i].number > xids.kinds[i - 1].number);
	}
	assert_int_equal(all, 1000);
}

static void other_handles_are_asked_for_their_index(void **state)
{
	(void)state;
	listen_to(0);
	listen_to(2);
	pthread_mutex_lock(&lock);
	driver.other_index = 2;
	pthread_mutex_unlock(&lock);
	raise_event(GPUS, XID, 13);
	check_xids(2, 1, 13);
	check_xids(0, 0, 0);
	/* A GPU that does not exist, and one that cannot be identified. */
	pthread_mutex_lock(&lock);
	driver.other_index = GPUS;
	pthread_mutex_unlock(&lock);
	raise_event(GPUS, XID, 14);
	pthread_mutex_lock(&lock);
	driver.other_index = 99;
	pthread_mutex_unlock(&lock);
	raise_event(GPUS, XID, 15);
	check_xids(2, 1, 13);
	check_xids(0, 0, 0);
	raise_event(0, XID, 16);
	check_xids(0, 1, 16);
	assert_int_equal(driver.index_calls, 3);
	assert_int_equal(driver.creations, 1);
}

static void what_nobody_listens_to_is_not_known(void **state)
{
	struct gk_device dev = device(0, -1);

	(void)state;
	assert_int_equal(dev.m[GK_M_XID_COUNT].why, GK_ABSENT_TIMEOUT);
	assert_int_equal(dev.read_ns[GK_TIER_EVENT], 0);
	listen_to(0);
	dev = device(0, 2);
	assert_int_equal(dev.m[GK_M_XID_COUNT].why, GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(dev.m[GK_M_XID_TIME].why, GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(dev.read_ns[GK_TIER_EVENT], 0);
	assert_int_equal(device(1, -1).m[GK_M_XID_LAST].why, GK_ABSENT_TIMEOUT);
	gk_events_want(NULL, 0, NULL);
	assert_null(gk_events_ref(NULL));
	gk_events_unref(NULL);
	gk_events_close(NULL);
}

/*
 * A GPU that comes back: all are registered in a new set, and then the old one
 * is freed.
 */
static void who_asks_again_gets_a_new_set(void **state)
{
	(void)state;
	listen_to(0);
	listen_to(1);
	gk_events_want(events, 1, handle_of(1));
	AWAIT(driver.frees == 1);
	assert_int_equal(driver.creations, 2);
	assert_int_equal(driver.registered[0], 2);
	assert_int_equal(driver.registered[1], 2);
	assert_int_equal(driver.registered[2], 0);
}

/* A GPU that comes back while the thread registers its former handle. */
static void who_asks_meanwhile_is_not_forgotten(void **state)
{
	(void)state;
	pthread_mutex_lock(&lock);
	driver.ask_again = true;
	pthread_mutex_unlock(&lock);
	listen_to(0);
	AWAIT(driver.frees == 1);
	assert_int_equal(driver.creations, 2);
	assert_int_equal(driver.registered[0], 2);
}

/* Waits are short until all GPUs are open: then each is twice as long as the
 * previous one. */
static void waits_grow(void **state)
{
	(void)state;
	listen_to(0);
	AWAIT(driver.waits >= 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(driver.wait_ms[i], 20);
	for (unsigned gpu = 1; gpu < GPUS; gpu++)
		listen_to(gpu);
	AWAIT(driver.last_wait_ms == 40);
	AWAIT(driver.last_wait_ms == 80);
}

/* It retries until it works. */
static void a_set_that_is_refused_is_asked_for_again(void **state)
{
	(void)state;
	pthread_mutex_lock(&lock);
	driver.creating = NVML_ERROR_UNKNOWN;
	pthread_mutex_unlock(&lock);
	gk_events_want(events, 0, handle_of(0));
	AWAIT(driver.creations >= 2);
	assert_int_equal(driver.registered[0], 0);
	assert_int_equal(device(0, -1).m[GK_M_XID_COUNT].why, GK_ABSENT_ERROR);
	pthread_mutex_lock(&lock);
	driver.creating = NVML_SUCCESS;
	driver.creations = 0;
	pthread_mutex_unlock(&lock);
	AWAIT(driver.registered[0] && driver.waits);
	check_xids(0, 0, 0);
}

static void what_is_not_permitted_is_not_tried_again(void **state)
{
	(void)state;
	pthread_mutex_lock(&lock);
	driver.registering = NVML_ERROR_NO_PERMISSION;
	pthread_mutex_unlock(&lock);
	gk_events_want(events, 0, handle_of(0));
	AWAIT(driver.registered[0]);
	pthread_mutex_lock(&lock);
	driver.registering = NVML_SUCCESS;
	pthread_mutex_unlock(&lock);
	listen_to(1);
	raise_event(1, XID, 13);
	assert_int_equal(driver.registered[0], 1);
	assert_int_equal(device(0, -1).m[GK_M_XID_COUNT].why,
			 GK_ABSENT_PERMISSION);
	assert_int_equal(device(0, -1).read_ns[GK_TIER_EVENT], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(only_xids_are_counted),
	    TEST(every_xid_of_a_burst_is_kept),
	    TEST(the_list_of_xids_is_bounded),
	    TEST(other_handles_are_asked_for_their_index),
	    TEST(what_nobody_listens_to_is_not_known),
	    TEST(who_asks_again_gets_a_new_set),
	    TEST(who_asks_meanwhile_is_not_forgotten),
	    TEST(waits_grow),
	    TEST(a_set_that_is_refused_is_asked_for_again),
	    TEST(what_is_not_permitted_is_not_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
