/* SPDX-License-Identifier: Apache-2.0 */
/*
 * p2p.c - `topo -p2p`: shows which GPUs can read and write each other's memory.
 */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <stdio.h>
#include <stdlib.h>

/* The option's letters, indexed by kind: read, write, NVLink, atomics, PCI. */
static const char kinds[] = "rwnap";

/* Indexed by nvmlGpuP2PStatus_t. */
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

/* The order of the states in the legend. */
static const nvmlGpuP2PStatus_t legend[] = {
    NVML_P2P_STATUS_OK,
    NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED,
    NVML_P2P_STATUS_GPU_NOT_SUPPORTED,
    NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED,
    NVML_P2P_STATUS_NOT_SUPPORTED,
    NVML_P2P_STATUS_DISABLED_BY_REGKEY,
    NVML_P2P_STATUS_UNKNOWN,
};

/* A matrix with a word for each pair of GPUs. */
struct matrix {
	const struct smi_gpus *gpus;
	nvmlGpuP2PCapsIndex_t kind;
	const char **words;
};

/*
 * Reads the state of a pair. If the driver does not know this kind of access,
 * the state is unknown.
 */
static nvmlReturn_t read_state(const struct matrix *m, size_t a, size_t b,
			       const char **ret_word)
{
	nvmlGpuP2PStatus_t state = NVML_P2P_STATUS_UNKNOWN;
	nvmlReturn_t r =
	    SMI_NVML(m->gpus, nvmlDeviceGetP2PStatus, m->gpus->at[a].handle,
		     m->gpus->at[b].handle, m->kind, &state);

	if (r || (unsigned)state >= COUNT(states))
		state = NVML_P2P_STATUS_UNKNOWN;
	*ret_word = states[state].word;
	return smi_is_absent(r) || r == NVML_ERROR_INVALID_ARGUMENT
		   ? NVML_SUCCESS
		   : r;
}

/* Reads the words of all pairs. Stops at the first failure. */
static nvmlReturn_t read_matrix(const struct matrix *m)
{
	size_t n = m->gpus->count;

	for (size_t i = 0; i < n * n; i++) {
		nvmlReturn_t r = NVML_SUCCESS;

		if (i / n == i % n)
			m->words[i] = "X";
		else
			r = read_state(m, i / n, i % n, &m->words[i]);
		if (r)
			return r;
	}
	return NVML_SUCCESS;
}

static void print_matrix(const struct matrix *m)
{
	size_t n = m->gpus->count;

	fputs("\t\033[4m", stdout);
	for (size_t i = 0; i < n; i++)
		printf("GPU%u\t", m->gpus->at[i].index);
	puts("\033[0m");
	for (size_t row = 0; row < n; row++) {
		printf(" GPU%u\t", m->gpus->at[row].index);
		for (size_t i = 0; i < n; i++)
			printf("%s\t", m->words[row * n + i]);
		putchar('\n');
	}
	puts("\nLegend:\n\n  X    = Self");
	for (size_t i = 0; i < COUNT(legend); i++)
		printf("  %-4s = %s\n", states[legend[i]].word,
		       states[legend[i]].legend);
}

static int show_matrix(const struct smi *smi, const struct smi_gpus *gpus,
		       const void *arg)
{
	const char *kind = arg;
	struct matrix m = {.gpus = gpus,
			   .kind = (nvmlGpuP2PCapsIndex_t)(kind - kinds)};
	nvmlReturn_t r;

	(void)smi;
	m.words = calloc(gpus->count * gpus->count, sizeof *m.words);
	if (!m.words)
		return SMI_FAILED;
	r = read_matrix(&m);
	if (r)
		printf("Failed to get the P2P status: %s\n",
		       smi_error_text(gpus, r));
	else
		print_matrix(&m);
	free(m.words);
	return smi_status_of(r);
}

int smi_p2p(const struct smi *smi)
{
	const char *kind = strchr(kinds, *smi->value);

	if (!*smi->value || smi->value[1] || !kind)
		return smi_refuse_arguments();
	return smi_with_gpus(smi, show_matrix, kind);
}
