/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_getter.c - what a call into the drop-in NVML costs: plain getters and
 * process lists of growing length, on a machine of its own. Prints the median
 * nanoseconds a call of ten rounds, one line a function.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/clock.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/wave_state.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS        10
#define PROCESSES_MAX 256

static void *front;
static nvmlDevice_t device;
static pid_t children[PROCESSES_MAX];
static unsigned children_count;

static void *symbol(const char *name)
{
	void *at = dlsym(front, name);

	if (!at) {
		fprintf(stderr, "nvml_getter: %s\n", dlerror());
		exit(1);
	}
	return at;
}
#define NV(name) ((__typeof__(&name))symbol(#name))

/* One call of a benchmark, and how to find its function. */
typedef nvmlReturn_t one_fn(void *function);

static nvmlReturn_t one_number(void *function)
{
	unsigned long long number;

	return ((nvmlReturn_t(*)(nvmlDevice_t, void *))function)(device,
								 &number);
}

static nvmlReturn_t memory_v1(void *function)
{
	nvmlMemory_t memory;

	return ((__typeof__(&nvmlDeviceGetMemoryInfo))function)(device,
								&memory);
}

static nvmlReturn_t memory_v2(void *function)
{
	nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};

	return ((__typeof__(&nvmlDeviceGetMemoryInfo_v2))function)(device,
								   &memory);
}

static nvmlReturn_t temperature(void *function)
{
	nvmlTemperature_t t = {.version = nvmlTemperature_v1};

	return ((__typeof__(&nvmlDeviceGetTemperatureV))function)(device, &t);
}

static nvmlReturn_t clock_info(void *function)
{
	unsigned mhz;

	return ((__typeof__(&nvmlDeviceGetClockInfo))function)(
	    device, NVML_CLOCK_SM, &mhz);
}

static nvmlReturn_t name(void *function)
{
	char text[96];

	return ((__typeof__(&nvmlDeviceGetName))function)(device, text,
							  sizeof(text));
}

static nvmlReturn_t processes(void *function)
{
	static nvmlProcessInfo_t infos[PROCESSES_MAX];
	unsigned n = PROCESSES_MAX;

	return ((__typeof__(&nvmlDeviceGetComputeRunningProcesses_v3))function)(
	    device, &n, infos);
}

static const struct {
	const char *function;
	one_fn *one;
} getters[] = {
    {"nvmlDeviceGetIndex", one_number},
    {"nvmlDeviceGetMinorNumber", one_number},
    {"nvmlDeviceGetMaxPcieLinkWidth", one_number},
    {"nvmlDeviceGetUtilizationRates", one_number},
    {"nvmlDeviceGetPowerUsage", one_number},
    {"nvmlDeviceGetPowerManagementLimit", one_number},
    {"nvmlDeviceGetPerformanceState", one_number},
    {"nvmlDeviceGetTemperatureV", temperature},
    {"nvmlDeviceGetClockInfo", clock_info},
    {"nvmlDeviceGetName", name},
    {"nvmlDeviceGetMemoryInfo", memory_v1},
    {"nvmlDeviceGetMemoryInfo_v2", memory_v2},
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median nanoseconds of a call. */
static double measure(const char *function, one_fn *one, unsigned calls)
{
	double ns[ROUNDS];
	void *at = symbol(function);
	uint64_t began;

	for (int round = 0; round < ROUNDS; round++) {
		began = gk_mono_ns();
		for (unsigned i = 0; i < calls; i++)
			if (one(at) != NVML_SUCCESS) {
				fprintf(stderr, "nvml_getter: %s failed\n",
					function);
				exit(1);
			}
		ns[round] = (double)(gk_mono_ns() - began) / calls;
	}
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	return (ns[ROUNDS / 2 - 1] + ns[ROUNDS / 2]) / 2;
}

/* A child that holds a mebibyte of device 0 until it is killed. */
static void add_process(struct gkf_machine *m)
{
	struct gkf_wave none = {.kind = GKF_WAVE_NONE};
	int ready[2];
	unsigned slot;
	char c;

	if (pipe(ready) || (children[children_count] = fork()) < 0)
		exit(1);
	if (!children[children_count]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (gkf_attach(m, 0, GKF_COMPUTE, &none, &slot) ||
		    gkf_books_charge(m, slot, 1 << 20) ||
		    write(ready[1], "y", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	children_count++;
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		exit(1);
	close(ready[0]);
}

static void end_processes(void)
{
	for (unsigned i = 0; i < children_count; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

static struct gkf_machine *open_machine(const char *path)
{
	struct gkf_profile profiles[8];
	struct gkf_machine_spec spec = {.device_count = 8,
					.profiles = profiles};
	struct gkf_machine *m;

	for (int i = 0; i < 8; i++)
		profiles[i] = gkf_profile_default;
	setenv("GPUKIT_MACHINE", path, 1);
	front = dlopen(FAKE_DIR "/libnvidia-ml.so.1", RTLD_NOW);
	if (!front || gkf_machine_create(path, &spec) ||
	    gkf_machine_open(NULL, &m)) {
		fprintf(stderr, "nvml_getter: no machine at %s\n", path);
		exit(1);
	}
	return m;
}

/* Time of the first nvmlInit of a process, or 0 when it fails. */
static double first_init(void)
{
	double ns = 0;
	int result[2], status;
	pid_t pid;

	if (pipe(result) || (pid = fork()) < 0)
		exit(1);
	if (!pid) {
		uint64_t began = gk_mono_ns();

		if (NV(nvmlInit_v2)() == NVML_SUCCESS)
			ns = (double)(gk_mono_ns() - began);
		_exit(write(result[1], &ns, sizeof(ns)) != sizeof(ns));
	}
	close(result[1]);
	if (read(result[0], &ns, sizeof(ns)) != sizeof(ns))
		ns = 0;
	close(result[0]);
	waitpid(pid, &status, 0);
	return ns;
}

/* Median of what it costs a new process to open the machine at path. */
static double measure_init(const char *path)
{
	double ns[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		ns[round] = first_init();
		if (ns[round] <= 0) {
			fprintf(stderr, "nvml_getter: cannot open %s\n", path);
			exit(1);
		}
	}
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	return ns[ROUNDS / 2];
}

int main(void)
{
	static const unsigned sizes[] = {1, 8, 32, PROCESSES_MAX};
	char dir[] = "/dev/shm/gpukit-bench-XXXXXX", path[64];
	struct gkf_machine *m;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/machine", dir);
	m = open_machine(path);
	printf("%-44s %10.0f ns\n", "nvmlInit_v2", measure_init(path));
	if (NV(nvmlInit_v2)() ||
	    NV(nvmlDeviceGetHandleByIndex_v2)(0, &device) != NVML_SUCCESS)
		return 1;
	for (size_t i = 0; i < sizeof(getters) / sizeof(*getters); i++)
		printf("%-44s %10.1f ns\n", getters[i].function,
		       measure(getters[i].function, getters[i].one, 200000));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		while (children_count < sizes[i])
			add_process(m);
		printf("process list of %-28u %10.0f ns\n", sizes[i],
		       measure("nvmlDeviceGetComputeRunningProcesses_v3",
			       processes, 500));
	}
	end_processes();
	unlink(path);
	rmdir(dir);
	return 0;
}
