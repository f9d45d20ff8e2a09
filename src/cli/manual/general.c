/* SPDX-License-Identifier: Apache-2.0 */
/* general.c - the page of the command itself. */
#include "cli/cmd.h"
#include "cli/manual/manual.h"

static void add_verbs(struct gk_buf *out)
{
	for (const struct gk_cmd *const *cmd = gk_cmds; *cmd; cmd++)
		gk_buf_printf(out, "%s\t%s: see `gpukit-%s`(1).\n",
			      (*cmd)->name, (*cmd)->summary, (*cmd)->name);
	gk_buf_puts(
	    out, "help [VERB]\tlists the verbs, or prints the options of one.\n"
		 "version\tprints the version and the commit.\n");
}

const struct gk_manual_page gk_general_pages[] = {
    {
	.name = "",
	.summary = "monitor, share and simulate NVIDIA GPUs",
	.synopsis = "VERB [OPTION...]\nhelp [VERB]\nversion",
	.doc =
	    "Is one command for NVIDIA GPUs. Its verbs show GPUs and their "
	    "processes, record and draw them, choose GPUs for a program, "
	    "limit what programs use, serve metrics, and make up machines of "
	    "GPUs where there are none.",
	.text =
	    "No verb needs a CUDA package. GPUs are read through NVML, the "
	    "library libnvidia-ml.so.1 of the driver; a function that the "
	    "driver lacks leaves a value out. A value that is not known is "
	    "never shown as 0.\n\n"
	    "If a link with the name nvitop, nvisel, gpustat or nvidia-smi "
	    "starts gpukit, it is the verb top, select, stat or smi.\n\n"
	    "Options may be abbreviated as long as they are unique. Times are "
	    "seconds, or have a unit: 200ms, 1.5h, 30s.",
	.heading = "VERBS",
	.add_rows = add_verbs,
	.exit_status =
	    "0\tSuccess.\n"
	    "1\tFailure: one line on standard error says what failed and what "
	    "to do.\n"
	    "2\tWrong usage.\n"
	    "other\t`gpukit select`, `gpukit smi` and verbs that run a command "
	    "have more, which their pages list.\n",
	.environment =
	    "GPUKIT_LOG\tWhat the libraries log, as LEVEL or LEVEL:FILE; LEVEL "
	    "is error, warn, info or debug. They are silent by default.\n"
	    "GPUKIT_MACHINE\tThe file of a made-up machine; `gpukit fake` sets "
	    "it.\n"
	    "CUDA_VISIBLE_DEVICES\tThe GPUs that `gpukit select --inherit` and "
	    "`gpukit top --only-visible` use.\n"
	    "NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR\tNo colours, or colours "
	    "even "
	    "if standard output is not a terminal.\n",
	.files =
	    "PREFIX/share/gpukit/profiles\tDescriptions of GPU models for "
	    "`gpukit fake`.\n"
	    "PREFIX/share/gpukit/scenarios\tScenarios for `gpukit fake "
	    "--scenario`.\n"
	    "PREFIX/lib/gpukit/fake\tThe libraries of made-up machines, under "
	    "NVIDIA's names.\n"
	    "PREFIX/share/doc/gpukit\tThe documentation, licence and "
	    "notices.\n",
	.examples =
	    "gpukit top\tShow the GPUs of this machine, live.\n"
	    "gpukit stat --json --why\tPrint everything about them, once.\n"
	    "CUDA_VISIBLE_DEVICES=$(gpukit select --count 2) python "
	    "train.py\tTrain on the two emptiest GPUs.\n"
	    "gpukit limit --memory 4GiB --compute 50 -- python "
	    "train.py\tTrain within 4 GiB and half of the time of each GPU.\n"
	    "gpukit fake --gpus h100:8 -- nvidia-smi\tSee eight H100s on a "
	    "machine without any.\n",
	.see = "nvidia-smi(1)",
    },
    {.name = NULL},
};
