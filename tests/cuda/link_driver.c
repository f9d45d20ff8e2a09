/* The driver's linker: what comes of one text is a module like another. */
#include "driver.h"

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
	return 0;
}
