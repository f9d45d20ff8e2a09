/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_launch.c - launches kernels by cudaLaunchKernel: every launch
 * does its work, in order.
 */
#include "limit/known/runtime.h"

#define COUNT    4096
#define LAUNCHES 200

/* values[i] = values[i] * 3 + i */
static const char code[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry step(.param .u64 values, .param .u32 count)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"
    "mad.lo.s32 %r3, %r0, %r1, %r2;\nld.param.u32 %r4, [count];\n"
    "setp.ge.u32 %p, %r3, %r4;\n@%p bra done;\n"
    "ld.param.u64 %rd0, [values];\ncvta.to.global.u64 %rd1, %rd0;\n"
    "mul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [%rd3];\nmad.lo.s32 %r5, %r5, 3, %r3;\n"
    "st.global.u32 [%rd3], %r5;\ndone:\nret;\n}\n";

static void expect(const unsigned *found, unsigned launches)
{
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned value = 1;

		for (unsigned k = 0; k < launches; k++)
			value = value * 3 + i;
		EQUAL(found[i], value);
	}
}

int main(int argc, char **argv)
{
	static unsigned host[COUNT];
	size_t before = 0;
	unsigned count = COUNT;
	cudaLibrary_t library;
	cudaKernel_t step;
	void *values, *args[] = {&values, &count};
	const dim3 grid = {COUNT / 256, 1, 1}, block = {256, 1, 1};

	start();
	OK(cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&step, library, "step"));
	before = room_under(known_limit(argc, argv));
	for (unsigned i = 0; i < COUNT; i++)
		host[i] = 1;
	OK(cudaMalloc(&values, sizeof host));
	OK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
	for (unsigned i = 0; i < LAUNCHES; i++)
		OK(cudaLaunchKernel((const void *)step, grid, block, args, 0,
				    NULL));
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
	expect(host, LAUNCHES);
	OK(cudaFree(values));
	room_is(before);
	OK(cudaLibraryUnload(library));
	return 0;
}
