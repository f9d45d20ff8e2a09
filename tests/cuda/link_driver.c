/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_driver.c - checks the driver's linker: one text, or several that call
 * each other, become an ordinary module.
 */
#include "driver.h"

#define HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"

static char calls[] =
    HEAD ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
	 ".extern .global .align 4 .u32 more;\n"
	 ".visible .entry work(.param .u64 at)\n"
	 "{\n"
	 "	.reg .b32 %r<4>;\n"
	 "	.reg .b64 %rd<3>;\n"
	 "	ld.param.u64 %rd1, [at];\n"
	 "	cvta.to.global.u64 %rd2, %rd1;\n"
	 "	ld.global.u32 %r1, [%rd2];\n"
	 "	{\n"
	 "	.param .b32 p0;\n"
	 "	.param .b32 p1;\n"
	 "	st.param.b32 [p0], %r1;\n"
	 "	call.uni (p1), twice, (p0);\n"
	 "	ld.param.b32 %r2, [p1];\n"
	 "	}\n"
	 "	ld.global.u32 %r3, [more];\n"
	 "	add.u32 %r2, %r2, %r3;\n"
	 "	st.global.u32 [%rd2], %r2;\n"
	 "	ret;\n"
	 "}\n";

static char called[] =
    HEAD ".visible .global .align 4 .u32 more = 5;\n"
	 ".visible .func (.param .b32 r) twice (.param .b32 x)\n"
	 "{\n"
	 "	.reg .b32 %r<3>;\n"
	 "	ld.param.b32 %r1, [x];\n"
	 "	add.u32 %r2, %r1, %r1;\n"
	 "	st.param.b32 [r], %r2;\n"
	 "	ret;\n"
	 "}\n";

static CUresult add(CUlinkState link, char *text, const char *name)
{
	return cuLinkAddData(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1,
			     name, 0, NULL, NULL);
}

/* The image is copied, as by programs that keep it in a file. */
static void two_texts(void)
{
	void *image, *copy, *params[1];
	unsigned value = 30;
	CUlinkState link;
	CUmodule module;
	CUdeviceptr at;
	size_t size;

	OK(cuLinkCreate(0, NULL, NULL, &link));
	OK(add(link, calls, "calls"));
	OK(add(link, called, "called"));
	OK(cuLinkComplete(link, &image, &size));
	copy = malloc(size);
	REQUIRE(copy);
	memcpy(copy, image, size);
	OK(cuLinkDestroy(link));
	OK(cuModuleLoadData(&module, copy));
	free(copy);

	OK(cuMemAlloc(&at, sizeof value));
	OK(cuMemcpyHtoD(at, &value, sizeof value));
	params[0] = &at;
	OK(cuLaunchKernel(kernel(module, "work"), 1, 1, 1, 1, 1, 1, 0, NULL,
			  params, NULL));
	OK(cuMemcpyDtoH(&value, at, sizeof value));
	EQUAL(value, 65);
	OK(cuMemFree(at));
	OK(cuModuleUnload(module));
}

/* A missing variable is reported when everything is linked. */
static void one_is_missing(void)
{
	static char other[] = HEAD ".visible .global .u32 another;\n";
	char log[4096] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof log}, *image;
	CUlinkState link;
	size_t size;

	OK(cuLinkCreate(2, options, values, &link));
	OK(add(link, calls, "calls"));
	OK(add(link, other, "other"));
	REQUIRE(cuLinkComplete(link, &image, &size) != CUDA_SUCCESS);
	REQUIRE(strstr(log, "more") || strstr(log, "twice"));
	OK(cuLinkDestroy(link));
}

int main(void)
{
	char log[4096] = "", *text;
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof log}, *image = NULL, *params[3];
	int host[100] = {0}, value = 6, n = 100;
	CUlinkState link;
	CUmodule module;
	CUdeviceptr at;
	size_t size = 0;

	start();
	text = kernels_text();
	OK(cuLinkCreate(2, options, values, &link));
	EXPECT(
	    cuLinkAddData(link, CU_JIT_INPUT_PTX, NULL, 0, "", 0, NULL, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1,
			 "kernels", 0, NULL, NULL));
	OK(cuLinkComplete(link, &image, &size));
	REQUIRE(image && size);
	OK(cuModuleLoadData(&module, image));
	OK(cuLinkDestroy(link));
	free(text);

	OK(cuMemAlloc(&at, sizeof host));
	params[0] = &at;
	params[1] = &value;
	params[2] = &n;
	OK(cuLaunchKernel(kernel(module, "fill"), 4, 1, 1, 32, 1, 1, 0, NULL,
			  params, NULL));
	OK(cuMemcpyDtoH(host, at, sizeof host));
	for (int i = 0; i < 100; i++)
		EQUAL(host[i], 6);
	OK(cuMemFree(at));
	OK(cuModuleUnload(module));

	OK(cuLinkCreate(2, options, values, &link));
	REQUIRE(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no/such/file", 0, NULL,
			      NULL) == CUDA_ERROR_FILE_NOT_FOUND);
	OK(cuLinkDestroy(link));

	two_texts();
	one_is_missing();
	return 0;
}
