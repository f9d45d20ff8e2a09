/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_test.c - checks process lists and process utilization: the two-call
 * protocol, the size of a record, nothing written outside.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"

#define GUARD 0xa5

/* Two processes on device 0, one of which is also a graphics process. */
struct pair {
	struct resident compute, both;
};

static struct pair start_pair(struct fixture *fx)
{
	struct gkf_wave none = {.kind = GKF_WAVE_NONE};

	return (struct pair){
	    .compute = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &none),
	    .both = fixture_resident(fx, 0, GKF_COMPUTE | GKF_GRAPHICS, 3 * GIB,
				     &none),
	};
}

static void end_pair(struct pair *pair)
{
	end_resident(&pair->compute);
	end_resident(&pair->both);
}

typedef nvmlReturn_t list_fn(nvmlDevice_t, unsigned *, void *);

static const struct list {
	const char *name;
	size_t stride;
	unsigned rows; /* of the pair */
} lists[] = {
    {"nvmlDeviceGetComputeRunningProcesses", 16, 2},
    {"nvmlDeviceGetComputeRunningProcesses_v2", 24, 2},
    {"nvmlDeviceGetComputeRunningProcesses_v3", 24, 2},
    {"nvmlDeviceGetGraphicsRunningProcesses", 16, 1},
    {"nvmlDeviceGetGraphicsRunningProcesses_v2", 24, 1},
    {"nvmlDeviceGetGraphicsRunningProcesses_v3", 24, 1},
    {"nvmlDeviceGetMPSComputeRunningProcesses", 16, 0},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v2", 24, 0},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", 24, 0},
};
#define LISTS (sizeof(lists) / sizeof(*lists))

static void check_guard(const unsigned char *bytes, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		assert_int_equal(bytes[i], GUARD);
}

/* Checks one record by the offsets of the ABI. */
static void check_record(const unsigned char *at, size_t stride,
			 const struct pair *pair)
{
	uint32_t pid, gpu_instance, compute_instance;
	uint64_t bytes;

	memcpy(&pid, at, 4);
	memcpy(&bytes, at + 8, 8);
	assert_true(pid == (uint32_t)pair->compute.pid ||
		    pid == (uint32_t)pair->both.pid);
	assert_true(bytes == (pid == (uint32_t)pair->both.pid ? 3 * GIB : GIB));
	if (stride == 16)
		return;
	memcpy(&gpu_instance, at + 16, 4);
	memcpy(&compute_instance, at + 20, 4);
	assert_int_equal(gpu_instance, 0xffffffffu);
	assert_int_equal(compute_instance, 0xffffffffu);
}

static void check_list(const struct list *l, const struct pair *pair)
{
	list_fn *get = (list_fn *)front_symbol(l->name);
	unsigned char room[512];
	unsigned n = 0;

	assert_int_equal(get(device_at(0), &n, NULL),
			 l->rows ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS);
	assert_int_equal(n, l->rows);
	memset(room, GUARD, sizeof(room));
	if (l->rows) {
		n = l->rows - 1;
		assert_nvml(get(device_at(0), &n, room),
			    ERROR_INSUFFICIENT_SIZE);
		assert_int_equal(n, l->rows);
		check_guard(room, 0, sizeof(room));
	}
	n = 10;
	assert_nvml(get(device_at(0), &n, room), SUCCESS);
	assert_int_equal(n, l->rows);
	for (unsigned i = 0; i < n; i++)
		check_record(room + i * l->stride, l->stride, pair);
	check_guard(room, n * l->stride, sizeof(room));
}

static void every_list(void **state)
{
	struct pair pair = start_pair(*state);

	for (size_t i = 0; i < LISTS; i++)
		check_list(&lists[i], &pair);
	end_pair(&pair);
}

static void lists_want_their_arguments(void **state)
{
	(void)state;
	for (size_t i = 0; i < LISTS; i++) {
		list_fn *get = (list_fn *)front_symbol(lists[i].name);
		unsigned n = 4;

		assert_nvml(get(device_at(0), NULL, NULL),
			    ERROR_INVALID_ARGUMENT);
		assert_nvml(get(device_at(0), &n, NULL),
			    ERROR_INVALID_ARGUMENT);
		assert_int_equal(n, 4);
	}
}

