/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - prints the help texts of `gpukit smi` and of its subcommands. */
#include "cli/smi/direct.h"

/* The arguments of the options that change a GPU. */
#define ARG_NOTHING ""
#define ARG_CHOICE  "=MODE"
#define ARG_NUMBER  "=N"
#define ARG_TEXT    "=WORD"
#define ARG_WATTS   "=WATTS"
#define ARG_PAIR    "=MEM,SM"
#define ARG_CLOCKS  "=MIN,MAX"

const struct gk_option_line smi_lines[] = {
    {"", "a table of the GPUs and of their processes"},
    {"-L,   --list-gpus", "a line for each GPU and MIG device"},
    {"-col, --columns", "a summary of the GPUs side by side"},
    {"-q,   --query", "all values of each GPU, as keys and values"},
    {"-x,   --xml-format", "with -q: as XML"},
    {"--dtd", "with -q -x: declare the elements; alone: only that"},
    {"-u,   --unit", "with -q: units instead of GPUs"},
    {"-d,   --display=LIST", "with -q: only some parts, such as MEMORY,ECC"},
    {"--query-gpu=LIST", "values of each GPU, as CSV"},
    {"--query-compute-apps=LIST", "compute processes"},
    {"--query-accounted-apps=LIST", "processes in the accounting"},
    {"--query-retired-pages=LIST", "retired memory pages"},
    {"--query-remapped-rows=LIST", "remapped memory rows"},
    {"--query-supported-clocks=LIST", "supported clocks"},
    {"--help-query-gpu",
     "fields of --query-gpu=; the same for the other queries"},
    {"--format=LIST", "format of a query: csv[,noheader][,nounits]"},
    {"-i,   --id=LIST",
     "only these GPUs: indices, UUIDs or PCI bus ids, separated by commas"},
    {"-l,   --loop=SEC", "repeat every so many seconds (5)"},
    {"-lms, --loop-ms=MS", "the same in milliseconds"},
    {"-f,   --filename=FILE", "write to a file"},
    {"-B,   --list-excluded-gpus", "GPUs that the driver excludes"},
    {"-r,   --gpu-reset", "reset the GPUs"},
#define SETTER(id, brief, full, kind, choices, now, set, name, flags, help)    \
	{brief ", " full ARG_##kind, help},
#define LONG_SETTER(id, full, kind, choices, now, set, name, flags, help)      \
	{full ARG_##kind, help},
#include "cli/smi/setters.def"
    {"-sc, --scope=SCOPE", "with -pl: 0 the GPU, 1 its module"},
    {"-m, --mode=MODE", "with -lgc: 0 (1 is not supported)"},
    {"-t, --toggle-led=COLOR", "LED of units: 0 green, 1 amber"},
    {"-eow, --error-on-warning", "with these: a warning is an error"},
    {"-h,   --help", "this list"},
    {"--version", "versions of driver, NVML and CUDA"},
    {0},
};

static const struct gk_option_line subcommands[] = {
    {"pmon", "a line for each process, repeatedly"},
    {"dmon", "a line for each GPU, repeatedly"},
    {"topo", "how the GPUs are connected"},
    {"mig", "the instances of split GPUs"},
    {"nvlink", "the NVLinks"},
    {"drain", "keep work from a GPU, take it out"},
    {"conf-compute", "confidential computing"},
    {"encodersessions", "a line for each encoder session, repeatedly"},
    {"fbcsessions", "a line for each frame buffer capture, repeatedly"},
    {0},
};

#define MONITOR                                                                \
	{"-i, --id=LIST", "only these GPUs"},                                  \
	    {"-d, --delay=SEC", "seconds between lines (1)"},                  \
	    {"-c, --count=N", "end after this many lines"},                    \
	    {"-o, --options=DT", "D adds the date, T the time"},               \
	    {"-f, --filename=FILE", "write to a file"},                        \
	{                                                                      \
		0                                                              \
	}

const struct gk_option_line smi_pmon_lines[] = {
    {"-s, --select=um", "u utilisation (default), m memory"},
    MONITOR,
};

const struct gk_option_line smi_dmon_lines[] = {
    {"-s, --select=pucvmet",
     "p power and temperature, u utilisation, c clocks (these three by "
     "default), v violations, m memory, e errors, t PCIe traffic"},
    {"--gpm-metrics=LIST",
     "also metrics of NVML's performance monitoring, by their numbers: 1 "
     "graphics, 2 SMs, 3 occupancy, 5 tensor cores, 10 memory, 20 and 21 PCIe, "
     "60 and 61 NVLink"},
    {"--gpm-options=d", "of GPUs (those of MIG devices are not supported)"},
    {"--format=LIST", "csv, noheader, nounit"},
    MONITOR,
};

const struct gk_option_line smi_topo_lines[] = {
    {"-m, --matrix",
     "the path between each pair of GPUs, and the nearest CPUs"},
    {"-mp, --matrix_pci", "the same without NVLinks"},
    {"-p2p, --p2pstatus=KIND",
     "whether GPUs can use each other's memory: r read, w write, n NVLink, a "
     "atomics, p PCI"},
    {"-c, --cpu=N", "the GPUs that are near to a CPU"},
    {"-n, --nearest_gpus=N",
     "with -i: the GPUs as near as N says, from 0 to 5"},
    {"-p, --gpu_path", "with -i: the path between two GPUs"},
    {"-C, --get-numa-id-of-nearby-cpu", "the NUMA nodes of the nearest CPUs"},
    {"-M, --get-numa-id-of-nearby-mem", "the NUMA nodes of nearer memory"},
    {"-gnid, --gpu-numa-id", "the NUMA node of the GPU"},
    {"-i, --id=LIST", "only these GPUs"},
    {0},
};

static const struct help {
	enum smi_mode mode;
	const char *head;
	const struct gk_option_line *lines;
} helps[] = {
    {SMI_HELP,
     "Shows NVIDIA GPUs, with the options and formats of nvidia-smi.\n\n"
     "nvidia-smi [OPTION [ARG]]...\n",
     smi_lines},
    {SMI_HELP, "\nSubcommands; each has -h:\n", subcommands},
    {SMI_HELP_PMON, "nvidia-smi pmon [OPTION [ARG]]...\n", smi_pmon_lines},
    {SMI_HELP_DMON, "nvidia-smi dmon [OPTION [ARG]]...\n", smi_dmon_lines},
    {SMI_HELP_TOPOLOGY, "nvidia-smi topo OPTION...\n", smi_topo_lines},
};

static void add_lines(struct gk_buf *out, const struct gk_option_line *line)
{
	for (; line->names; line++)
		gk_buf_printf(out, "    %-44s %s\n", line->names, line->doc);
}

void smi_help(struct gk_buf *out, const struct smi *smi)
{
	if (smi->mode == SMI_HELP_VERB) {
		gk_buf_printf(out, "nvidia-smi %s OPTION...\n\n",
			      smi->verb->name);
		add_lines(out, smi->verb->lines);
	}
	for (size_t i = 0; i < sizeof helps / sizeof *helps; i++) {
		if (helps[i].mode != smi->mode)
			continue;
		gk_buf_printf(out, "%s\n", helps[i].head);
		add_lines(out, helps[i].lines);
	}
}
