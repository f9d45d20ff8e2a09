/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.c - runs the viewer's main loop, which handles keys, signals and frames,
 * and draws.
 */
#include "base/assert.h"
#include "tui/app_part.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/trace.h"
#include "tui/model/before.h"
#include "tui/views/view.h"
#include "tui/settings/bindings.h"
#include "tui/screen/catch.h"
#include "tui/screen/layer.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define ALERT_COLOR 1                  /* red */
#define FRAME_NS    (GK_NS_PER_S / 60) /* shortest time between two draws */

/*
 * How long the first draw is delayed, so that GPUs that answer quickly do not
 * appear as unread.
 */
#define FIRST_NS (8 * GK_NS_PER_MS)

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

/*
 * Draws the screen. Also draws the active alerts in the last row, except on
 * screens that show alerts themselves: the main screen of lanes, and the
 * screens of alerts and hosts.
 */
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
	struct gk_span span;

	gk_span_begin(&span, "draw the screen");
	draw_screen(a);
	draw_message(a);
	if (t->options.term.ascii)
		grid_to_ascii(&a->grid);
	if (!term_show(&a->grid))
		a->ended_by = SIGHUP;
	gk_span_end(&span);
	a->dirty = false;
	a->due_ns = gk_mono_ns() + FRAME_NS;
}

static bool resize_app(struct app *a)
{
	term_size(&a->t.rows, &a->t.columns);
	a->dirty = true;
	return grid_resize(&a->grid, a->t.rows, a->t.columns);
}

/* ---- input ---- */

/*
 * Stops until SIGCONT. `whom` is passed to kill(). For Ctrl-Z it is 0, which
 * stops the whole process group as the terminal would: the shell may be waiting
 * for a launcher that started us.
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
		if (key == ('l' | (tui_key)TUI_CTRL))
			/* Another program has drawn on the terminal. */
			term_forget();
		if (key == TUI_KEY_RESIZE)
			resize_app(a);
		else if (term_pasted() && !a->t.prompt.kind)
			tui_say(&a->t, "Pasted text is ignored here.");
		else if (term_pasted() && key == TUI_KEY_ENTER)
			tui_key_pressed(&a->t, ' ');
		else if (key == ('z' | (tui_key)TUI_CTRL))
			stop_until_continued(a, 0);
		else
			tui_key_pressed(&a->t, key);
		a->dirty = true;
	}
	app_ask_for_more(a);
}

/*
 * Redraws if the terminal has reported meanwhile whether its background is
 * light or dark.
 */
static void follow_ground(struct app *a)
{
	if (a->t.options.term.light == term_light())
		return;
	a->t.options.term.light = term_light();
	term_options_set(&a->t.options.term);
	a->dirty = true;
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

/* Returns the earlier of two moments. 0 means never. */
static uint64_t earlier_of(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

/* Returns how many milliseconds poll() may wait, or -1 for no limit. */
static int poll_timeout(const struct app *a)
{
	uint64_t now = gk_mono_ns(), due = a->due_ns;

	/*
	 * Drawing waits until the terminal has reported its background, if it
	 * is expected to do so soon.
	 */
	if (due < term_answer_due())
		due = term_answer_due();

	if (!a->dirty)
		due = earlier_of(a->past_ns, a->t.message_until_ns);
	if (!a->dirty && !due)
		return -1;
	return now >= due ? 0 : (int)((due - now) / GK_NS_PER_MS) + 1;
}

/*
 * Tells the replay whether the viewer is paused, and tells the watch the
 * interval if it was changed on the settings screen.
 */
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

/* Returns a descriptor that is readable when frames have arrived. */
static int frames_fd(const struct app *a)
{
	const struct tui_options *o = &a->t.options;

	return o->hosts    ? gk_hosts_fd(o->hosts)
	       : o->replay ? o->replay->fd
			   : gk_watch_fd(a->gk);
}

static void loop_app(struct app *a)
{
	struct pollfd fds[] = {
	    {.fd = STDIN_FILENO, .events = POLLIN},
	    {.fd = a->signals, .events = POLLIN},
	    {.fd = frames_fd(a), .events = POLLIN},
	};

	while (!a->t.quit && !a->ended_by) {
		if (poll(fds, sizeof fds / sizeof *fds, poll_timeout(a)) < 0 &&
		    errno != EINTR)
			break;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			a->ended_by = SIGHUP;
		if (fds[0].revents & POLLIN)
			take_keys(a);
		follow_ground(a);
		if (fds[1].revents & POLLIN)
			take_signal(a);
		if (fds[2].revents & POLLIN)
			app_take_frames(a);
		app_follow_time(a);
		keep_period(a);
		expire_message(a);
		if (a->past_ns && a->t.snap && gk_mono_ns() >= a->past_ns) {
			a->past_ns = 0;
			tui_before_ask(a->gk, a->t.snap);
		}
		if (a->dirty && poll_timeout(a) == 0)
			draw_app(a);
	}
}

/* ---- beginning and end ---- */

static void identify_user(struct tui *t)
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
	t->views = tui_views;
	t->alerts = &a->alerts;
	t->colors = term_colors();
	identify_user(t);
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
	app_forget_frame(a);
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
	app_take_frames(a);
	if (!r)
		loop_app(a);
	term_close();
	return r;
}

/* Returns the options as changed by the user, and the last snapshot. */
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

	GK_ASSERT(gk || options->replay || options->hosts);
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
