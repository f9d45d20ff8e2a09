/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.c - `topo -c -C -M -gnid -p -n`: prints which CPUs, memory and GPUs are
 * close to a GPU.
 */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <limits.h>
#include <stdio.h>

enum { SET_WORDS = 64, WORD_BITS = sizeof(unsigned long) * CHAR_BIT };

/* ---- GPUs of a CPU ---- */

static bool has_bit(const unsigned long *set, uint64_t bit)
{
	return bit < SET_WORDS * WORD_BITS &&
	       set[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

/*
 * Lists the GPUs that are close to a CPU. Stops at the first failure. It is
 * also a failure if no GPU reports an affinity.
 */
static nvmlReturn_t list_near(const struct smi_gpus *gpus, uint64_t cpu,
			      struct gk_buf *ret_list)
{
	nvmlReturn_t none = NVML_ERROR_NOT_SUPPORTED;

	for (size_t i = 0; i < gpus->count; i++) {
		unsigned long set[SET_WORDS] = {0};
		nvmlReturn_t r = SMI_NVML(gpus, nvmlDeviceGetCpuAffinity,
					  gpus->at[i].handle, SET_WORDS, set);

		if (r && !smi_is_absent(r))
			return r;
		none = r ? none : NVML_SUCCESS;
		if (!r && has_bit(set, cpu))
			gk_buf_printf(ret_list, "%s%u",
				      ret_list->len ? ", " : "",
				      gpus->at[i].index);
	}
	return none;
}

static int near_cpu(const struct smi *smi, const struct smi_gpus *gpus,
		    const void *arg)
{
	const uint64_t *cpu = arg;
	struct gk_buf list = {0};
	nvmlReturn_t r = list_near(gpus, *cpu, &list);

	(void)smi;
	if (r)
		printf("Unable to get the CPU affinity: %s\n",
		       smi_error_text(gpus, r));
	else if (!list.len)
		printf("No GPUs have an affinity with CPU %u.\n",
		       (unsigned)*cpu);
	else
		printf("The GPUs that have an affinity with CPU %u are:\n%s\n",
		       (unsigned)*cpu, list.data);
	gk_buf_free(&list);
	return smi_status_of(r);
}

int smi_near_cpu(const struct smi *smi)
{
	uint64_t cpu;

	if (!smi_parse_number(smi->value, UINT_MAX, &cpu))
		return smi_refuse_arguments();
	return smi_with_gpus(smi, near_cpu, &cpu);
}

/* ---- NUMA nodes of a GPU ---- */

/* Adds the bits of a set as a list such as "0,2-3". */
static void add_set(struct gk_buf *out, const unsigned long *set)
{
	for (unsigned i = 0; i < SET_WORDS * WORD_BITS; i++) {
		unsigned first = i;

		if (!has_bit(set, i))
			continue;
		while (has_bit(set, i + 1))
			i++;
		gk_buf_printf(out, "%s%u", out->len ? "," : "", first);
		if (i > first)
			gk_buf_printf(out, "-%u", i);
	}
}

/* Prints the nodes that `topo -m` shows in the column of NUMA affinity. */
static nvmlReturn_t tell_cpu_nodes(const struct smi_gpus *gpus,
				   const struct smi_gpu *gpu)
{
	unsigned long set[SET_WORDS] = {0};
	struct gk_buf list = {0};
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetMemoryAffinity, gpu->handle, SET_WORDS,
		     set, NVML_AFFINITY_SCOPE_NODE);

	if (!r)
		add_set(&list, set);
	printf("NUMA IDs of closest CPU: %s\n", r ? smi_value_text(gpus, r)
						: list.len ? list.data
							   : "N/A");
	gk_buf_free(&list);
	return r;
}

static nvmlReturn_t tell_gpu_node(const struct smi_gpus *gpus,
				  const struct smi_gpu *gpu)
{
	unsigned node = 0;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetNumaNodeId, gpu->handle, &node);

	if (r)
		printf("NUMA ID of GPU: %s\n", smi_value_text(gpus, r));
	else
		printf("NUMA ID of GPU: %u\n", node);
	return r;
}

static nvmlReturn_t first_failure(nvmlReturn_t first, nvmlReturn_t r)
{
	return first || smi_is_absent(r) ? first : r;
}

/* If there are several GPUs, prints a line with the GPU's index. */
static void name_gpu(const struct smi_gpus *gpus, const struct smi_gpu *gpu)
{
	if (gpus->count + gpus->lost > 1)
		printf("GPU %u:\n", gpu->index);
}

