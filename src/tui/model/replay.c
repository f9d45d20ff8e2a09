/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - rebuilds the history of a recording after a jump. */
#include "tui/model/replay.h"

#include "base/assert.h"
#include "tui/model/model.h"

/* The number of frames before the target of a jump that the graphs can show. */
#define FRAMES_BEFORE 300

void tui_replay_recall(struct tui *t, const struct gk_snapshot *now)
{
	const struct tui_replay *replay = t->options.replay;
	struct gk_history *history = gk_history_new(TUI_PROCESSES_REMEMBERED);
	struct gk_snapshot *snap, part;

	GK_ASSERT(replay);
	if (!history)
		return;
	for (size_t n = FRAMES_BEFORE; n; n--) {
		if (replay->before(replay->data, n, &snap))
			continue;
		if (snap->mono_ns < now->mono_ns &&
		    !gk_pick(snap, &t->options.pick, NULL, &part)) {
			gk_history_add(history, &part);
			gk_pick_free(&part);
		}
		gk_snapshot_free(snap);
	}
	gk_history_free(t->history);
	t->history = history;
}

bool tui_replay_refuses(struct tui *t)
{
	if (t->options.replay)
		tui_say(t, "The processes of a recording cannot be read.");
	if (t->options.hosts)
		tui_say(t, "The processes of another machine cannot be read.");
	return t->options.replay || t->options.hosts;
}
