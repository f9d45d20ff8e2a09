/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit plot` in the manual, and its completion. */
#include "cli/plot/options.h"

#include <string.h>

static void complete_plot(struct gk_completion *answer,
			  const struct gk_cursor *q)
{
	if (!q->option || strcmp(q->option, "--column") != 0)
		return;
	gk_complete_list(answer, ',');
	for (size_t i = 0; plot_panel_name(i); i++)
		gk_complete_word(answer, plot_panel_name(i), NULL);
}

const struct gk_manual_page plot_pages[] = {
    {
	.name = "plot",
	.argp = &plot_argp,
	.text =
	    "Pictures are drawn by gnuplot, which must be installed; `--term`, "
	    "`--summary` and `--json` need nothing else. `--summary` says how "
	    "long each GPU was idle, throttled or lost, the energy it used, "
	    "and "
	    "what each process took.",
	.environment =
	    "DISPLAY, WAYLAND_DISPLAY\tThe screen for the window of --show.\n",
	.files = "./FILE.png\tThe picture, unless --output names another.\n",
	.examples =
	    "gpukit plot gpu_log.csv\tDraw gpu_log.png.\n"
	    "gpukit plot --term --from -10m night.gkr\tDraw the last ten "
	    "minutes in the terminal.\n"
	    "gpukit plot --summary --json night.csv\tPrint sums as JSON.\n"
	    "gpukit plot --compare before.csv after.csv\tLay two runs over "
	    "each "
	    "other.\n",
	.see = "gnuplot(1)",
	.complete = complete_plot,
    },
    {.name = NULL},
};
