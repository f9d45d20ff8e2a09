/* SPDX-License-Identifier: Apache-2.0 */
/* hint.c - prints hints when `gpukit top` ends. */
#include "base/pidstat.h"
#include "cli/top/top.h"
#include "tui/screen/term.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_SHOWN 6

void top_tell_missing(const struct gk *gk, const struct gk_snapshot *snap)
{
	const char *names[NAMES_SHOWN];
	size_t count = gk_missing_functions(gk, names, NAMES_SHOWN);

	if (!count)
		return;
	fprintf(stderr,
		"gpukit top: driver %s lacks NVML functions; their values are "
		"N/A:\n",
		snap->driver_version);
	for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
		fprintf(stderr, "  %s\n", names[i]);
	if (count > NAMES_SHOWN)
		fprintf(stderr, "  and %zu more\n", count - NAMES_SHOWN);
}

/* Whether our parent is watch(1), or a shell that watch(1) started. */
static bool is_watched(void)
{
	struct gk_pidstat stat = {.ppid = getppid()};
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	for (int i = 0; i < 2 && proc >= 0 && !found; i++) {
		if (stat.ppid <= 1 || gk_pidstat_read(proc, stat.ppid, &stat))
			break;
		found = !strcmp(stat.comm, "watch");
	}
	if (proc >= 0)
		close(proc);
	return found;
}

void top_tell_watch(void)
{
	if (is_watched())
		fputs(
		    "gpukit top: watch(1) is not needed: `gpukit top` updates "
		    "itself, and `gpukit stat -i` repeats its report\n",
		    stderr);
}

void top_tell_terminal(void)
{
	if (term_unheard_of())
		fprintf(
		    stderr,
		    "gpukit top: this machine does not know the terminal '%s', "
		    "so this was one report; TERM=xterm-256color suits most\n",
		    getenv("TERM"));
}
