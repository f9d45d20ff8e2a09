/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - checks this user's environment and files: the made-up machine,
 * limits, the terminal, the locale, the configuration, and gpukit's own files.
 */
#include "base/array.h"
#include "cli/doctor/doctor.h"
#include "cli/open.h"
#include "cli/output.h"
#include "cli/where.h"
#include "tui/screen/term.h"
#include "tui/settings/config.h"

#include <link.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void gk_doctor_look_made_up(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *machine = getenv("GPUKIT_MACHINE");
	char text[1024];
	const char *wrong = machine && d->driver.made_up
				? gk_cli_machine_advice(text, sizeof text)
				: NULL;

	if (wrong) {
		gk_finding_say(f, FINDING_BAD, "%s", wrong);
		gk_finding_todo(f,
				"gpukit fake -- CMD makes a machine for CMD");
	} else if (d->driver.made_up) {
		gk_finding_say(f, FINDING_OK, "these GPUs are made up: %s",
			       machine ? machine : "the default machine");
	} else if (machine) {
		gk_finding_say(f, FINDING_WARN,
			       "GPUKIT_MACHINE is set, but the driver is not "
			       "gpukit's");
		gk_finding_todo(f, "unset GPUKIT_MACHINE, or put gpukit's "
				   "directory `fake` first in LD_LIBRARY_PATH");
	} else {
		gk_finding_say(f, FINDING_ABSENT, "not in use");
	}
}

/* ---- limits ---- */

static int find_limiter(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libvgpu.so"))
		return 0;
	*(const char **)ret = info->dlpi_name;
	return 1;
}

/*
 * Finds the first library in LD_PRELOAD whose file does not exist, and copies
 * its path.
 */
static bool find_broken_preload(char *dst, size_t cap)
{
	const char *list = getenv("LD_PRELOAD");

	while (list && *list) {
		size_t len = strcspn(list, " :");

		snprintf(dst, cap, "%.*s", (int)len, list);
		if (*dst == '/' && access(dst, F_OK))
			return true;
		list += len + (list[len] != '\0');
	}
	return false;
}

/*
 * Returns a variable that requests limits, or NULL if none is set. HAMi's
 * variables may end in a device number.
 */
static const char *find_limit_variable(void)
{
	static const char *const names[] = {
	    "GPUKIT_LIMIT_GROUP", "CUDA_DEVICE_MEMORY_LIMIT",
	    "CUDA_DEVICE_MEMORY_LIMIT_0", "CUDA_DEVICE_SM_LIMIT"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (getenv(names[i]))
			return names[i];
	return NULL;
}

void gk_doctor_look_limiter(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *loaded = NULL, *asked = find_limit_variable();
	char broken[PATH_MAX];

	(void)d;
	dl_iterate_phdr(find_limiter, (void *)&loaded);
	if (loaded) {
		gk_finding_say(f, FINDING_OK,
			       "%s limits this process; see `gpukit "
			       "limit show`",
			       loaded);
	} else if (find_broken_preload(broken, sizeof broken)) {
		gk_finding_say(f, FINDING_WARN,
			       "LD_PRELOAD names %s, which is not there",
			       broken);
		gk_finding_todo(f, "unset LD_PRELOAD");
	} else if (asked) {
		gk_finding_say(f, FINDING_WARN,
			       "%s is set, but no library enforces limits",
			       asked);
		gk_finding_todo(f,
				"start programs with `gpukit limit -- CMD`, or "
				"unset %s",
				asked);
	} else {
		gk_finding_say(f, FINDING_ABSENT,
			       "nothing limits this process");
	}
}

/* ---- gpukit's own files ---- */

void gk_doctor_look_files(const struct gk_doctor *d, struct gk_finding *f)
{
	char path[PATH_MAX];
	bool any = false;

	(void)d;
	gk_finding_say(f, FINDING_OK, "all there");
	for (size_t i = 0; i < gk_doctor_part_count; i++) {
		const char *file = gk_doctor_parts[i].file;

		if (!file || gk_doctor_has_file(file) ||
		    strstr(f->says, file) ||
		    gk_where_library(file, path, sizeof path))
			continue;
		if (!any)
			gk_finding_say(f, FINDING_WARN, "%s", "");
		gk_finding_add(f, "%sno %s", any ? "; " : "", path);
		any = true;
	}
	if (any)
		gk_finding_todo(f, "install gpukit again, with all of its "
				   "files");
}

/* ---- the terminal ---- */

void gk_doctor_look_terminal(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *name = getenv("TERM");

	(void)d;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		gk_finding_say(f, FINDING_ABSENT, "this is not one");
	} else if (term_unheard_of()) {
		gk_finding_say(f, FINDING_WARN,
			       "TERM=%s is unknown here: top has no screen",
			       name);
		gk_finding_todo(f, "export TERM=xterm-256color");
	} else if (!term_usable()) {
		gk_finding_say(
		    f, FINDING_WARN,
		    "TERM=%s cannot place its cursor: top has no screen",
		    name ? name : "");
		gk_finding_todo(f, "export TERM=xterm-256color");
	} else {
		gk_finding_say(f, FINDING_OK, "%s, %d colours%s", name,
			       term_colors(),
			       getenv("NO_COLOR") ? "; NO_COLOR is set" : "");
	}
}

/* Returns the variable that determines the character set; NULL: none is set. */
static const char *find_locale_variable(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return names[i];
	}
	return NULL;
}

void gk_doctor_look_locale(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *name = find_locale_variable();
	const char *value = name ? getenv(name) : "";

	(void)d;
	if (!setlocale(LC_CTYPE, ""))
		gk_finding_say(f, FINDING_WARN,
			       "%s=%s is not installed: only ASCII is drawn",
			       name, value);
	else if (gk_use_ascii())
		gk_finding_say(
		    f, FINDING_WARN, "%s%s%s is not UTF-8: only ASCII is drawn",
		    name ? name : "no LANG: C", name ? "=" : "", value);
	else
		gk_finding_say(f, FINDING_OK, "%s", setlocale(LC_CTYPE, NULL));
	if (f->state == FINDING_WARN)
		gk_finding_todo(f, "export LC_ALL=C.UTF-8");
}

/* ---- the configuration ---- */

void gk_doctor_look_config(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	struct tui_options options = TUI_OPTIONS_DEFAULT;
	char message[TUI_CONFIG_WHY] = "";

	(void)d;
	if (config && *config && *config != '/') {
		gk_finding_say(
		    f, FINDING_WARN,
		    "XDG_CONFIG_HOME=%s is relative, so it is ignored", config);
		gk_finding_todo(f, "export XDG_CONFIG_HOME=$HOME/.config");
	} else if (tui_config_load(&options, message, sizeof message)) {
		gk_finding_say(f, FINDING_BAD, "top does not start: %s",
			       message);
		gk_finding_todo(f, "repair or remove this file");
	} else if (options.path && !access(options.path, F_OK)) {
		gk_finding_say(f, FINDING_OK, "%s", options.path);
	} else {
		gk_finding_say(f, FINDING_ABSENT, "none: the defaults apply");
	}
	tui_options_free(&options);
}
