/* app.c - runs the loop of the viewer. */
#include "tui/app.h"

#include "base/clock.h"
#include "base/err.h"
#include "format/names.h"
#include "tui/before.h"
#include "tui/view.h"
#include "tui/bindings.h"
#include "tui/catch.h"
#include "tui/layer.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define ALERT_COLOR 1                  /* red */
#define FRAME_NS    (GK_NS_PER_S / 60) /* no more often */

/* Costly values are read no more often; a little less than a frame. */
#define ASK_NS (900 * GK_NS_PER_MS)

/* The driver is not asked for its memories while the first frame is made. */
#define PAST_NS (50 * GK_NS_PER_MS)

/* GPUs that answer within this are not shown as unread before. */
#define FIRST_NS (8 * GK_NS_PER_MS)

struct app {
	struct tui t;
	struct gk *gk;
	/* The frame that is shown; the part of it that is asked for. */
	struct gk_snapshot *snap, part;
	struct gk_snapshot *newest; /* while one of the past is shown */
	uint64_t shown_ns;          /* the time.end_ns that is shown */
	struct tui_alerts alerts;
	struct grid grid;
	int signals; /* signalfd */
	int ended_by;
	bool dirty;      /* something changed since it was drawn */
	int asked;       /* the GPU that more was asked of last */
	uint64_t ask_ns; /* when it is asked again */
	bool whole;      /* all GPUs have been read, or are known to be ill */
	/* When the driver is asked what it remembers of before; 0: it was, or
	 * nothing has been drawn yet. */
	uint64_t past_ns;
	uint64_t due_ns; /* no drawing before */
	uint64_t period_ns;
};

/* ---- drawing ---- */

static void draw_message(struct app *a)
{
	struct tui *t = &a->t;
	int row = a->grid.rows - 1;

	if (!t->message_until_ns)
		return;
	grid_blank(&a->grid, row, 0, 1, a->grid.columns);
	grid_line(&a->grid, row, 0, t->message, strlen(t->message),
		  (struct grid_style){GRID_COLOR_NONE, GRID_REVERSE});
}

/* Alerts have the last row, which the screens then do without; the main screen
 * of lanes and their own have a place for them. */
static void draw_screen(struct app *a)
{
	struct tui *t = &a->t;
	struct grid *g = &a->grid;
	bool placed =
	    t->screen == SCREEN_ALERTS || t->screen == SCREEN_HOSTS ||
	    (t->options.look == LOOK_LANES && t->screen == SCREEN_MAIN);
	int rows = g->rows, kept = t->alerts->on && rows > 1 && !placed;
	struct gk_buf line = {0};

	t->rows = g->rows = rows - kept;
	tui_draw(t, g);
	tui_layer_draw(t, g);
	g->rows = rows;
	if (!kept)
		return;
	if (tui_time_is_past(t))
		gk_buf_puts(&line, "now: ");
	tui_alerts_line(t->alerts, &line);
	grid_blank(g, rows - 1, 0, 1, g->columns);
	grid_line(g, rows - 1, 0, line.data ? line.data : "", line.len,
		  (struct grid_style){ALERT_COLOR, GRID_BOLD | GRID_REVERSE});
	gk_buf_free(&line);
}

static void draw_app(struct app *a)
{
	struct tui *t = &a->t;

	draw_screen(a);
	draw_message(a);
	if (t->options.term.ascii)
		grid_to_ascii(&a->grid);
	if (!term_show(&a->grid))
		a->ended_by = SIGHUP;
	a->dirty = false;
	a->due_ns = gk_mono_ns() + FRAME_NS;
}

static bool resize_app(struct app *a)
{
	term_size(&a->t.rows, &a->t.columns);
	a->dirty = true;
	return grid_resize(&a->grid, a->t.rows, a->t.columns);
}

/* ---- what comes in ---- */

static void check_alerts(struct app *a, const struct gk_snapshot *snap)
{
	const struct tui_alert_rules *rules = &a->t.options.alerts;
	int error;

	/* Nobody is to be told of what has long passed. */
	if (a->t.options.replay)
		return;
	tui_alerts_reap();
	if (!tui_alerts_update(&a->alerts, rules, snap))
		return;
	a->dirty = true;
	term_beep();
	if (rules->refused)
		tui_say(&a->t, "%s", rules->refused);
	error = tui_alerts_run(&a->alerts, rules, snap->mono_ns);
	if (error)
		tui_say(&a->t, "%s: %s", rules->command[0], strerror(error));
}

