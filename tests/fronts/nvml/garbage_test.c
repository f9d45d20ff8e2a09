/* SPDX-License-Identifier: Apache-2.0 */
/*
 * garbage_test.c - overwrites the machine file at random while clients read:
 * what they read is nonsense, but no client crashes or hangs.
 */
#include "base/clock.h"
#include "base/mix.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/locks.h"

#include <fcntl.h>
#include <sys/mman.h>

#define READ_NS (GK_NS_PER_S * 3 / 2)

/* Every word of the file is hit; the first ones and those of locks often. */
static void scribble(const struct fixture *fx)
{
	size_t size = gkf_locks_end(sizeof *fx->file);
	unsigned char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_SHARED, open(fx->path, O_RDWR), 0);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t r = gk_mono_ns();

	for (unsigned n = 0;; n++) {
		size_t reach = n % 2 ? size : offsetof(struct gkf_file, calls);
		size_t at;

		r = gkf_mix(r);
		at = r % (reach / 8) * 8;
		if (n % 50 == 0)
			at = size - r % 3 * page - 8;
		if (n % 3)
			memcpy(bytes + at, &r, sizeof r);
		else
			bytes[at + n % 8] = (unsigned char)(r >> 40);
		if (n % 64 == 0)
			usleep(50);
	}
}

static void read_lists(nvmlDevice_t device)
{
	static nvmlProcessInfo_t infos[GKF_SLOTS_MAX];
	static nvmlProcessUtilizationSample_t samples[GKF_SLOTS_MAX];
	unsigned n = GKF_SLOTS_MAX;

	NV(nvmlDeviceGetComputeRunningProcesses_v3)(device, &n, infos);
	n = GKF_SLOTS_MAX;
	NV(nvmlDeviceGetProcessUtilization)(device, samples, &n, 0);
}

static void read_all(nvmlDevice_t device)
{
	nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
	nvmlTemperature_t temperature = {.version = nvmlTemperature_v1};
	nvmlUtilization_t utilization;
	nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_MEMORY_TEMP};
	nvmlDevice_t found;
	nvmlPciInfo_t pci;
	char text[96];
	unsigned v;

	NV(nvmlDeviceGetName)(device, text, sizeof text);
	NV(nvmlDeviceGetUUID)(device, text, sizeof text);
	NV(nvmlDeviceGetHandleByUUID)(text, &found);
	NV(nvmlSystemGetDriverVersion)(text, sizeof text);
	NV(nvmlDeviceGetPciInfo_v3)(device, &pci);
	NV(nvmlDeviceGetMemoryInfo_v2)(device, &memory);
	NV(nvmlDeviceGetTemperatureV)(device, &temperature);
	NV(nvmlDeviceGetUtilizationRates)(device, &utilization);
	NV(nvmlDeviceGetFieldValues)(device, 1, &field);
	NV(nvmlDeviceGetPowerUsage)(device, &v);
	NV(nvmlDeviceGetPcieThroughput)(device, NVML_PCIE_UTIL_TX_BYTES, &v);
}

static void read_for_a_while(nvmlDevice_t *devices)
{
	uint64_t end = gk_mono_ns() + READ_NS;
	unsigned count;

	while (gk_mono_ns() < end) {
		assert_nvml(NV(nvmlDeviceGetCount_v2)(&count), SUCCESS);
		assert_int_equal(count, 2);
		for (unsigned i = 0; i < count; i++) {
			read_all(devices[i]);
			read_lists(devices[i]);
		}
	}
}

/* One of the faults is a hang: whoever waits for its end gets it. */
static void end_faults(const struct fixture *fx)
{
	struct gkf_file *file = fx->file;

	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		atomic_store(&file->device[i].fault.active, 0);
	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		atomic_store(&file->rules.rule[i].life, 0);
	for (unsigned i = 0; i < GKF_FUNCTIONS_MAX; i++)
		atomic_store(&file->extra_ns[i], 0);
}

static void clients_survive_garbage(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t devices[] = {device_at(0), device_at(1)};
	struct resident r = fixture_resident(fx, 0, GKF_COMPUTE, GIB, NULL);
	pid_t writer, reader;
	int status = 0;

	writer = fork();
	assert_true(writer >= 0);
	if (!writer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		scribble(fx);
	}
	reader = fork();
	assert_true(reader >= 0);
	if (!reader) {
		alarm(60); /* a hang becomes a signal */
		read_for_a_while(devices);
		_exit(0);
	}
	usleep(READ_NS / 1000);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	end_faults(fx);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	fixture_end(&r);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(clients_survive_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
