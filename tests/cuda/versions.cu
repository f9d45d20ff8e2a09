/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versions.cu - checks versions and device properties that are reported in two
 * ways.
 */
#include "runtime.h"

static int attribute(cudaDeviceAttr which)
{
	int value = -1;

	OK(cudaDeviceGetAttribute(&value, which, 0));
	return value;
}

int main(void)
{
	int runtime = 0, driver = 0, device;
	cudaDeviceProp props;
	size_t free_bytes, total;
	char bus[32];

	OK(cudaRuntimeGetVersion(&runtime));
	OK(cudaDriverGetVersion(&driver));
	EQUAL(runtime / 1000, CUDART_VERSION / 1000);
	REQUIRE(driver >= runtime / 1000 * 1000);

	OK(cudaGetDeviceProperties(&props, 0));
	REQUIRE(*props.name);
	EQUAL(props.major, attribute(cudaDevAttrComputeCapabilityMajor));
	EQUAL(props.minor, attribute(cudaDevAttrComputeCapabilityMinor));
	EQUAL(props.multiProcessorCount,
	      attribute(cudaDevAttrMultiProcessorCount));
	EQUAL(props.maxThreadsPerBlock,
	      attribute(cudaDevAttrMaxThreadsPerBlock));
	EQUAL(props.maxThreadsPerMultiProcessor,
	      attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
	EQUAL(props.sharedMemPerBlock,
	      attribute(cudaDevAttrMaxSharedMemoryPerBlock));
	EQUAL(props.l2CacheSize, attribute(cudaDevAttrL2CacheSize));
	EQUAL(props.warpSize, 32);
	EQUAL(attribute(cudaDevAttrWarpSize), 32);
	EQUAL(props.maxGridSize[0], attribute(cudaDevAttrMaxGridDimX));
	EQUAL(props.maxThreadsDim[2], attribute(cudaDevAttrMaxBlockDimZ));
	EQUAL(props.pciBusID, attribute(cudaDevAttrPciBusId));

	OK(cudaMemGetInfo(&free_bytes, &total));
	EQUAL(props.totalGlobalMem, total);
	REQUIRE(free_bytes <= total);
	OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
	EQUAL(strtol(strchr(bus, ':') + 1, NULL, 16), props.pciBusID);
	OK(cudaDeviceGetByPCIBusId(&device, bus));
	EQUAL(device, 0);
	OK(cudaGetDevice(&device));
	EQUAL(device, 0);
	return 0;
}
