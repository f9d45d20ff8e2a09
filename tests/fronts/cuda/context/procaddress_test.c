/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procaddress_test.c - checks cuGetProcAddress by name, version, stream variant
 * and driver generation, against the table and dlsym(); and cuGetExportTable.
 */
#include "fronts/cuda/cuda_test.h"

#include <pthread.h>

#define DEFAULT    CU_GET_PROC_ADDRESS_DEFAULT
#define LEGACY     CU_GET_PROC_ADDRESS_LEGACY_STREAM
#define PER_THREAD CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#define FOUND      CU_GET_PROC_ADDRESS_SUCCESS
#define NO_NAME    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
#define TOO_OLD    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT

/* The rows again, read without the library. */
static const struct row {
	const char *symbol, *base, *stream;
	int since;
} rows[] = {
#define CUDA_SYMBOL(symbol, base, since, stream, ...)                          \
	{#symbol, #base, #stream, since},
#include "abi/cuda/cuda_symbols.def"
};
#define ROWS (sizeof rows / sizeof *rows)

static bool is_legacy(const struct row *r)
{
	return !strcmp(r->stream, "LEGACY");
}

static void *const nowhere = &cuda_library;

/* Makes one query; the answer must be complete. */
static void *ask(const char *name, int version, uint64_t flags,
		 CUdriverProcAddressQueryResult wanted)
{
	CUdriverProcAddressQueryResult status = 99;
	void *at = nowhere;
	CUresult r =
	    CU(cuGetProcAddress_v2)(name, &at, version, flags, &status);

	assert_int_equal(status, wanted);
	if (wanted == FOUND) {
		assert_cuda(r, SUCCESS);
		assert_non_null(at);
		assert_ptr_not_equal(at, nowhere);
	} else {
		assert_cuda(r, ERROR_NOT_FOUND);
		assert_null(at);
	}
	return at;
}

static void is(const char *name, int version, uint64_t flags,
	       const char *symbol)
{
	assert_ptr_equal(ask(name, version, flags, FOUND), cuda_symbol(symbol));
}

static void the_newest_that_is_no_newer_than_the_caller(void **state)
{
	static const struct {
		int version;
		const char *symbol;
	} created[] = {
	    {2000, "cuCtxCreate"},     {3010, "cuCtxCreate"},
	    {3020, "cuCtxCreate_v2"},  {11030, "cuCtxCreate_v2"},
	    {11040, "cuCtxCreate_v3"}, {12040, "cuCtxCreate_v3"},
	    {12050, "cuCtxCreate_v4"}, {13000, "cuCtxCreate_v4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof created / sizeof *created; i++)
		is("cuCtxCreate", created[i].version, DEFAULT,
		   created[i].symbol);
	is("cuInit", 13000, DEFAULT, "cuInit");
	is("cuGetProcAddress", 11030, DEFAULT, "cuGetProcAddress");
	is("cuGetProcAddress", 12000, DEFAULT, "cuGetProcAddress_v2");
	ask("cuCtxCreate", 1990, DEFAULT, TOO_OLD);
	ask("cuCtxCreate", 0, DEFAULT, TOO_OLD);
	ask("cuGetProcAddress", 11020, DEFAULT, TOO_OLD);
}

static void stream_variants_are_for_those_who_ask(void **state)
{
	(void)state;
	is("cuMemcpyHtoD", 13000, DEFAULT, "cuMemcpyHtoD_v2");
	is("cuMemcpyHtoD", 13000, LEGACY, "cuMemcpyHtoD_v2");
	is("cuMemcpyHtoD", 13000, PER_THREAD, "cuMemcpyHtoD_v2_ptds");
	is("cuMemcpyHtoD", 7000, PER_THREAD, "cuMemcpyHtoD_v2_ptds");
	is("cuMemcpyHtoD", 6050, PER_THREAD, "cuMemcpyHtoD_v2");
	is("cuMemcpyHtoD", 3010, PER_THREAD, "cuMemcpyHtoD");
	is("cuLaunchKernel", 13000, PER_THREAD, "cuLaunchKernel_ptsz");
	is("cuStreamBeginCapture", 10000, PER_THREAD,
	   "cuStreamBeginCapture_ptsz");
	is("cuStreamBeginCapture", 10010, PER_THREAD,
	   "cuStreamBeginCapture_v2_ptsz");
	is("cuMemAlloc", 13000, PER_THREAD, "cuMemAlloc_v2");
}

static void names_are_base_names(void **state)
{
	static const char *const names[] = {
	    "",
	    "cu",
	    "cuInit ",
	    " cuInit",
	    "CUINIT",
	    "cuMemAlloc_v2",
	    "cuMemcpy_ptds",
	    "cuNothing",
	    "cuMemAlloc_v1",
	    "nvmlInit",
	    "front_generation",
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		ask(names[i], 13000, DEFAULT, NO_NAME);
}

static void wrong_arguments(void **state)
{
	static const uint64_t flags[] = {LEGACY | PER_THREAD, 4, 1ULL << 32,
					 UINT64_MAX};
	static const int versions[] = {-1, INT32_MIN, 13010, 99999, INT32_MAX};
	__typeof__(&cuGetProcAddress_v2) get = CU(cuGetProcAddress_v2);
	void *at = nowhere;

	(void)state;
	assert_cuda(get(NULL, &at, 13000, 0, NULL), ERROR_INVALID_VALUE);
	assert_cuda(get("cuInit", NULL, 13000, 0, NULL), ERROR_INVALID_VALUE);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		assert_cuda(get("cuInit", &at, 13000, flags[i], NULL),
			    ERROR_INVALID_VALUE);
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		assert_cuda(get("cuInit", &at, versions[i], 0, NULL),
			    ERROR_INVALID_VALUE);
	assert_ptr_equal(at, nowhere);
}

static void the_old_function_has_no_status(void **state)
{
	__typeof__(&cuGetProcAddress) get = CU(cuGetProcAddress);
	void *at = nowhere;

	(void)state;
	assert_cuda(get("cuMemcpyDtoH", &at, 11030, PER_THREAD), SUCCESS);
	assert_ptr_equal(at, cuda_symbol("cuMemcpyDtoH_v2_ptds"));
	assert_cuda(get("cuNothing", &at, 11030, 0), ERROR_NOT_FOUND);
	assert_null(at);
	at = nowhere;
	assert_cuda(get("cuCtxSynchronize", &at, 1000, 0), ERROR_NOT_FOUND);
	assert_null(at);
	assert_cuda(get("cuInit", NULL, 11030, 0), ERROR_INVALID_VALUE);
	assert_cuda(get("cuInit", &at, 11030, 7), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGetProcAddress_v2)("cuInit", &at, 13000, 0, NULL),
		    SUCCESS);
}

/* Finds the best row by trying all of them. */
static const struct row *best_of(const char *base, int version, int newest,
				 bool per_thread, bool *ret_known)
{
	const struct row *best = NULL;

	*ret_known = false;
	for (const struct row *r = rows; r < rows + ROWS; r++) {
		if (strcmp(r->base, base) || r->since > newest ||
		    (!per_thread && !is_legacy(r)))
			continue;
		*ret_known = true;
		if (r->since <= version &&
		    (!best || r->since > best->since ||
		     (r->since == best->since && !is_legacy(r))))
			best = r;
	}
	return best;
}

/* Asks for every name, at every version and its neighbours, in one library. */
static void ask_for_everything(int newest)
{
	for (const struct row *r = rows; r < rows + ROWS; r++)
		for (int k = 0; k < 8; k++) {
			int version = r->since + (k % 4 - 1) * 10;
			bool per_thread = k >= 4, known;
			const struct row *best;

			if (k % 4 == 3)
				version = newest;
			if (newest >= 13000 && version > newest)
				continue;
			best = best_of(r->base, version, newest, per_thread,
				       &known);
			if (best)
				is(r->base, version,
				   per_thread ? PER_THREAD : LEGACY,
				   best->symbol);
			else
				ask(r->base, version,
				    per_thread ? PER_THREAD : LEGACY,
				    known ? TOO_OLD : NO_NAME);
		}
}

static const struct {
	const char *name;
	int cuda;
} generations[] = {
#define GENERATION(id, name, major, minor, driver, cuda, ...) {name, cuda},
#include "abi/nvml/nvml_generations.def"
#undef GENERATION
};

/* Uses the function that every driver has. */
static void ask_an_old_driver(void)
{
	__typeof__(&cuGetProcAddress) get = CU(cuGetProcAddress);
	void *at = nowhere;

	assert_cuda(get("cuInit", &at, -1, 0), ERROR_INVALID_VALUE);
	assert_ptr_equal(at, nowhere);
	assert_cuda(get("cuCtxSynchronize", &at, 99999, 0), SUCCESS);
	assert_ptr_equal(at, cuda_symbol("cuCtxSynchronize"));
	assert_cuda(get("cuGreenCtxGetId", &at, 99999, 0), ERROR_NOT_FOUND);
	assert_null(at);
}

static void each_generation_knows_its_own(void **state)
{
	void *usual = cuda_library;
	char path[512];

	(void)state;
	for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
		snprintf(path, sizeof path, FAKE_DIR "/%s/libcuda.so.1",
			 generations[i].name);
		cuda_load(path);
		if (generations[i].cuda < 13000)
			ask_an_old_driver();
		/* Before 12.0 there is only the old function. */
		if (generations[i].cuda < 12000)
			assert_null(dlsym(cuda_library, "cuGetProcAddress_v2"));
		else
			ask_for_everything(generations[i].cuda);
	}
	cuda_library = usual;
}

static void *ask_at_once(void *arg)
{
	uintptr_t *failed = arg;

	for (const struct row *r = rows; r < rows + ROWS; r++) {
		void *at = NULL;

		if (r->since > CUDA_VERSION) /* of a later driver */
			continue;
		if (CU(cuGetProcAddress_v2)(r->base, &at, r->since,
					    is_legacy(r) ? LEGACY : PER_THREAD,
					    NULL) ||
		    at != dlsym(cuda_library, r->symbol))
			*failed += 1;
	}
	return NULL;
}

static void threads_ask_at_once(void **state)
{
	uintptr_t failed[8] = {0};
	pthread_t threads[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, ask_at_once, &failed[i]),
		    0);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(failed[i], 0);
	}
}

