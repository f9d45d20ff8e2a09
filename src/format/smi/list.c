/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - prints the output of -L, --version and topo -m. */
#include "format/smi/table.h"

#include "format/units.h"

#include <limits.h>
#include <string.h>

/* Returns the profile of a MIG device, such as "3g.40gb". The name ends with
 * it. */
static const char *profile_of(const struct gk_device *d)
{
	const char *at = strstr(d->name, " MIG ");

	return at ? at + strlen(" MIG ") : d->name;
}

void gk_smi_list(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_smi_absent *absent)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index < 0) {
			gk_smi_add_absent(out, &absent, d->index);
			gk_buf_printf(out, "GPU %u: ", d->index);
			gk_smi_text(out, d, d->name);
		} else {
			gk_buf_printf(out,
				      "  MIG %-12sDevice %2d:", profile_of(d),
				      d->mig_index);
		}
		gk_buf_puts(out, " (UUID: ");
		gk_smi_text(out, d, d->uuid);
		gk_buf_puts(out, ")\n");
	}
	gk_smi_add_absent(out, &absent, UINT_MAX);
}

void gk_smi_version(struct gk_buf *out, const struct gk_snapshot *snap)
{
	const char *driver = snap->driver_version;
	char cuda[GK_UNITS_MAX], nvml[GK_NAME_MAX];
	bool new_names = gk_smi_level(snap) >= GK_SMI_LEVEL(610, 0);
	const char *second;

	gk_cuda_version(cuda, snap->cuda_version);
	/*
	 * NVML's version, such as 13.590.48, is CUDA's major version followed
	 * by the driver's version.
	 */
	second = strchr(snap->nvml_version, '.');
	gk_str_copy(nvml, sizeof nvml, second ? second + 1 : "");
	for (char *at = nvml, dots = 0; *at; at++)
		if (*at == '.' && ++dots == 2)
			*at-- = '\0';
	gk_buf_printf(out,
		      "NVIDIA-SMI version  : %s\n"
		      "NVML version        : %s\n",
		      driver, nvml);
	if (!new_names)
		gk_buf_printf(out,
			      "DRIVER version      : %s\n"
			      "CUDA Version        : %s\n",
			      driver, cuda);
	else
		gk_buf_printf(out,
			      "DRIVER version      : Deprecated, see \"KMD "
			      "version\" instead\n"
			      "CUDA version        : Deprecated, see \"CUDA "
			      "UMD version\" instead\n"
			      "KMD version         : %s\n"
			      "CUDA UMD version    : %s\n",
			      driver, cuda);
}

/* ---- topo -m ---- */

static const char *const paths[GK_PATH_COUNT] = {
    [GK_PATH_UNKNOWN] = "N/A",  [GK_PATH_SELF] = "X",
    [GK_PATH_BOARD] = "PIX",    [GK_PATH_SINGLE] = "PIX",
    [GK_PATH_MULTIPLE] = "PXB", [GK_PATH_HOSTBRIDGE] = "PHB",
    [GK_PATH_NODE] = "NODE",    [GK_PATH_SYSTEM] = "SYS",
};

/* Whether a device is a GPU with a known topology. */
static bool has_topology(const struct gk_snapshot *snap, size_t at)
{
	return snap->topology && snap->devices[at].mig_index < 0 &&
	       snap->devices[at].index < snap->topology->count;
}

static void topology_row(struct gk_buf *out, const struct gk_snapshot *snap,
			 unsigned row, bool nvlinks)
{
	const struct gk_topology *t = snap->topology;
	const struct gk_place *place = &t->places[row];

	gk_buf_printf(out, "GPU%u\t", row);
	for (size_t i = 0; i < snap->device_count; i++) {
		unsigned column = snap->devices[i].index;
		const struct gk_peer *peer;

		if (!has_topology(snap, i))
			continue;
		peer = &t->peers[row * t->count + column];
		if (column == row)
			gk_buf_puts(out, " X \t");
		else if (nvlinks && peer->nvlinks)
			gk_buf_printf(out, "NV%u\t", peer->nvlinks);
		else
			gk_buf_printf(out, "%s\t", paths[peer->path]);
	}
	gk_buf_printf(out, "%s\t%s\t\t", *place->cpus ? place->cpus : "N/A",
		      *place->numa_nodes ? place->numa_nodes : "N/A");
	if (place->numa_node >= 0)
		gk_buf_printf(out, "%d\n", place->numa_node);
	else
		gk_buf_puts(out, "N/A\n");
}

void gk_smi_topology(struct gk_buf *out, const struct gk_snapshot *snap,
		     bool nvlinks)
{
	gk_buf_puts(out, "\t\033[4m");
	for (size_t i = 0; i < snap->device_count; i++)
		if (has_topology(snap, i))
			gk_buf_printf(out, "GPU%u\t", snap->devices[i].index);
	gk_buf_puts(out, "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n");
	for (size_t i = 0; i < snap->device_count; i++)
		if (has_topology(snap, i))
			topology_row(out, snap, snap->devices[i].index,
				     nvlinks);
	gk_buf_puts(out,
		    "\nLegend:\n\n"
		    "  X    = the GPU itself\n"
		    "  SYS  = by PCIe, and between the NUMA nodes of the CPUs\n"
		    "  NODE = by PCIe host bridges of one NUMA node\n"
		    "  PHB  = by one PCIe host bridge\n"
		    "  PXB  = by PCIe switches, without a host bridge\n"
		    "  PIX  = by one PCIe switch at most\n"
		    "  NV#  = by # NVLinks together\n");
}
