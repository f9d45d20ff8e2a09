/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit stat` in the manual. */
#include "cli/stat/stat.h"

const struct gk_manual_page stat_pages[] = {
    {
	.name = "stat",
	.argp = &gk_stat_argp,
	.text =
	    "Without options it prints a line for each GPU, in the format of "
	    "gpustat. `--boxed` prints tables like those of nvitop, `--json` "
	    "and `--csv` everything that is known, in base units: bytes, "
	    "watts, "
	    "degrees Celsius. A value that is not known is null or empty, "
	    "never "
	    "0; `--why` adds the reasons.\n\n"
	    "With `--interval` the report is repeated without drift until a "
	    "signal arrives or the reader goes away. On a terminal, text "
	    "replaces the earlier report.",
	.environment =
	    "NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR\tThe first one that is set "
	    "and not empty chooses colours, unless an option does.\n"
	    "COLUMNS\tThe width of `--boxed`, instead of the terminal's.\n",
	.examples =
	    "gpukit stat\tPrint a line for each GPU.\n"
	    "gpukit stat --boxed\tPrint tables with bars and processes.\n"
	    "gpukit stat --json --why\tPrint all values, and why some are "
	    "missing.\n"
	    "gpukit stat --json-lines -i 0.1 | head -n 50\tRead the GPUs ten "
	    "times a second, five seconds long.\n"
	    "gpukit stat --csv=processes\tPrint a row for each process.\n",
	.see = "gpustat(1)",
    },
    {.name = NULL},
};
