/* app.c - runs the loop of the viewer. */
#include "tui/app_part.h"

#include "base/clock.h"
#include "base/err.h"
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

/* GPUs that answer within this are not shown as unread before. */
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
		if (key == ('l' | (tui_key)TUI_CTRL))
			term_forget(); /* somebody else wrote there */
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
	app_ask_for_more(a);
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
			app_take_frames(a);
		app_follow_time(a);
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
