/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit smi` in the manual, and its completion. */
#include "cli/smi/smi.h"
#include "format/smi/log.h"

#include <stdio.h>
#include <string.h>

/* Adds the names of a query's fields, in the order of the field tables. */
static void add_fields(struct gk_completion *answer, const char *option)
{
	gk_complete_list(answer, ',');
	for (const struct gk_smi_query *q = gk_smi_queries; q->option; q++)
		for (size_t i = 0;
		     !strcmp(option + 2, q->option) && i < q->count; i++)
			gk_complete_word(answer, q->fields[i].name, NULL);
}

static void add_sections(struct gk_completion *answer)
{
	gk_complete_list(answer, ',');
	for (const struct gk_smi_section *s = gk_smi_sections; s->name; s++)
		gk_complete_word(answer, s->name, NULL);
}

static void complete_smi(struct gk_completion *answer,
			 const struct gk_cursor *q)
{
	if (!q->option)
		return;
	if (!strncmp(q->option, "--query-", 8)) {
		add_fields(answer, q->option);
	} else if (!strcmp(q->option, "--format")) {
		gk_complete_list(answer, ',');
		gk_complete_words(answer, "csv,noheader,nounits", ',');
	} else if (!strcmp(q->option, "--display")) {
		add_sections(answer);
	}
}

const struct gk_manual_page smi_pages[] = {
    {
	.name = "smi",
	.lines = smi_lines,
	.synopsis =
	    "[OPTION [ARG]]...\npmon [OPTION [ARG]]...\n"
	    "dmon [OPTION [ARG]]...\ntopo OPTION\nmig OPTION...\n"
	    "nvlink OPTION...\ndrain -p BUS OPTION\nconf-compute OPTION\n"
	    "encodersessions [OPTION [ARG]]...\n"
	    "fbcsessions [OPTION [ARG]]...",
	.doc = "Shows NVIDIA GPUs, with the options and formats of nvidia-smi. "
	       "Without options it prints a table of the GPUs and of their "
	       "processes.",
	.text =
	    "Output and exit statuses are nvidia-smi's, so that programs which "
	    "read them keep working. Only root may change a GPU; without -i, "
	    "all GPUs are changed. An argument follows "
	    "its option as the next word or after =.\n\n"
	    "On a made-up machine, nvidia-smi is this verb.",
	.exit_status = "0\tSuccess.\n"
		       "1\tThe output cannot be written.\n"
		       "2\tAn option or its argument is invalid.\n"
		       "3\tThe GPU does not support it.\n"
		       "4\tPermission is denied.\n"
		       "6\tA GPU was not found.\n"
		       "8\tA GPU's power cables are not attached.\n"
		       "9\tNo driver is loaded.\n"
		       "10\tA GPU's interrupts do not work.\n"
		       "12\tNVML was not found.\n"
		       "13\tNVML lacks a function.\n"
		       "14\tThe infoROM is corrupted.\n"
		       "15\tA GPU is lost.\n"
		       "17\tThe operating system blocks the GPU.\n"
		       "18\tThe driver and NVML do not match.\n"
		       "255\tAn option is unknown, or another error of the "
		       "driver.\n",
	.examples =
	    "gpukit smi --query-gpu=name,memory.used --format=csv\tPrint two "
	    "values of each GPU.\n"
	    "gpukit smi -q -d MEMORY,ECC\tPrint parts of the log.\n"
	    "gpukit smi dmon -s pu -c 10\tPrint ten lines of power and "
	    "utilisation.\n",
	.see = "nvidia-smi(1)",
	.complete = complete_smi,
    },
    {
	.name = "smi pmon",
	.summary = "a line for each process, repeatedly",
	.within = true,
	.lines = smi_pmon_lines,
	.synopsis = "[OPTION [ARG]]...",
	.doc = "Prints a line for each process, repeatedly.",
    },
    {
	.name = "smi dmon",
	.summary = "a line for each GPU, repeatedly",
	.within = true,
	.lines = smi_dmon_lines,
	.synopsis = "[OPTION [ARG]]...",
	.doc = "Prints a line for each GPU, repeatedly.",
    },
    {
	.name = "smi topo",
	.summary = "how the GPUs are connected",
	.within = true,
	.lines = smi_topo_lines,
	.synopsis = "OPTION",
	.doc = "Prints how the GPUs are connected.",
    },
    {
	.name = "smi mig",
	.summary = "the instances of split GPUs",
	.within = true,
	.lines = smi_mig_lines,
	.synopsis = "OPTION",
	.doc = "Lists, creates and destroys the instances of split GPUs.",
    },
    {
	.name = "smi nvlink",
	.summary = "the NVLinks of the GPUs",
	.within = true,
	.lines = smi_nvlink_lines,
	.synopsis = "OPTION...",
	.doc = "Prints the NVLinks of the GPUs.",
    },
    {
	.name = "smi drain",
	.summary = "keep work from a GPU",
	.within = true,
	.lines = smi_drain_lines,
	.synopsis = "-p BUS OPTION",
	.doc = "Keeps new work from a GPU, or takes it out of the driver.",
    },
    {
	.name = "smi conf-compute",
	.summary = "confidential computing",
	.within = true,
	.lines = smi_cc_lines,
	.synopsis = "OPTION",
	.doc = "Shows and sets the state of confidential computing.",
    },
    {
	.name = "smi encodersessions",
	.summary = "a line for each encoder session, repeatedly",
	.within = true,
	.lines = smi_session_lines,
	.synopsis = "[OPTION [ARG]]...",
	.doc = "Prints a line for each encoder session, repeatedly.",
    },
    {
	.name = "smi fbcsessions",
	.summary = "a line for each frame buffer capture, repeatedly",
	.within = true,
	.lines = smi_session_lines,
	.synopsis = "[OPTION [ARG]]...",
	.doc = "Prints a line for each frame buffer capture, repeatedly.",
    },
    {.name = NULL},
};
