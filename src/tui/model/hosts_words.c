/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_words.c - describes why a host sends no frames. */
#include "base/clock.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <time.h>

static void clock_text(uint64_t age, char dst[16])
{
	time_t then = (time_t)((gk_wall_ns() - age) / GK_NS_PER_S);
	struct tm tm;

	*dst = '\0';
	if (localtime_r(&then, &tm))
		strftime(dst, 16, "%H:%M:%S", &tm);
}

/*
 * A host that has never sent a frame may have been away for longer than known.
 */
static struct gk_lasting away_for(const struct tui_host *host, uint64_t now)
{
	return (struct gk_lasting){now - host->state.away_ns, !host->snap};
}

char *tui_host_why(const struct tui_host *host, uint64_t now,
		   char dst[TUI_HOSTS_TEXT])
{
	const struct gk_host_state *s = &host->state;
	char ago[GK_LASTING_MAX], since[16], again[32] = "trying";

	*dst = '\0';
	if (!s->away_ns) {
		if (!host->snap)
			snprintf(dst, TUI_HOSTS_TEXT, "connecting");
		return dst;
	}
	if (s->again_ns > now)
		snprintf(again, sizeof again, "again in %us",
			 (unsigned)((s->again_ns - now) / GK_NS_PER_S + 1));
	clock_text(now - s->away_ns, since);
	snprintf(dst, TUI_HOSTS_TEXT, "away %s: %s · since %s%s, %s",
		 gk_lasting_text(ago, away_for(host, now), true), s->why,
		 host->snap ? "" : "before ", since, again);
	return dst;
}

static const struct tui_host *shown_host(const struct tui *t)
{
	return &t->hosts.list[t->hosts.selected];
}

void tui_hosts_away_text(const struct tui *t, char *dst, size_t cap)
{
	const struct tui_host *host = shown_host(t);
	char ago[GK_LASTING_MAX];

	if (host->state.away_ns)
		snprintf(
		    dst, cap, "away %s: %s",
		    gk_lasting_text(ago, away_for(host, gk_mono_ns()), true),
		    host->state.why);
}

const char *tui_hosts_waiting(const struct tui *t, char dst[TUI_HOSTS_TEXT])
{
	char why[TUI_HOSTS_TEXT];

	if (!t->options.hosts)
		return "Reading the GPUs…";
	snprintf(dst, TUI_HOSTS_TEXT, "%s: %.250s", shown_host(t)->state.name,
		 tui_host_why(shown_host(t), gk_mono_ns(), why));
	return dst;
}
