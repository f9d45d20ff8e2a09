/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_test.c - calls every function of NVML without arguments: before
 * nvmlInit, after it, and without output on stdout or stderr. The newest driver
 * has them all.
 */
#define FRONT_DRIVER "610.57.04"
#define FRONT        FAKE_DIR "/610/libnvidia-ml.so.1"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/file.h"

#include <fcntl.h>

/* Arguments are passed in registers on every ABI that we build for. */
typedef nvmlReturn_t any_fn(long, long, long, long, long, long);

static const struct row {
	const char *name;
} rows[] = {
#define NVML(symbol, ...) {#symbol},
#include "abi/nvml/nvml.def"
#undef NVML
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static nvmlReturn_t call_with_nothing(const struct row *row)
{
	return ((any_fn *)front_symbol(row->name))(0, 0, 0, 0, 0, 0);
}

static bool one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static const char *const lifetime[] = {
    "nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown", NULL};

/* They need no nvmlInit and complain about the missing argument. */
static const char *const always[] = {"nvmlSystemGetCudaDriverVersion",
				     "nvmlSystemGetCudaDriverVersion_v2", NULL};

static void uninitialized_before_init(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		nvmlReturn_t want = one_of(rows[i].name, always)
					? NVML_ERROR_INVALID_ARGUMENT
					: NVML_ERROR_UNINITIALIZED;

		if (one_of(rows[i].name, lifetime))
			continue;
		if (call_with_nothing(&rows[i]) != want)
			fail_msg("%s", rows[i].name);
	}
}

static void error_after_init(void **state)
{
	nvmlReturn_t r;

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		if (one_of(rows[i].name, lifetime))
			continue;
		r = call_with_nothing(&rows[i]);
		if (r != NVML_ERROR_INVALID_ARGUMENT &&
		    r != NVML_ERROR_NOT_SUPPORTED)
			fail_msg("%s: %d", rows[i].name, (int)r);
	}
}

/* An unimplemented function is refused, and the machine counts that. */
static void refusals_are_counted(void **state)
{
	struct fixture *fx = *state;
	uint64_t refused = 0, calls = 0;

	assert_nvml(NV(nvmlDeviceReadWritePRM_v1)(device_at(0), NULL),
		    ERROR_NOT_SUPPORTED);
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t n =
		    strcmp(rows[i].name, "nvmlDeviceReadWritePRM_v1") ? 0 : 1;

		assert_int_equal(fx->file->refused[i], n);
		refused += fx->file->refused[i];
		calls += fx->file->calls[i];
	}
	assert_int_equal(refused, 1);
	assert_int_equal(calls, 3); /* nvmlInit_v2, the handle, this one */
}

static void error_string_for_any_number(void **state)
{
	(void)state;
	for (int i = -5; i < 1100; i++)
		assert_non_null(NV(nvmlErrorString)((nvmlReturn_t)i));
	assert_string_equal(NV(nvmlErrorString)(NVML_ERROR_NOT_SUPPORTED),
			    "Not Supported");
	assert_string_equal(NV(nvmlErrorString)((nvmlReturn_t)12345),
			    "Unknown Error");
}

/*
 * Makes the usual calls with both output streams in a file, which must stay
 * empty.
 */
static void prints_nothing(void **state)
{
	struct fixture *fx = *state;
	char path[128];
	pid_t pid;
	int status;

	snprintf(path, sizeof(path), "%s/said", fx->dir);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int fd = open(path, O_CREAT | O_RDWR, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		for (size_t i = 0; i < ROWS; i++)
			if (!one_of(rows[i].name, lifetime))
				call_with_nothing(&rows[i]);
		setenv("GPUKIT_MACHINE", "/nowhere/at/all", 1);
		NV(nvmlShutdown)();
		NV(nvmlInit_v2)();
		_exit(lseek(fd, 0, SEEK_END) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST_BEFORE_INIT(uninitialized_before_init),
	    FRONT_TEST(error_after_init),
	    FRONT_TEST(refusals_are_counted),
	    FRONT_TEST_BEFORE_INIT(error_string_for_any_number),
	    FRONT_TEST(prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