static void forget_frame(struct app *a)
{
	gk_pick_free(&a->part);
	gk_snapshot_free(a->snap);
	a->snap = NULL;
	a->t.snap = NULL;
}

/* Shows a frame, which it takes over. */
static void show_frame(struct app *a, struct gk_snapshot *snap,
		       const struct gk_snapshot *part)
{
	forget_frame(a);
	a->snap = snap;
	a->part = *part;
	a->t.snap = &a->part;
	tui_list_update(&a->t);
	tui_frame(&a->t);
	a->dirty = true;
}

/*
 * PCIe traffic blocks the driver, and details are many calls: they are read
 * only of the GPU that is looked at, and not with every frame of a fast viewer.
 */
static void ask_for_more(struct app *a)
{
	int index = view_device_index(&a->t);
	uint64_t now = gk_mono_ns();

	if (index < 0 || !a->gk || (a->asked == index && now < a->ask_ns))
		return;
	gk_watch_ask(a->gk, (unsigned)index,
		     1U << GK_TIER_ASKED | 1U << GK_TIER_DETAIL);
	a->asked = index;
	a->ask_ns = now + ASK_NS;
}

static bool is_whole(const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (gk_device_unread(&snap->devices[i]))
			return false;
	return true;
}

/* A frame that is waited for is drawn at once when it is there. */
static void see_whole(struct app *a, const struct gk_snapshot *snap)
{
	if (a->whole || !is_whole(snap))
		return;
	a->whole = true;
	a->due_ns = 0;
	a->past_ns = a->gk ? gk_mono_ns() + PAST_NS : 0;
}

static int next_frame(struct app *a, bool *ret_jumped,
		      struct gk_snapshot **ret_snap)
{
	const struct tui_replay *replay = a->t.options.replay;
	int r;

	*ret_jumped = false;
	if (!replay) {
		gk_read_of_processes(a->gk, tui_with(&a->t));
		return gk_watch_next(a->gk, ret_snap);
	}
	r = replay->next(replay->data, ret_jumped, ret_snap);
	if (!r && *ret_jumped)
		tui_replay_recall(&a->t, *ret_snap);
	return r;
}

/* ---- the past ---- */

static bool is_kept_shown(const struct app *a)
{
	return a->newest != NULL;
}

/* Shows a frame, or drops it: that of the part that is asked for. */
static void show_whole(struct app *a, struct gk_snapshot *snap)
{
	struct gk_snapshot part;

	if (gk_pick(snap, &a->t.options.pick, NULL, &part))
		gk_snapshot_free(snap);
	else
		show_frame(a, snap, &part);
}

static void show_newest(struct app *a)
{
	struct gk_snapshot *newest = a->newest;

	a->t.time.kept = false;
	a->newest = NULL;
	if (newest)
		show_whole(a, newest);
}

/* A frame of long before that moment is not that of the moment. */
static void show_past(struct app *a)
{
	const struct tui_keep *keep = a->t.options.keep;
	uint64_t wall = tui_time_wall(&a->t);
	struct gk_snapshot *snap;

	/* Frames are a little early or late: the nearest is meant. */
	if (keep->at(keep->data, wall + a->period_ns / 2, &snap)) {
		show_newest(a);
		return;
	}
	if (snap->wall_ns + 2 * a->period_ns + 2 * GK_NS_PER_S < wall) {
		gk_snapshot_free(snap);
		show_newest(a);
		return;
	}
	if (!a->newest) {
		a->newest = a->snap;
		a->snap = NULL;
	}
	a->t.time.kept = true;
	show_whole(a, snap);
}

/* After a key or a frame: another moment may be asked for. */
static void follow_time(struct app *a)
{
	uint64_t end = a->t.time.end_ns;

	if (a->t.options.hosts)
		a->dirty |= tui_hosts_follow_time(&a->t);
	if (!a->t.options.keep || end == a->shown_ns || !a->t.time.now_ns)
		return;
	a->shown_ns = end;
	if (tui_time_is_past(&a->t))
		show_past(a);
	else
		show_newest(a);
}