static void empty_device(void **state)
{
	struct pair pair = start_pair(*state);
	unsigned n = 0;

	assert_nvml(
	    NV(nvmlDeviceGetComputeRunningProcesses_v3)(device_at(1), &n, NULL),
	    SUCCESS);
	assert_int_equal(n, 0);
	end_pair(&pair);
}

/* More than the front keeps without the heap. */
static void many_processes(void **state)
{
	enum { MANY = 150 };
	struct gkf_wave none = {.kind = GKF_WAVE_NONE};
	struct resident residents[MANY];
	nvmlProcessInfo_t infos[MANY + 1];
	unsigned n = MANY + 1;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < MANY; i++)
		residents[i] = fixture_resident(*state, 1, GKF_COMPUTE,
						(i + 1) << 20, &none);
	assert_nvml(NV(nvmlDeviceGetComputeRunningProcesses_v3)(device_at(1),
								&n, infos),
		    SUCCESS);
	assert_int_equal(n, MANY);
	for (unsigned i = 0; i < MANY; i++)
		bytes += infos[i].usedGpuMemory;
	assert_int_equal(bytes, (uint64_t)MANY * (MANY + 1) / 2 << 20);
	for (unsigned i = 0; i < MANY; i++)
		end_resident(&residents[i]);
}

static void killed_process_leaves_the_list(void **state)
{
	struct fixture *fx = *state;
	struct gkf_wave none = {.kind = GKF_WAVE_NONE};
	struct resident r = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &none);
	unsigned n = 0;

	end_resident(&r);
	gkf_reap(fx->m, true);
	assert_nvml(
	    NV(nvmlDeviceGetComputeRunningProcesses_v3)(device_at(0), &n, NULL),
	    SUCCESS);
	assert_int_equal(n, 0);
}