static void private_tables_are_not_there(void **state)
{
	/* Two that NVIDIA's runtime requests. */
	static const unsigned char uuids[][16] = {
	    {0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb,
	     0x46, 0x9e, 0x7c, 0x0d, 0xd9},
	    {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9,
	     0x39, 0x12, 0xfd, 0x9d, 0xf9},
	    {0},
	};
	const void *table;

	(void)state;
	for (size_t i = 0; i < sizeof uuids / sizeof *uuids; i++) {
		table = nowhere;
		assert_cuda(
		    CU(cuGetExportTable)(&table, (const void *)uuids[i]),
		    ERROR_STUB_LIBRARY);
		assert_null(table);
	}
	assert_cuda(CU(cuGetExportTable)(&table, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGetExportTable)(NULL, (const void *)uuids[0]),
		    ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_ask_at_once),
	    cmocka_unit_test(the_newest_that_is_no_newer_than_the_caller),
	    cmocka_unit_test(stream_variants_are_for_those_who_ask),
	    cmocka_unit_test(names_are_base_names),
	    cmocka_unit_test(wrong_arguments),
	    cmocka_unit_test(the_old_function_has_no_status),
	    cmocka_unit_test(each_generation_knows_its_own),
	    cmocka_unit_test(private_tables_are_not_there),
	};

	return cmocka_run_group_tests(tests, cuda_setup, cuda_teardown);
}
