/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.c - `topo -p2p`: which GPUs can read and write each other's memory. */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <stdio.h>

/* The letter of the option is the index: read, write, NVLink, atomics, PCI. */
static const char kinds[] = "rwnap";

/* By NVML's numbers. */
static const struct {
	const char *word, *legend;
} states[] = {
    [NVML_P2P_STATUS_OK] = {"OK", "Status Ok"},
    [NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED] = {"CNS", "Chipset not supported"},
    [NVML_P2P_STATUS_GPU_NOT_SUPPORTED] = {"GNS", "GPU not supported"},
    [NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED] = {"TNS", "Topology not "
							   "supported"},
    [NVML_P2P_STATUS_DISABLED_BY_REGKEY] = {"DR", "Disabled by regkey"},
    [NVML_P2P_STATUS_NOT_SUPPORTED] = {"NS", "Not supported"},
    [NVML_P2P_STATUS_UNKNOWN] = {"U", "Unknown"},
};

/* The legend has them in an order of its own. */
static const nvmlGpuP2PStatus_t legend[] = {
    NVML_P2P_STATUS_OK,
    NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED,
    NVML_P2P_STATUS_GPU_NOT_SUPPORTED,
    NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED,
    NVML_P2P_STATUS_NOT_SUPPORTED,
    NVML_P2P_STATUS_DISABLED_BY_REGKEY,
    NVML_P2P_STATUS_UNKNOWN,
};

static const char *state_of(const struct smi_gpus *gpus, size_t a, size_t b,
			    nvmlGpuP2PCapsIndex_t kind)
{
	nvmlGpuP2PStatus_t state = NVML_P2P_STATUS_UNKNOWN;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetP2PStatus, gpus->at[a].handle,
		     gpus->at[b].handle, kind, &state);

	if (r || (unsigned)state >= COUNT(states))
		state = NVML_P2P_STATUS_UNKNOWN;
	return states[state].word;
}

static void print_matrix(const struct smi_gpus *gpus,
			 nvmlGpuP2PCapsIndex_t kind)
{
	fputs("\t\033[4m", stdout);
	for (size_t i = 0; i < gpus->count; i++)
		printf("GPU%u\t", gpus->at[i].index);
	puts("\033[0m");
	for (size_t row = 0; row < gpus->count; row++) {
		printf(" GPU%u\t", gpus->at[row].index);
		for (size_t i = 0; i < gpus->count; i++)
			printf("%s\t",
			       i == row ? "X" : state_of(gpus, row, i, kind));
		putchar('\n');
	}
	puts("\nLegend:\n\n  X    = Self");
	for (size_t i = 0; i < COUNT(legend); i++)
		printf("  %-4s = %s\n", states[legend[i]].word,
		       states[legend[i]].legend);
}

int smi_p2p(const struct smi *smi)
{
	const char *kind = strchr(kinds, *smi->value);
	struct smi_gpus gpus;
	int status;

	if (!*smi->value || smi->value[1] || !kind)
		return smi_refuse_arguments();
	status = smi_gpus_open(smi->ids, &gpus);
	if (status)
		return status;
	print_matrix(&gpus, (nvmlGpuP2PCapsIndex_t)(kind - kinds));
	smi_gpus_close(&gpus);
	return SMI_OK;
}
