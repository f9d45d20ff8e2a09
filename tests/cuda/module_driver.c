/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_driver.c - checks modules: what they contain, what they lack, and
 * invalid PTX.
 */
#include "driver.h"

static void variables(CUmodule module)
{
	int table[16], host[16], value = -1;
	CUfunction lookup = kernel(module, "lookup");
	CUdeviceptr counter, constants, to;
	void *params[] = {&to};
	size_t size;

	OK(cuModuleGetGlobal(&counter, &size, module, "counter"));
	EQUAL(size, sizeof(int));
	OK(cuMemcpyDtoH(&value, counter, sizeof value));
	EQUAL(value, 5);
	OK(cuModuleGetGlobal(&constants, &size, module, "table"));
	EQUAL(size, sizeof table);
	for (int i = 0; i < 16; i++)
		table[i] = i * i;
	OK(cuMemcpyHtoD(constants, table, sizeof table));
	value = 1000;
	OK(cuMemcpyHtoD(counter, &value, sizeof value));
	OK(cuMemAlloc(&to, sizeof host));
	OK(cuLaunchKernel(lookup, 1, 1, 1, 16, 1, 1, 0, NULL, params, NULL));
	OK(cuMemcpyDtoH(host, to, sizeof host));
	for (int i = 0; i < 16; i++)
		EQUAL(host[i], 1000 + i * i);
	OK(cuMemFree(to));
	EXPECT(cuModuleGetGlobal(&counter, &size, module, "no_such"),
	       CUDA_ERROR_NOT_FOUND);
}

static void functions(CUmodule module)
{
	CUfunction function;
	int value = -1;

	EXPECT(cuModuleGetFunction(&function, module, "no_such"),
	       CUDA_ERROR_NOT_FOUND);
	OK(cuModuleGetFunction(&function, module, "add"));
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
			      function));
	EQUAL(value, 0);
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
	EQUAL(value, 75);
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
			      function));
	REQUIRE(value > 0 && value <= 1024);
}

static void bad_texts(void)
{
	char log[4096] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof log};
	CUmodule module;
	CUresult r = cuModuleLoadData(&module, "this is no PTX");

	REQUIRE(r == CUDA_ERROR_INVALID_IMAGE || r == CUDA_ERROR_INVALID_PTX);
	EXPECT(cuModuleLoadDataEx(&module,
				  ".version 7.0\n.target sm_75\n"
				  ".address_size 64\n"
				  ".visible .entry f( { ret; }",
				  2, options, values),
	       CUDA_ERROR_INVALID_PTX);
	REQUIRE(*log);
	EXPECT(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleLoad(&module, "/no/such/file.ptx"),
	       CUDA_ERROR_FILE_NOT_FOUND);
}

int main(void)
{
	CUmodule module, second;

	start();
	module = kernels();
	OK(cuModuleLoad(&second, KERNELS));
	REQUIRE(module != second);
	variables(module);
	/* Each module has variables of its own. */
	variables(second);
	functions(module);
	bad_texts();
	OK(cuModuleUnload(second));
	OK(cuModuleUnload(module));
	return 0;
}