static void keep_frame(struct app *a, const struct gk_snapshot *snap)
{
	const struct tui_keep *keep = a->t.options.keep;

	if (!keep)
		return;
	keep->add(keep->data, snap);
	a->t.time.now_ns = snap->mono_ns;
	a->t.time.now_wall_ns = snap->wall_ns;
}

/* ---- frames ---- */

static void take_frame(struct app *a)
{
	struct gk_snapshot *snap, part;
	bool jumped;

	if (next_frame(a, &jumped, &snap))
		return;
	ask_for_more(a);
	if (gk_pick(snap, &a->t.options.pick, NULL, &part)) {
		gk_snapshot_free(snap);
		return;
	}
	see_whole(a, snap);
	gk_history_add(a->t.history, &part);
	if (a->gk)
		tui_before_take(a->gk, &part, a->t.history);
	check_alerts(a, &part);
	keep_frame(a, snap);
	if (is_kept_shown(a)) {
		gk_pick_free(&part);
		gk_snapshot_free(a->newest);
		a->newest = snap;
		a->dirty = true;
		return;
	}
	if (!a->t.paused || jumped) {
		show_frame(a, snap, &part);
		return;
	}
	gk_pick_free(&part);
	gk_snapshot_free(snap);
}

/*
 * Stops here until SIGCONT. The whole group stops, as the terminal would have
 * it: a launcher in front of us is what the shell waits for.
 */
static void stop_until_continued(struct app *a, pid_t whom)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	term_suspend();
	kill(whom, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	term_resume();
	resize_app(a);
}

static void take_keys(struct app *a)
{
	tui_key key;

	while (!a->t.quit && (key = term_key()) != TUI_KEY_NONE) {
		if (key == TUI_KEY_RESIZE)
			resize_app(a);
		else if (term_pasted() && !a->t.prompt.kind)
			tui_say(&a->t, "pasted text is not taken for keys");
		else if (term_pasted() && key == TUI_KEY_ENTER)
			tui_key_pressed(&a->t, ' ');
		else if (key == ('z' | (tui_key)TUI_CTRL))
			stop_until_continued(a, 0);
		else
			tui_key_pressed(&a->t, key);
		a->dirty = true;
	}
	ask_for_more(a);
}

static void take_signal(struct app *a)
{
	struct signalfd_siginfo info;

	if (read(a->signals, &info, sizeof info) != sizeof info)
		return;
	switch (info.ssi_signo) {
	case SIGWINCH:
		term_resized();
		resize_app(a);
		break;
	case SIGCONT:
		term_resume();
		resize_app(a);
		break;
	case SIGTSTP:
		stop_until_continued(a, getpid());
		break;
	case SIGINT:
		tui_key_pressed(&a->t, 'c' | (tui_key)TUI_CTRL);
		a->dirty = true;
		break;
	default:
		a->ended_by = (int)info.ssi_signo;
	}
}

/* The earlier of two moments, where 0 is never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

/* Milliseconds that may be slept; -1: until something comes. */
static int patience(const struct app *a)
{
	uint64_t now = gk_mono_ns(), due = a->due_ns;

	if (!a->dirty)
		due = earlier(a->past_ns, a->t.message_until_ns);
	if (!a->dirty && !due)
		return -1;
	return now >= due ? 0 : (int)((due - now) / GK_NS_PER_MS) + 1;
}

/* The settings screen may have changed the period, or paused. */
static void keep_period(struct app *a)
{
	const struct tui_replay *replay = a->t.options.replay;

	if (replay)
		replay->pause(replay->data, a->t.paused);
	if (a->period_ns == a->t.options.interval_ns)
		return;
	a->period_ns = a->t.options.interval_ns;
	if (a->gk)
		gk_watch_period(a->gk, a->period_ns);
}

static void expire_message(struct app *a)
{
	if (!a->t.message_until_ns || gk_mono_ns() < a->t.message_until_ns)
		return;
	a->t.message_until_ns = 0;
	a->dirty = true;
}

/* Polls readable when there are frames. */
static int frames_fd(const struct app *a)
{
	const struct tui_options *o = &a->t.options;

	return o->hosts    ? gk_hosts_fd(o->hosts)
	       : o->replay ? o->replay->fd
			   : gk_watch_fd(a->gk);
}

static void take_frames(struct app *a)
{
	if (a->t.options.hosts)
		a->dirty |= tui_hosts_turn(&a->t);
	else
		take_frame(a);
}