static void detail_list(void **state)
{
	struct pair pair = start_pair(*state);
	nvmlProcessDetail_v1_t room[3];
	nvmlProcessDetailList_t list = {.version = nvmlProcessDetailList_v1,
					.mode = NVML_PROCESS_MODE_GRAPHICS};

	assert_nvml(
	    NV(nvmlDeviceGetRunningProcessDetailList)(device_at(0), &list),
	    ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(list.numProcArrayEntries, 1);
	memset(room, GUARD, sizeof(room));
	list.procArray = room;
	assert_nvml(
	    NV(nvmlDeviceGetRunningProcessDetailList)(device_at(0), &list),
	    SUCCESS);
	assert_int_equal(room[0].pid, pair.both.pid);
	assert_int_equal(room[0].usedGpuMemory, 3 * GIB);
	assert_int_equal(room[0].usedGpuCcProtectedMemory, 0);
	check_guard((unsigned char *)room, sizeof(*room), sizeof(room));
	list.version++;
	assert_nvml(
	    NV(nvmlDeviceGetRunningProcessDetailList)(device_at(0), &list),
	    ERROR_ARGUMENT_VERSION_MISMATCH);
	list.version--;
	list.mode = NVML_PROCESS_MODE_MAX;
	assert_nvml(
	    NV(nvmlDeviceGetRunningProcessDetailList)(device_at(0), &list),
	    ERROR_INVALID_ARGUMENT);
	end_pair(&pair);
}

static const struct gkf_wave busy = {
    .kind = GKF_WAVE_TRAIN,
    .util_permille = 800,
    .mem_permille = 400,
    .period_ns = 60 * GK_NS_PER_S,
    .seed = 1,
};

static void let_bins_pass(struct fixture *fx)
{
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;
	uint64_t last = gkf_machine_bin(fx->m) + 8;

	while (gkf_machine_bin(fx->m) < last) {
		assert_true(gk_mono_ns() < end);
		usleep(10000);
	}
}

static nvmlReturn_t utilization(nvmlProcessUtilizationSample_t *samples,
				unsigned *count, unsigned long long since)
{
	return NV(nvmlDeviceGetProcessUtilization)(device_at(0), samples, count,
						   since);
}

static void utilization_of_processes(void **state)
{
	struct gkf_wave none = {.kind = GKF_WAVE_NONE};
	struct resident worker, holder;
	nvmlProcessUtilizationSample_t samples[4];
	unsigned n = 0;
	uint64_t before, now, first;

	worker = fixture_resident(*state, 0, GKF_COMPUTE, GIB, &busy);
	holder = fixture_resident(*state, 0, GKF_COMPUTE, GIB, &none);
	let_bins_pass(*state);
	assert_nvml(utilization(NULL, &n, 0), ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(n, 2);
	memset(samples, GUARD, sizeof(samples));
	before = gk_wall_ns() / GK_NS_PER_US;
	assert_nvml(utilization(samples, &n, 0), SUCCESS);
	now = gk_wall_ns() / GK_NS_PER_US;
	assert_int_equal(n, 1); /* an idle process has no sample */
	check_guard((unsigned char *)samples, sizeof(*samples),
		    sizeof(samples));
	assert_int_equal(samples[0].pid, worker.pid);
	assert_in_range(samples[0].smUtil, 1, 100);
	assert_in_range(samples[0].memUtil, 1, 100);
	assert_int_equal(samples[0].encUtil, 0);
	/*
	 * The end of a complete bin: among the last two bins, by the wall
	 * clock.
	 */
	assert_in_range(samples[0].timeStamp, before - 400000, now);
	first = samples[0].timeStamp;

	n = 4; /* newer than that: nothing, until a bin has passed */
	if (utilization(samples, &n, first) == NVML_SUCCESS)
		assert_true(samples[0].timeStamp > first + 100000);
	let_bins_pass(*state);
	n = 4;
	assert_nvml(utilization(samples, &n, first), SUCCESS);
	assert_true(samples[0].timeStamp > first + 100000);
	n = 4;
	assert_nvml(utilization(samples, &n, now + 10 * 1000000),
		    ERROR_NOT_FOUND);
	end_resident(&worker);
	end_resident(&holder);
}

static void no_utilization_without_work(void **state)
{
	struct pair pair = start_pair(*state);
	nvmlProcessUtilizationSample_t samples[4];
	unsigned n = 4;

	let_bins_pass(*state);
	assert_nvml(utilization(samples, &n, 0), ERROR_NOT_FOUND);
	assert_nvml(
	    NV(nvmlDeviceGetProcessUtilization)(device_at(1), NULL, &n, 0),
	    ERROR_NOT_FOUND);
	assert_nvml(utilization(samples, NULL, 0), ERROR_INVALID_ARGUMENT);
	end_pair(&pair);
}

/* Three that want 80 % each get no more than the device has. */
static void shares_do_not_pass_100(void **state)
{
	struct resident workers[3];
	nvmlProcessUtilizationSample_t samples[8];
	unsigned n = 8, sum = 0;

	for (int i = 0; i < 3; i++)
		workers[i] =
		    fixture_resident(*state, 0, GKF_COMPUTE, GIB, &busy);
	let_bins_pass(*state);
	assert_nvml(utilization(samples, &n, 0), SUCCESS);
	assert_int_equal(n, 3);
	for (unsigned i = 0; i < n; i++)
		sum += samples[i].smUtil;
	assert_in_range(sum, 50, 100);
	for (int i = 0; i < 3; i++)
		end_resident(&workers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(every_list),
	    FRONT_TEST(lists_want_their_arguments),
	    FRONT_TEST(empty_device),
	    FRONT_TEST(many_processes),
	    FRONT_TEST(killed_process_leaves_the_list),
	    FRONT_TEST(detail_list),
	    FRONT_TEST(utilization_of_processes),
	    FRONT_TEST(no_utilization_without_work),
	    FRONT_TEST(shares_do_not_pass_100),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
