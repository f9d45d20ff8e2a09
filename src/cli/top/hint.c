/* hint.c - prints a hint after `gpukit top` when something is worth a line. */
#include "base/pidstat.h"
#include "cli/top/top.h"
#include "tui/term.h"

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
		"gpukit top: driver %s lacks NVML functions, what they tell "
		"is N/A:\n",
		snap->driver_version);
	for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
		fprintf(stderr, "  %s\n", names[i]);
	if (count > NAMES_SHOWN)
		fprintf(stderr, "  and %zu more\n", count - NAMES_SHOWN);
}

/* Whether our parent is watch, or the shell that it runs us by. */
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
		fputs("gpukit top: this is watch(1); `gpukit top` without it "
		      "shows changes itself, and `gpukit stat -i` prints "
		      "report after report\n",
		      stderr);
}

void top_tell_terminal(void)
{
	if (term_unheard_of())
		fprintf(stderr,
			"gpukit top: nothing on this machine describes the "
			"terminal '%s', so this was one report; "
			"TERM=xterm-256color suits most\n",
			getenv("TERM"));
}
