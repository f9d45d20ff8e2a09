/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - prints the help texts of `gpukit smi` and of its subcommands. */
#include "cli/smi/smi.h"

struct line {
	enum smi_mode mode;
	const char *option; /* option; NULL: the row is a heading */
	const char *text;
};

static const struct line lines[] = {
    {SMI_HELP, NULL,
     "Shows NVIDIA GPUs, with the options and formats of nvidia-smi."},
    {SMI_HELP, NULL, "\nnvidia-smi [OPTION [ARG]]...\n"},
    {SMI_HELP, "", "a table of the GPUs and of their processes"},
    {SMI_HELP, "-L,   --list-gpus", "a line for each GPU and MIG device"},
    {SMI_HELP, "-q,   --query", "all values of each GPU, as keys and values"},
    {SMI_HELP, "-x,   --xml-format", "with -q: as XML"},
    {SMI_HELP,
     "-d,   --display=", "with -q: only some parts, such as MEMORY,ECC"},
    {SMI_HELP, "--query-gpu=", "values of each GPU, as CSV"},
    {SMI_HELP, "--query-compute-apps=", "compute processes"},
    {SMI_HELP, "--query-accounted-apps=", "processes in the accounting"},
    {SMI_HELP, "--query-retired-pages=", "retired memory pages"},
    {SMI_HELP, "--query-remapped-rows=", "remapped memory rows"},
    {SMI_HELP, "--query-supported-clocks=", "supported clocks"},
    {SMI_HELP, "--help-query-gpu",
     "fields of --query-gpu=; the same for the other queries"},
    {SMI_HELP, "--format=", "format of a query: csv[,noheader][,nounits]"},
    {SMI_HELP, "-i,   --id=",
     "only these GPUs: indices, UUIDs or PCI bus ids, separated by commas"},
    {SMI_HELP, "-l,   --loop=", "repeat every so many seconds (5)"},
    {SMI_HELP, "-lms, --loop-ms=", "the same in milliseconds"},
    {SMI_HELP, "-f,   --filename=", "write to a file"},
    {SMI_HELP, "--version", "versions of driver, NVML and CUDA"},
    {SMI_HELP, NULL, "\nSubcommands; each has -h:\n"},
    {SMI_HELP, "pmon", "a line for each process, repeatedly"},
    {SMI_HELP, "dmon", "a line for each GPU, repeatedly"},
    {SMI_HELP, "topo", "how the GPUs are connected"},
    {SMI_HELP, "mig", "the instances of split GPUs"},
    {SMI_HELP_PMON, NULL, "nvidia-smi pmon [OPTION [ARG]]...\n"},
    {SMI_HELP_PMON, "-i, --id=", "only these GPUs"},
    {SMI_HELP_PMON, "-d, --delay=", "seconds between lines (1)"},
    {SMI_HELP_PMON, "-c, --count=", "end after this many lines"},
    {SMI_HELP_PMON, "-s, --select=", "u utilisation (default), m memory"},
    {SMI_HELP_PMON, "-o, --options=", "D adds the date, T the time"},
    {SMI_HELP_PMON, "-f, --filename=", "write to a file"},
    {SMI_HELP_DMON, NULL, "nvidia-smi dmon [OPTION [ARG]]...\n"},
    {SMI_HELP_DMON, "-i, --id=", "only these GPUs"},
    {SMI_HELP_DMON, "-d, --delay=", "seconds between lines (1)"},
    {SMI_HELP_DMON, "-c, --count=", "end after this many lines"},
    {SMI_HELP_DMON, "-s, --select=",
     "p power and temperature, u utilisation, c clocks (these three by "
     "default), v violations, m memory, e errors, t PCIe traffic"},
    {SMI_HELP_DMON, "-o, --options=", "D adds the date, T the time"},
    {SMI_HELP_DMON, "-f, --filename=", "write to a file"},
    {SMI_HELP_TOPOLOGY, NULL, "nvidia-smi topo -m\n"},
    {SMI_HELP_TOPOLOGY, "-m, --matrix",
     "the path between each pair of GPUs, and the nearest CPUs"},
    {SMI_HELP_MIG, NULL, "nvidia-smi mig OPTION\n"},
    {SMI_HELP_MIG, "-lgi, --list-gpu-instances", "GPU instances"},
    {SMI_HELP_MIG, "-lci, --list-compute-instances", "compute instances"},
    {SMI_HELP_MIG, "-i, --id=", "only these GPUs"},
};

void smi_help(struct gk_buf *out, enum smi_mode mode)
{
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		if (lines[i].mode != mode)
			continue;
		if (lines[i].option)
			gk_buf_printf(out, "    %-34s %s\n", lines[i].option,
				      lines[i].text);
		else
			gk_buf_printf(out, "%s\n", lines[i].text);
	}
}
