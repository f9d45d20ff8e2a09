/* SPDX-License-Identifier: Apache-2.0 */
/* error_test.c - checks names and texts of CUDA result codes, before cuInit. */
#define CUDA_DRIVER "610.57.04"
#define CUDA_FRONT  FAKE_DIR "/610/libcuda.so.1"
#include "fronts/cuda/cuda_test.h"

static const struct row {
	CUresult code;
	const char *name;
} rows[] = {
#define CUDA_ERROR(name, value, text) {name, #name},
#include "abi/cuda/cuda_error.def"
#undef CUDA_ERROR
};
#define ROWS (sizeof rows / sizeof *rows)

/* Texts that programs print and compare. */
static const struct {
	CUresult code;
	const char *text;
} texts[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

static void every_code_has_its_name(void **state)
{
	(void)state;
	assert_true(ROWS > 100);
	for (size_t i = 0; i < ROWS; i++) {
		const char *name = NULL, *text = NULL;

		assert_cuda(CU(cuGetErrorName)(rows[i].code, &name), SUCCESS);
		assert_string_equal(name, rows[i].name);
		assert_cuda(CU(cuGetErrorString)(rows[i].code, &text), SUCCESS);
		assert_true(strlen(text) > 5);
	}
}

static void a_driver_knows_those_of_its_time(void **state)
{
	static const struct {
		const char *driver;
		CUresult detached, recapture;
	} told[] = {
	    {"580", CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
	    {"590", CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE},
	    {"610", CUDA_SUCCESS, CUDA_SUCCESS},
	};
	void *usual = cuda_library;
	const char *name;
	char path[512];

	(void)state;
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		snprintf(path, sizeof path, FAKE_DIR "/%s/libcuda.so.1",
			 told[i].driver);
		cuda_load(path);
		assert_int_equal(
		    CU(cuGetErrorName)(CUDA_ERROR_STREAM_DETACHED, &name),
		    told[i].detached);
		assert_int_equal(CU(cuGetErrorName)(
				     CUDA_ERROR_GRAPH_RECAPTURE_FAILURE, &name),
				 told[i].recapture);
	}
	cuda_library = usual;
}

static void texts_are_the_known_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *text = NULL;

		assert_cuda(CU(cuGetErrorString)(texts[i].code, &text),
			    SUCCESS);
		assert_string_equal(text, texts[i].text);
	}
}

static void what_is_no_code_has_none(void **state)
{
	static const int codes[] = {-1, 9, 99, 998, 1000, INT32_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		const char *name = "", *text = "";

		assert_cuda(CU(cuGetErrorName)((CUresult)codes[i], &name),
			    ERROR_INVALID_VALUE);
		assert_null(name);
		assert_cuda(CU(cuGetErrorString)((CUresult)codes[i], &text),
			    ERROR_INVALID_VALUE);
		assert_null(text);
	}
	assert_cuda(CU(cuGetErrorName)(CUDA_SUCCESS, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGetErrorString)(CUDA_SUCCESS, NULL),
		    ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_code_has_its_name),
	    cmocka_unit_test(a_driver_knows_those_of_its_time),
	    cmocka_unit_test(texts_are_the_known_ones),
	    cmocka_unit_test(what_is_no_code_has_none),
	};

	return cmocka_run_group_tests(tests, cuda_setup, cuda_teardown);
}