/* NVML does not report the memory nodes closest to a GPU. */
static int near_numa(const struct smi *smi, const struct smi_gpus *gpus,
		     const void *arg)
{
	nvmlReturn_t first = NVML_SUCCESS;

	(void)arg;
	for (size_t i = 0; i < gpus->count; i++) {
		const struct smi_gpu *gpu = &gpus->at[i];

		name_gpu(gpus, gpu);
		if (smi->near & SMI_NEAR_CPU)
			first = first_failure(first, tell_cpu_nodes(gpus, gpu));
		if (smi->near & SMI_NEAR_MEMORY)
			puts("NUMA IDs of closest memory: N/A");
		if (smi->near & SMI_NEAR_GPU)
			first = first_failure(first, tell_gpu_node(gpus, gpu));
	}
	return smi_status_of(first);
}

int smi_near_numa(const struct smi *smi)
{
	return smi_with_gpus(smi, near_numa, NULL);
}

/* ---- the path between GPUs ---- */

static const struct {
	nvmlGpuTopologyLevel_t level;
	const char *text;
} paths[] = {
    {NVML_TOPOLOGY_INTERNAL, "an on-board PCIe switch"},
    {NVML_TOPOLOGY_SINGLE, "a single PCIe switch"},
    {NVML_TOPOLOGY_MULTIPLE, "multiple PCIe switches"},
    {NVML_TOPOLOGY_HOSTBRIDGE, "a PCIe host bridge"},
    {NVML_TOPOLOGY_NODE, "an interconnect between PCIe host bridges"},
    {NVML_TOPOLOGY_SYSTEM, "an SMP interconnect between NUMA nodes"},
};

static const char *path_text(nvmlGpuTopologyLevel_t level)
{
	for (size_t i = 0; i < COUNT(paths); i++)
		if (paths[i].level == level)
			return paths[i].text;
	return "an unknown path";
}

static int near_path(const struct smi *smi, const struct smi_gpus *gpus,
		     const void *arg)
{
	nvmlGpuTopologyLevel_t level;
	nvmlReturn_t r;

	(void)smi;
	(void)arg;
	if (gpus->count + gpus->lost != 2)
		return smi_refuse_arguments();
	if (gpus->lost)
		return SMI_NOT_FOUND;
	r = SMI_NVML(gpus, nvmlDeviceGetTopologyCommonAncestor,
		     gpus->at[0].handle, gpus->at[1].handle, &level);
	if (r)
		printf("Unable to get the path: %s\n", smi_error_text(gpus, r));
	else
		printf("Device %u is connected to device %u by way of %s.\n",
		       gpus->at[0].index, gpus->at[1].index, path_text(level));
	return smi_status_of(r);
}

int smi_near_path(const struct smi *smi)
{
	return smi->ids ? smi_with_gpus(smi, near_path, NULL)
			: smi_refuse_arguments();
}

static int near_gpus(const struct smi *smi, const struct smi_gpus *gpus,
		     const void *arg)
{
	const uint64_t *at = arg;
	nvmlGpuTopologyLevel_t level = paths[*at].level;
	nvmlDevice_t found[256];
	unsigned count = COUNT(found), index;
	bool any = false;
	nvmlReturn_t r;

	(void)smi;
	if (gpus->count + gpus->lost != 1)
		return smi_refuse_arguments();
	r = SMI_NVML(gpus, nvmlDeviceGetTopologyNearestGpus, gpus->at[0].handle,
		     level, &count, found);
	if (r) {
		printf("Unable to get the nearest GPUs: %s\n",
		       smi_error_text(gpus, r));
		return smi_status_of(r);
	}
	printf("Device %u is connected by way of %s to device(s):",
	       gpus->at[0].index, path_text(level));
	for (unsigned i = 0; i < count; i++) {
		if (SMI_NVML(gpus, nvmlDeviceGetIndex, found[i], &index))
			continue;
		printf("%s %u", any ? "," : "", index);
		any = true;
	}
	puts(any ? "" : " none");
	return SMI_OK;
}

/* The argument is an index of paths[], which lists the nearest level first. */
int smi_near_gpus(const struct smi *smi)
{
	uint64_t at;

	if (!smi->ids || !smi_parse_number(smi->value, COUNT(paths) - 1, &at))
		return smi_refuse_arguments();
	return smi_with_gpus(smi, near_gpus, &at);
}
