/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.c - the page of `gpukit top` in the manual, and that of its config
 * file.
 */
#include "cli/top/top.h"
#include "format/columns.h"
#include "tui/settings/config.h"
#include "tui/settings/settings.h"

#include <ctype.h>

/* Writes which values a setting has in the config file. */
static void add_wanted(struct gk_buf *out, const struct tui_setting *setting)
{
	char wants[256];

	tui_setting_wants(setting, wants, sizeof wants);
	gk_buf_printf(out, "Must be %s.", wants);
}

static void add_columns(struct gk_buf *out)
{
	gk_buf_puts(out, "columns\tThe columns of the table of processes, as a "
			 "list of these:");
	for (int i = 0; i < GK_COLUMN_COUNT; i++)
		gk_buf_printf(out, "%s `%s` (%s)", i ? "," : "",
			      gk_column_infos[i].name, gk_column_infos[i].help);
	gk_buf_puts(out, ".\n");
}

static void add_settings(struct gk_buf *out)
{
	char text[TUI_SETTING_TEXT];

	for (size_t i = 0; i < tui_setting_count; i++) {
		const struct tui_setting *setting = &tui_settings[i];

		gk_buf_printf(out, "%s\t%c%s. ", setting->name,
			      toupper((unsigned char)*setting->help),
			      setting->help + 1);
		add_wanted(out, setting);
		gk_buf_printf(
		    out, " Default: `%s`.\n",
		    tui_setting_text(setting, &TUI_OPTIONS_DEFAULT, text));
	}
	add_columns(out);
	gk_buf_puts(
	    out,
	    "keys\tA mapping of actions to keys, which replace all default "
	    "keys of the action. Keys are separated by blanks; `o+x` is o, "
	    "then "
	    "x.\n"
	    "alerts.command\tA program and its arguments, as a list, which "
	    "every alert starts. It is ignored unless nobody else could have "
	    "written the file.\n");
}

const struct gk_manual_page top_pages[] = {
    {
	.name = "top",
	.argp = &top_argp,
	.text =
	    "It shows graphs of each GPU, the tree of processes, and on other "
	    "screens one GPU, one process, users, events, or other machines. "
	    "It signals processes, filters and sorts them, and goes back in "
	    "time. `F2` shows all settings, `F1` or `h` all keys.\n\n"
	    "Options that take several words, such as `--only 0 3`, end at the "
	    "next option. The command line takes precedence over the "
	    "environment, and the environment over the config file. If a "
	    "variable below is not set, nvitop's variable, which begins with "
	    "NVITOP instead of GPUKIT, is read.",
	.environment =
	    "GPUKIT_MONITOR_MODE\tWords of auto, full, compact, colorful, "
	    "plain, light, dark and readonly, separated by commas.\n"
	    "GPUKIT_MONITOR_ALWAYS\tIf false, prints one report, like "
	    "--once.\n"
	    "GPUKIT_MONITOR_THEME\tThe theme, as for --theme.\n"
	    "GPUKIT_GPU_UTILIZATION_THRESHOLDS\tAs for --gpu-util-thresh: "
	    "10,75.\n"
	    "GPUKIT_MEMORY_UTILIZATION_THRESHOLDS\tAs for --mem-util-thresh: "
	    "10,80.\n"
	    "NO_COLOR\tIf it is not empty: no colours.\n"
	    "CUDA_VISIBLE_DEVICES\tThe GPUs of --only-visible.\n",
	.files = "$XDG_CONFIG_HOME/gpukit/top.yaml, "
		 "~/.config/gpukit/top.yaml\tSettings; see "
		 "`gpukit-config`(5).\n",
	.examples =
	    "gpukit top\tShow the GPUs of this machine.\n"
	    "gpukit top --only 0 3 --user\tShow two GPUs, and only your "
	    "processes.\n"
	    "gpukit top --host atlas,borg\tShow other machines, by ssh.\n"
	    "gpukit top --replay night.gkr\tReplay a recording.\n"
	    "gpukit top --once\tPrint one report.\n",
	.see = "nvitop(1), ssh(1)",
    },
    {
	.name = "config",
	.section = "5",
	.summary = "settings of gpukit top",
	.doc = "The file top.yaml holds the settings of the viewer, `gpukit "
	       "top`.",
	.text =
	    "The file is YAML: a mapping of the keys below. A key such as "
	    "alerts.idle is the key idle in the mapping alerts. `F2` in the "
	    "viewer shows and changes all settings, and `s` there writes the "
	    "file.\n\n"
	    "A file with an error is not used at all: the error is reported "
	    "with its line, and the exit status is 1.",
	.heading = "KEYS",
	.add_rows = add_settings,
	.files =
	    "$XDG_CONFIG_HOME/gpukit/top.yaml\tThe file.\n"
	    "~/.config/gpukit/top.yaml\tThe file if XDG_CONFIG_HOME is not "
	    "set.\n",
	.examples =
	    "theme: dark\tChoose dark colours.\n"
	    "sort: [user, -gpu-memory]\tSort by user, and then by memory, "
	    "descending.\n"
	    "alerts: {idle: 30, command: [notify-send, GPU alert]}\tStart a "
	    "program if a process holds memory and does nothing for 30 "
	    "minutes.\n",
	.see = "gpukit-top(1)",
    },
    {.name = NULL},
};
