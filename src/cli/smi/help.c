/* help.c - help of `gpukit smi` and of the words it knows. */
#include "cli/smi/smi.h"

struct line {
	enum smi_mode mode;
	const char *option; /* NULL: a title */
	const char *text;
};

static const struct line lines[] = {
    {SMI_HELP, NULL,
     "Shows NVIDIA GPUs, with the options and formats of nvidia-smi."},
    {SMI_HELP, NULL, "\nnvidia-smi [OPTION [ARG]]...\n"},
    {SMI_HELP, "", "a table of the GPUs and of their processes"},
    {SMI_HELP, "-L,   --list-gpus", "a line for each GPU and MIG device"},
    {SMI_HELP, "-q,   --query", "all of each GPU, as keys and values"},
    {SMI_HELP, "-x,   --xml-format", "with -q: as XML"},
    {SMI_HELP,
     "-d,   --display=", "with -q: parts of it only, such as MEMORY,ECC"},
    {SMI_HELP, "--query-gpu=", "values of each GPU, as CSV"},
    {SMI_HELP, "--query-compute-apps=", "processes that compute"},
    {SMI_HELP, "--query-accounted-apps=", "processes that are accounted for"},
    {SMI_HELP, "--query-retired-pages=", "memory pages that were given up"},
    {SMI_HELP, "--query-remapped-rows=", "memory rows that were replaced"},
    {SMI_HELP, "--query-supported-clocks=", "clocks that can be set"},
    {SMI_HELP, "--help-query-gpu",
     "what --query-gpu= can ask for; the same "
     "for the other queries"},
    {SMI_HELP, "--format=", "of a query: csv[,noheader][,nounits]"},
    {SMI_HELP, "-i,   --id=",
     "only these GPUs: index, UUID or PCI bus id; "
     "several with commas"},
    {SMI_HELP, "-l,   --loop=", "again and again, every so many seconds (5)"},
    {SMI_HELP, "-lms, --loop-ms=", "the same in milliseconds"},
    {SMI_HELP, "-f,   --filename=", "into a file"},
    {SMI_HELP, "--version", "versions of driver, NVML and CUDA"},
    {SMI_HELP, NULL, "\nWords that come first; each has -h:\n"},
    {SMI_HELP, "pmon", "a line for each process, again and again"},
    {SMI_HELP, "dmon", "a line for each GPU, again and again"},
    {SMI_HELP, "topo", "how the GPUs are connected"},
    {SMI_HELP, "mig", "the instances of GPUs that are split"},
    {SMI_HELP_PMON, NULL, "nvidia-smi pmon [OPTION [ARG]]...\n"},
    {SMI_HELP_PMON, "-i, --id=", "only these GPUs"},
    {SMI_HELP_PMON, "-d, --delay=", "seconds between two lines (1)"},
    {SMI_HELP_PMON, "-c, --count=", "end after so many"},
    {SMI_HELP_PMON, "-s, --select=", "u utilisation (default), m memory"},
    {SMI_HELP_PMON, "-o, --options=", "D with the date, T with the time"},
    {SMI_HELP_PMON, "-f, --filename=", "into a file"},
    {SMI_HELP_DMON, NULL, "nvidia-smi dmon [OPTION [ARG]]...\n"},
    {SMI_HELP_DMON, "-i, --id=", "only these GPUs"},
    {SMI_HELP_DMON, "-d, --delay=", "seconds between two lines (1)"},
    {SMI_HELP_DMON, "-c, --count=", "end after so many"},
    {SMI_HELP_DMON, "-s, --select=",
     "p power and temperature, u utilisation, c clocks (these three by "
     "default), v violations, m memory, e errors, t PCIe traffic"},
    {SMI_HELP_DMON, "-o, --options=", "D with the date, T with the time"},
    {SMI_HELP_DMON, "-f, --filename=", "into a file"},
    {SMI_HELP_TOPOLOGY, NULL, "nvidia-smi topo -m\n"},
    {SMI_HELP_TOPOLOGY, "-m, --matrix",
     "the path between each two GPUs, and the CPUs near to each"},
    {SMI_HELP_MIG, NULL, "nvidia-smi mig OPTION\n"},
    {SMI_HELP_MIG, "-lgi, --list-gpu-instances", "GPU instances"},
    {SMI_HELP_MIG, "-lci, --list-compute-instances", "compute instances"},
    {SMI_HELP_MIG, "-i, --id=", "only of these GPUs"},
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
