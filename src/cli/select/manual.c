/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit select` in the manual. */
#include "cli/select/select.h"

const struct gk_manual_page select_pages[] = {
    {
	.name = "select",
	.argp = &gk_select_argp,
	.command = GK_COMMAND_IS_ARGUMENT,
	.text =
	    "It prints the chosen devices as a list, for the variable "
	    "CUDA_VISIBLE_DEVICES. With `--reserve` it runs a command on them, "
	    "and no other `gpukit select` chooses them until the command ends. "
	    "Reservations are advisory: a program that does not ask may use "
	    "any "
	    "GPU.\n\n"
	    "If there are too few devices, nothing is printed, the exit status "
	    "is 4, and one line on standard error says why.",
	.environment =
	    "CUDA_VISIBLE_DEVICES\tThe devices of --inherit without a list; "
	    "set for the command of --reserve.\n"
	    "GPUKIT_RESERVATIONS\tAnother file for reservations.\n",
	.files = "/run/lock/gpukit-reservations\tLocks of reserved devices.\n"
		 "/dev/shm/gpukit-reservations\tThe same if not all users may "
		 "write there.\n",
	.examples =
	    "CUDA_VISIBLE_DEVICES=$(gpukit select -n 2 -f 20GiB) ./train\tUse "
	    "the two emptiest GPUs with 20 GiB free.\n"
	    "gpukit select --count 1 --wait 10m --reserve -- ./train\tWait for "
	    "a free GPU, and keep it.\n"
	    "gpukit select --format uuid --json\tPrint the choice as JSON.\n",
	.see = "nvisel(1)",
    },
    {.name = NULL},
};
