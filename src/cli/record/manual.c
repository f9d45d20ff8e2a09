/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit record` in the manual. */
#include "cli/record/record.h"

const struct gk_manual_page record_pages[] = {
    {
	.name = "record",
	.argp = &record_argp,
	.command = GK_COMMAND_AFTER_DASHES,
	.text =
	    "A recording is CSV, JSON lines, or with `--snapshots` a "
	    "compressed "
	    "file that `gpukit top --replay` and `gpukit fake --replay` play. "
	    "`gpukit plot` draws all of them. Command lines may hold secrets: "
	    "the file can be read by its owner only, unless `--mode` says "
	    "otherwise, and `--cmd name` leaves arguments out.",
	.environment = "CUDA_VISIBLE_DEVICES\tRestricts what a recorded "
		       "command uses, not what is recorded.\n",
	.files = "./gpu_log.csv\tThe recording, unless --output names "
		 "another.\n",
	.examples =
	    "gpukit record -- python train.py\tRun a program and record it.\n"
	    "gpukit record --devices -i 1 -o night.csv\tRecord all GPUs every "
	    "second.\n"
	    "gpukit record --match 'train.*py' --children --until-exit\tRecord "
	    "running programs until they end.\n"
	    "gpukit record --snapshots --rotate 24h -o gpus.gkr\tKeep "
	    "everything, a file for each day.\n",
    },
    {.name = NULL},
};
