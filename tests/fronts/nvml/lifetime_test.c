/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifetime_test.c - checks init and shutdown, threads, fork, dlclose, and
 * invalid handles.
 */
#include "fronts/nvml/nvml_test.h"
#include "machine/file/file.h"

#include <stdatomic.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static nvmlReturn_t count_now(void)
{
	unsigned n;

	return NV(nvmlDeviceGetCount_v2)(&n);
}

static void init_is_counted(void **state)
{
	(void)state;
	assert_nvml(NV(nvmlShutdown)(), ERROR_UNINITIALIZED);
	assert_nvml(NV(nvmlInit)(), SUCCESS);
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	assert_nvml(NV(nvmlInitWithFlags)(0), SUCCESS);
	assert_nvml(NV(nvmlShutdown)(), SUCCESS);
	assert_nvml(NV(nvmlShutdown)(), SUCCESS);
	assert_nvml(count_now(), SUCCESS);
	assert_nvml(NV(nvmlShutdown)(), SUCCESS);
	assert_nvml(count_now(), ERROR_UNINITIALIZED);
	assert_nvml(NV(nvmlShutdown)(), ERROR_UNINITIALIZED);
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	assert_nvml(count_now(), SUCCESS);
	assert_nvml(NV(nvmlInitWithFlags)(1u << 31), ERROR_INVALID_ARGUMENT);
}

static void handle_outlives_shutdown(void **state)
{
	nvmlDevice_t device = device_at(1);
	unsigned index = 9;

	(void)state;
	NV(nvmlShutdown)();
	assert_nvml(NV(nvmlDeviceGetIndex)(device, &index),
		    ERROR_UNINITIALIZED);
	assert_int_equal(index, 9);
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetIndex)(device, &index), SUCCESS);
	assert_int_equal(index, 1);
}

static void cuda_version_before_init(void **state)
{
	struct fixture *fx = *state;
	int version = 0;

	assert_nvml(NV(nvmlSystemGetCudaDriverVersion)(&version), SUCCESS);
	assert_int_equal(version, fx->file->cuda_version);
	assert_nvml(count_now(), ERROR_UNINITIALIZED);
}

/* Each way in which a machine can be missing has its own error. */
static void init_tells_why_not(void **state)
{
	struct fixture *fx = *state;
	char path[128];
	int fd;

	setenv("GPUKIT_MACHINE", "/nowhere/at/all", 1);
	assert_nvml(NV(nvmlInit_v2)(), ERROR_DRIVER_NOT_LOADED);
	assert_nvml(count_now(), ERROR_UNINITIALIZED);
	snprintf(path, sizeof(path), "%s/other", fx->dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "no machine", 10), 10);
	close(fd);
	setenv("GPUKIT_MACHINE", path, 1);
	assert_nvml(NV(nvmlInit_v2)(), ERROR_DRIVER_NOT_LOADED);
	unlink(path);
	fx->file->version++;
	setenv("GPUKIT_MACHINE", fx->path, 1);
	assert_nvml(NV(nvmlInit_v2)(), ERROR_LIB_RM_VERSION_MISMATCH);
	fx->file->version--;
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
}

/* The next init sees a new machine under the old path. */
static void init_follows_the_path(void **state)
{
	struct fixture *fx = *state, other = {0};
	unsigned n;

	fixture_open(&other, 5);
	assert_int_equal(rename(other.path, fx->path), 0);
	setenv("GPUKIT_MACHINE", fx->path, 1);
	NV(nvmlDeviceGetCount_v2)(&n);
	assert_int_equal(n, 2);
	NV(nvmlShutdown)();
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	NV(nvmlDeviceGetCount_v2)(&n);
	assert_int_equal(n, 5);
	fixture_close(&other);
}

static void bad_handles(void **state)
{
	uintptr_t base = (uintptr_t)device_at(0);
	size_t step = (uintptr_t)device_at(1) - base;
	int here;
	const uintptr_t bad[] = {
	    0,
	    1,
	    8,
	    UINTPTR_MAX,
	    base + 1,
	    base - 1,
	    base - step,
	    base + step / 2,
	    base + 2 * step, /* in the table, but no such device */
	    base + 64 * step,
	    (uintptr_t)&here,
	};
	unsigned index = 77;
	char name[96];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		nvmlDevice_t device = (nvmlDevice_t)bad[i];

		assert_nvml(NV(nvmlDeviceGetIndex)(device, &index),
			    ERROR_INVALID_ARGUMENT);
		assert_nvml(NV(nvmlDeviceGetName)(device, name, 96),
			    ERROR_INVALID_ARGUMENT);
	}
	assert_int_equal(index, 77);
	/* A handle can be dereferenced, as some clients do. */
	assert_int_equal(*(volatile char *)device_at(1), 0);
}

