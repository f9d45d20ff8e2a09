/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie.c - reports PCIe throughput and lane speed.
 */
#include "fronts/nvml/front.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/value.h"

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device,
					 nvmlPcieUtilCounter_t counter,
					 unsigned int *value_kib)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetPcieThroughput, device,
		     value_kib && (unsigned)counter < NVML_PCIE_UTIL_COUNT);
	if (!read_device_value(&c,
			       counter == NVML_PCIE_UTIL_TX_BYTES
				   ? GKF_V_PCIE_TX
				   : GKF_V_PCIE_RX,
			       &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*value_kib = (unsigned)v;
	return NVML_SUCCESS;
}

/* Mbit/s of one lane in each generation; source: PCI Express Base 6. */
nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device,
				    unsigned int *pcieSpeed)
{
	static const unsigned mbps[] = {0,     2500,  5000, 8000,
					16000, 32000, 64000};
	int64_t gen;

	ENTER_DEVICE(nvmlDeviceGetPcieSpeed, device, pcieSpeed != NULL);
	if (!read_device_value(&c, GKF_V_PCIE_GEN, &gen) || gen < 1 ||
	    gen >= (int64_t)(sizeof(mbps) / sizeof(*mbps)))
		return NVML_ERROR_NOT_SUPPORTED;
	*pcieSpeed = mbps[gen];
	return NVML_SUCCESS;
}

/* The speeds of NVML are numbered like the generations of PCIe. */
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device,
					   unsigned int *maxSpeed)
{
	ENTER_DEVICE(nvmlDeviceGetPcieLinkMaxSpeed, device, maxSpeed != NULL);
	if (c.board->profile.pcie_gen < 1)
		return NVML_ERROR_NOT_SUPPORTED;
	*maxSpeed = (unsigned)c.board->profile.pcie_gen;
	return NVML_SUCCESS;
}
