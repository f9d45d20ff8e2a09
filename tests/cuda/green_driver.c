/* SPDX-License-Identifier: Apache-2.0 */
/*
 * green_driver.c - checks green contexts: parts of a GPU's SMs, and kernels
 * that use no others.
 */
#include "driver.h"

#define BLOCKS  2000
#define SMS_MAX 1024

static const char text[] = ".version 7.0\n"
			   ".target sm_75\n"
			   ".address_size 64\n"
			   ".visible .entry where(.param .u64 to)\n"
			   "{\n"
			   ".reg .b32 %r<3>;\n"
			   ".reg .b64 %d<4>;\n"
			   "ld.param.u64 %d1, [to];\n"
			   "cvta.to.global.u64 %d1, %d1;\n"
			   "mov.u32 %r1, %ctaid.x;\n"
			   "mul.wide.u32 %d2, %r1, 4;\n"
			   "add.s64 %d3, %d1, %d2;\n"
			   "mov.u32 %r2, %smid;\n"
			   "st.global.u32 [%d3], %r2;\n"
			   "ret;\n"
			   "}\n";

static CUdevice device;
static CUkernel where;

static unsigned sms_of(const CUdevResource *resource)
{
	EQUAL(resource->type, CU_DEV_RESOURCE_TYPE_SM);
	return resource->sm.smCount;
}

static CUgreenCtx green_of(CUdevResource *resources, unsigned count)
{
	CUdevResourceDesc desc;
	CUgreenCtx green;

	OK(cuDevResourceGenerateDesc(&desc, resources, count));
	OK(cuGreenCtxCreate(&green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
	return green;
}

/* Runs blocks in a stream and marks the SMs that they ran on. */
static unsigned mark_sms(CUstream stream, char seen[SMS_MAX])
{
	static unsigned host[BLOCKS];
	void *params[1];
	CUdeviceptr to;
	unsigned n = 0;

	OK(cuMemAlloc(&to, sizeof host));
	params[0] = &to;
	OK(cuLaunchKernel((CUfunction)where, BLOCKS, 1, 1, 32, 1, 1, 0, stream,
			  params, NULL));
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH(host, to, sizeof host));
	OK(cuMemFree(to));
	memset(seen, 0, SMS_MAX);
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (host[i] >= SMS_MAX)
			WRONG("SM %u", host[i]);
		n += !seen[host[i]];
		seen[host[i]] = 1;
	}
	return n;
}

static void check_parts(CUdevResource part[2], unsigned each)
{
	char seen[2][SMS_MAX];
	CUcontext primary, of, now;
	CUgreenCtx green[2], found;
	CUdevResource resource;
	CUstream stream[2];
	CUevent event;

	OK(cuCtxGetCurrent(&primary));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (int i = 0; i < 2; i++) {
		green[i] = green_of(&part[i], 1);
		OK(cuGreenCtxGetDevResource(green[i], &resource,
					    CU_DEV_RESOURCE_TYPE_SM));
		EQUAL(sms_of(&resource), each);
		EXPECT(cuGreenCtxStreamCreate(&stream[i], green[i],
					      CU_STREAM_DEFAULT, 0),
		       CUDA_ERROR_INVALID_VALUE);
		OK(cuGreenCtxStreamCreate(&stream[i], green[i],
					  CU_STREAM_NON_BLOCKING, 0));
		OK(cuStreamGetGreenCtx(stream[i], &found));
		EQUAL(found == green[i], 1);
		OK(cuStreamGetCtx_v2(stream[i], &of, &found));
		EQUAL(of == primary, 1);
		EQUAL(found == green[i], 1);
		/* The primary context stays current. */
		if (mark_sms(stream[i], seen[i]) > each)
			WRONG("blocks ran on more than %u SMs", each);
	}
	for (unsigned i = 0; i < SMS_MAX; i++)
		if (seen[0][i] && seen[1][i])
			WRONG("SM %u is in two parts", i);
	OK(cuGreenCtxRecordEvent(green[0], event));
	OK(cuGreenCtxWaitEvent(green[1], event));

	OK(cuCtxFromGreenCtx(&of, green[1]));
	OK(cuCtxPushCurrent(of));
	if (mark_sms(NULL, seen[0]) > each)
		WRONG("the default stream has more than %u SMs", each);
	OK(cuStreamGetGreenCtx(NULL, &found));
	EQUAL(found == green[1], 1);
	OK(cuCtxGetDevResource(of, &resource, CU_DEV_RESOURCE_TYPE_SM));
	EQUAL(sms_of(&resource), each);
	OK(cuCtxPopCurrent(&now));
	EQUAL(now == of, 1);
	OK(cuStreamGetGreenCtx(NULL, &found));
	EQUAL(found == NULL, 1);
	OK(cuCtxSynchronize());
	for (int i = 0; i < 2; i++) {
		OK(cuStreamDestroy(stream[i]));
		OK(cuGreenCtxDestroy(green[i]));
	}
	OK(cuEventDestroy(event));
}

int main(void)
{
	CUdevResource all, again, part[2], rest;
	CUdevResourceDesc desc;
	CUgreenCtx both;
	CUlibrary library;
	unsigned groups = 0, wanted = 2, each, most;
	int sms, driver;
	size_t before, after, total;

	OK(cuDriverGetVersion(&driver));
	if (driver < 12050)
		skip("the driver has no green contexts");
	device = start();
	OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&where, library, "where"));

	OK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
	OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
				device));
	EQUAL(sms_of(&all), (unsigned)sms);
	EXPECT(cuDeviceGetDevResource(device, &again,
				      CU_DEV_RESOURCE_TYPE_INVALID),
	       CUDA_ERROR_INVALID_RESOURCE_TYPE);
	if (sms < 16)
		skip("too few SMs for parts");

	/* As many parts as possible, then two. */
	OK(cuDevSmResourceSplitByCount(NULL, &groups, &all, NULL, 0, 8));
	if (groups < 2 || groups > (unsigned)sms / 8)
		WRONG("%u groups of 8 SMs of %d", groups, sms);
	most = groups;
	OK(cuDevSmResourceSplitByCount(part, &wanted, &all, &rest, 0, 8));
	EQUAL(wanted, 2u);
	each = sms_of(&part[0]);
	EQUAL(sms_of(&part[1]), each);
	EQUAL(most * each <= (unsigned)sms, 1);
	if (each < 8 || each % all.sm.smCoscheduledAlignment)
		WRONG("parts of %u SMs", each);
	EQUAL(2 * each +
		  (rest.type == CU_DEV_RESOURCE_TYPE_SM ? sms_of(&rest) : 0),
	      (unsigned)sms);
	EXPECT(cuDevSmResourceSplitByCount(part, &wanted, &all, NULL, 0,
					   (unsigned)sms + 1),
	       CUDA_ERROR_INVALID_VALUE);

	OK(cuMemGetInfo(&before, &total));
	check_parts(part, each);
	check_parts(part, each);
	OK(cuMemGetInfo(&after, &total));
	if (after > before)
		WRONG("green contexts gave memory: %zu, %zu", before, after);

	/* Parts of one split can be combined, others cannot. */
	both = green_of(part, 2);
	OK(cuGreenCtxGetDevResource(both, &again, CU_DEV_RESOURCE_TYPE_SM));
	EQUAL(sms_of(&again), 2 * each);
	OK(cuGreenCtxDestroy(both));
	OK(cuDeviceGetDevResource(device, &again, CU_DEV_RESOURCE_TYPE_SM));
	part[1] = again;
	EXPECT(cuDevResourceGenerateDesc(&desc, part, 2),
	       CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
	return 0;
}
