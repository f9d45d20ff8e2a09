/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_order.c - sorts the hosts, those in trouble first. */
#include "base/clock.h"
#include "tui/model/model.h"

/*
 * How long a host that has become better keeps its row, so that brief changes
 * do not move rows.
 */
#define STAYS_NS (10 * GK_NS_PER_S)

enum { RANK_AWAY, RANK_STATES, RANK_WELL = RANK_STATES + GK_STATE_KINDS };

struct gk_state tui_host_gpu_state(const struct tui *t,
				   const struct tui_host *host,
				   const struct gk_device *d)
{
	return gk_state_of(
	    &host->seen, &host->part, d,
	    (struct gk_state_options){.hot = t->options.alerts.temperature,
				      .width = 40});
}

const struct gk_device *tui_host_worst(const struct tui *t,
				       const struct tui_host *host,
				       struct gk_state *ret_state)
{
	const struct gk_device *worst = NULL;

	for (size_t i = 0; i < host->part.device_count; i++) {
		const struct gk_device *d = &host->part.devices[i];
		struct gk_state s = tui_host_gpu_state(t, host, d);

		if (d->mig_index >= 0 || (worst && s.kind >= ret_state->kind))
			continue;
		worst = d;
		*ret_state = s;
	}
	return worst;
}

/*
 * Returns the rank of a host; a smaller one is worse. A host without a frame
 * counts as healthy.
 */
static int rank_of_host(const struct tui *t, const struct tui_host *host)
{
	struct gk_state s;

	if (host->state.away_ns)
		return RANK_AWAY;
	if (!tui_host_worst(t, host, &s) || !gk_state_is_trouble(&s))
		return RANK_WELL;
	return RANK_STATES + (int)s.kind;
}

static void rank_host(const struct tui *t, struct tui_host *host, uint64_t now)
{
	int rank = rank_of_host(t, host);

	if (rank <= host->rank) {
		host->better_ns = 0;
	} else if (!host->better_ns) {
		host->better_ns = now;
		return;
	} else if (now - host->better_ns < STAYS_NS) {
		return;
	}
	host->rank = rank;
}

/*
 * Uses an insertion sort, so that hosts of equal rank keep the order given by
 * the user.
 */
void tui_hosts_sort(struct tui *t, uint64_t now)
{
	struct tui_hosts *h = &t->hosts;

	for (size_t i = 0; i < h->count; i++) {
		size_t at = i;

		rank_host(t, &h->list[i], now);
		for (; at && h->list[h->order[at - 1]].rank > h->list[i].rank;
		     at--)
			h->order[at] = h->order[at - 1];
		h->order[at] = i;
	}
}

long tui_hosts_place(const struct tui *t, size_t host)
{
	for (size_t i = 0; i < t->hosts.count; i++)
		if (t->hosts.order[i] == host)
			return (long)i;
	return -1;
}