static void loop_app(struct app *a)
{
	struct pollfd fds[] = {
	    {.fd = STDIN_FILENO, .events = POLLIN},
	    {.fd = a->signals, .events = POLLIN},
	    {.fd = frames_fd(a), .events = POLLIN},
	};

	while (!a->t.quit && !a->ended_by) {
		if (poll(fds, sizeof fds / sizeof *fds, patience(a)) < 0 &&
		    errno != EINTR)
			break;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			a->ended_by = SIGHUP;
		if (fds[0].revents & POLLIN)
			take_keys(a);
		if (fds[1].revents & POLLIN)
			take_signal(a);
		if (fds[2].revents & POLLIN)
			take_frames(a);
		follow_time(a);
		keep_period(a);
		expire_message(a);
		if (a->past_ns && a->t.snap && gk_mono_ns() >= a->past_ns) {
			a->past_ns = 0;
			tui_before_ask(a->gk, a->t.snap);
		}
		if (a->dirty && patience(a) == 0)
			draw_app(a);
	}
}

/* ---- beginning and end ---- */

static void who(struct tui *t)
{
	struct passwd *entry;

	t->uid = geteuid();
	entry = getpwuid(t->uid);
	t->user = entry ? strdup(entry->pw_name) : NULL;
	t->options.boxed.uid = t->uid;
	t->options.boxed.user = t->user;
}

static int prepare_app(struct app *a, const struct tui_options *options)
{
	struct tui *t = &a->t;

	t->options = *options;
	t->alerts = &a->alerts;
	t->colors = term_colors();
	who(t);
	t->order = options->order;
	t->keymap = tui_bindings_map(options);
	if (t->options.hosts)
		return t->keymap ? tui_hosts_begin(t) : GK_ERR_NOMEM;
	t->history = gk_history_new(TUI_PROCESSES_REMEMBERED);
	if (!t->keymap || !t->history)
		return GK_ERR_NOMEM;
	return 0;
}

static void release_app(struct app *a)
{
	struct tui *t = &a->t;

	while (tui_back(t))
		;
	free(t->tree.closed);
	forget_frame(a);
	gk_snapshot_free(a->newest);
	tui_alerts_free(&a->alerts);
	if (t->options.hosts)
		tui_hosts_end(t);
	else
		gk_history_free(t->history);
	tui_keymap_free(t->keymap);
	grid_free(&a->grid);
	free(t->list);
	free(t->tags);
	tui_dialog_close(t);
	tui_signal_free(t);
	tui_words_free(&t->words);
	free((char *)(uintptr_t)t->user);
}

static int run_app(struct app *a)
{
	int r;

	a->period_ns = a->t.options.interval_ns;
	r = a->gk ? gk_watch_begin(a->gk, a->period_ns) : 0;
	if (!r)
		r = term_open(&a->t.options.term);
	if (r)
		return r;
	r = resize_app(a) ? 0 : GK_ERR_NOMEM;
	a->due_ns = gk_mono_ns() + FIRST_NS;
	take_frames(a);
	if (!r)
		loop_app(a);
	term_close();
	return r;
}

/* Leaves behind the options as they were set, and the last snapshot shown. */
static void hand_back(struct app *a, struct tui_options *options,
		      struct gk_snapshot **ret_last)
{
	const char *user = options->boxed.user;

	*options = a->t.options;
	options->boxed.user = user;
	if (a->t.options.hosts) {
		*ret_last = tui_hosts_last(&a->t);
		return;
	}
	*ret_last = a->newest ? a->newest : a->snap;
	if (a->newest)
		a->newest = NULL;
	else
		a->snap = NULL;
}

int tui_run(struct gk *gk, struct tui_options *options, int *ret_signal,
	    struct gk_snapshot **ret_last)
{
	struct app *a = calloc(1, sizeof *a);
	sigset_t before;
	int r;

	if (!a)
		return GK_ERR_NOMEM;
	a->gk = gk;
	a->signals = tui_catch_signals(&before);
	r = a->signals < 0 ? gk_err_from_errno(errno) : prepare_app(a, options);
	if (!r)
		r = run_app(a);
	if (!r) {
		*ret_signal = a->ended_by;
		hand_back(a, options, ret_last);
	}
	if (a->signals >= 0)
		close(a->signals);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	release_app(a);
	free(a);
	return r;
}