static void *init_and_ask(void *arg)
{
	nvmlReturn_t *ret = arg;
	nvmlMemory_t memory;

	*ret = NVML_SUCCESS;
	for (int i = 0; i < 2000 && !*ret; i++) {
		*ret = NV(nvmlInit_v2)();
		if (!*ret)
			*ret =
			    NV(nvmlDeviceGetMemoryInfo)(device_at(0), &memory);
		if (!*ret)
			*ret = NV(nvmlShutdown)();
	}
	return NULL;
}

static void threads(void **state)
{
	pthread_t thread[8];
	nvmlReturn_t results[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(
		    pthread_create(&thread[i], NULL, init_and_ask, &results[i]),
		    0);
	for (int i = 0; i < 8; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(results[i], NVML_SUCCESS);
	}
	assert_nvml(count_now(), ERROR_UNINITIALIZED);
}

static _Atomic bool stop;

/*
 * Makes calls while NVML is initialised and shut down; either result is
 * correct, a crash is not.
 */
static void *ask_always(void *arg)
{
	unsigned *wrong = arg, n;
	nvmlReturn_t r;

	while (!stop) {
		r = NV(nvmlDeviceGetCount_v2)(&n);
		*wrong += r != NVML_SUCCESS && r != NVML_ERROR_UNINITIALIZED;
	}
	return NULL;
}

static void shutdown_under_a_caller(void **state)
{
	pthread_t thread;
	unsigned wrong = 0;

	(void)state;
	stop = false;
	pthread_create(&thread, NULL, ask_always, &wrong);
	for (int i = 0; i < 3000; i++) {
		assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
		assert_nvml(NV(nvmlShutdown)(), SUCCESS);
	}
	stop = true;
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
}

/* A child continues with what it has, and may shut down and start again. */
static int use_in_child(void)
{
	unsigned util_period, n;

	if (NV(nvmlDeviceGetCount_v2)(&n) != NVML_SUCCESS || n != 2)
		return 1;
	if (NV(nvmlDeviceGetDecoderUtilization)(device_at(1), &n, &util_period))
		return 2;
	if (NV(nvmlShutdown)() || NV(nvmlInit_v2)())
		return 3;
	return count_now() == NVML_SUCCESS ? 0 : 4;
}

/* Forks while another thread is within init and shutdown. */
static void *init_always(void *arg)
{
	while (!stop) {
		NV(nvmlInit_v2)();
		NV(nvmlShutdown)();
	}
	return arg;
}

static void fork_in_a_thread_storm(void **state)
{
	pthread_t thread;
	int status;

	(void)state;
	stop = false;
	pthread_create(&thread, NULL, init_always, NULL);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			alarm(10); /* a lock left behind ends here */
			_exit(use_in_child());
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	stop = true;
	pthread_join(thread, NULL);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned n = 0;
	int c;

	while ((c = getc(maps)) != EOF)
		n += c == '\n';
	fclose(maps);
	return n;
}

static void load_once(void)
{
	front_load();
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	device_at(0);
	dlclose(front_library);
}

/* It stays loaded, so that no caller loses its code; nothing may pile up. */
static void load_and_unload_1000_times(void **state)
{
	unsigned files, maps;

	(void)state;
	for (int i = 0; i < 3; i++)
		load_once();
	files = open_files();
	maps = mappings();
	for (int i = 0; i < 1000; i++)
		load_once();
	assert_int_equal(open_files(), files);
	/*
	 * A leak would be one for each load; the allocator may take a few
	 * itself.
	 */
	assert_in_range(mappings(), 0, maps + 10);
	front_load();
}

static void *ask_for_ever(void *handle)
{
	nvmlMemory_t memory;

	for (;;)
		NV(nvmlDeviceGetMemoryInfo)(handle, &memory);
	return NULL;
}

/* Daemon threads of Python still make calls while the process exits. */
static void exit_under_a_caller(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			pthread_t thread;

			NV(nvmlInit_v2)();
			pthread_create(&thread, NULL, ask_for_ever,
				       device_at(0));
			exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST_BEFORE_INIT(init_is_counted),
	    FRONT_TEST(handle_outlives_shutdown),
	    FRONT_TEST_BEFORE_INIT(cuda_version_before_init),
	    FRONT_TEST_BEFORE_INIT(init_tells_why_not),
	    FRONT_TEST(init_follows_the_path),
	    FRONT_TEST(bad_handles),
	    FRONT_TEST_BEFORE_INIT(threads),
	    FRONT_TEST_BEFORE_INIT(shutdown_under_a_caller),
	    FRONT_TEST(fork_in_a_thread_storm),
	    FRONT_TEST_BEFORE_INIT(exit_under_a_caller),
	    FRONT_TEST_BEFORE_INIT(load_and_unload_1000_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
