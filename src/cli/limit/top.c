/* SPDX-License-Identifier: Apache-2.0 */
/* top.c - `gpukit limit top`: redraws the table of groups every second. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/limit/limit.h"
#include "cli/output.h"
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

/*
 * Both ways to end the wait for the next frame: the timer and a key. `ready` is
 * an epoll descriptor that is readable in both cases.
 */
struct beat {
	int timer, ready;
	bool keys;
	struct termios before; /* the terminal's settings, to be restored */
};

static void watch_fd(struct beat *beat, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	epoll_ctl(beat->ready, EPOLL_CTL_ADD, fd, &event);
}

/* Sets the terminal to deliver each key at once, without echo. */
static void take_keys(struct beat *beat)
{
	struct termios raw;

	beat->keys =
	    isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &beat->before);
	if (!beat->keys)
		return;
	raw = beat->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	watch_fd(beat, STDIN_FILENO);
}

static int begin_beat(struct beat *beat, uint64_t interval_ns)
{
	const struct itimerspec every = {
	    .it_value = gk_timespec(interval_ns),
	    .it_interval = gk_timespec(interval_ns),
	};

	beat->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	beat->ready = epoll_create1(EPOLL_CLOEXEC);
	if (beat->timer < 0 || beat->ready < 0 ||
	    timerfd_settime(beat->timer, 0, &every, NULL))
		return gk_err_from_errno(errno);
	watch_fd(beat, beat->timer);
	take_keys(beat);
	return 0;
}

static void end_beat(struct beat *beat)
{
	if (beat->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &beat->before);
	close(beat->timer);
	close(beat->ready);
}

/*
 * Waits for the next frame. Returns false after q or a signal. Any other key
 * draws a frame at once.
 */
static bool await_frame(struct beat *beat)
{
	struct epoll_event event;
	uint64_t count;
	char key = 'q';

	if (!gk_interrupt_wait(beat->ready, POLLIN) ||
	    epoll_wait(beat->ready, &event, 1, 0) != 1)
		return false;
	if (event.data.fd == beat->timer)
		return read(beat->timer, &count, sizeof count) > 0;
	return read(STDIN_FILENO, &key, 1) == 1 && key != 'q' && key != 'Q';
}

static void put_title(struct gk_buf *out, bool color)
{
	gk_buf_printf(out, "%sgpukit limit top%s   q ends\n",
		      color ? "\033[1m" : "", color ? "\033[0m" : "");
}

static int build_frame(const struct limit_ask *ask, bool screen,
		       struct gk_buf *out)
{
	struct gk_buf text = {0};
	struct limit_views views;
	int code = limit_views_read(ask->name, &views);

	if (code)
		return code;
	out->len = 0;
	if (ask->json)
		limit_views_json(out, &views, true);
	else if (screen)
		put_title(&text, gk_use_color(GK_COLOR_AUTO));
	if (!ask->json)
		limit_list_text(&text, &views, limit_columns());
	if (screen)
		gk_screen_frame(out, &text);
	else
		gk_buf_add(out, text.data, text.len);
	out->failed |= text.failed;
	gk_buf_free(&text);
	limit_views_free(&views);
	return 0;
}

static int show_frames(const struct limit_ask *ask, struct beat *beat,
		       bool screen, bool again)
{
	struct gk_buf out = {0};
	enum gk_output output;
	int code;

	do {
		code = build_frame(ask, screen, &out);
		output = code ? GK_OUTPUT_FAILED : gk_write_out(&out, "limit");
	} while (again && output == GK_OUTPUT_OK && await_frame(beat));
	gk_buf_free(&out);
	return output == GK_OUTPUT_FAILED ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

/*
 * Prints why a group cannot be shown: it is missing, or belongs to another
 * user.
 */
static int check_name(const char *name)
{
	struct limit_view view;

	if (!name)
		return 0;
	limit_view_read(name, &view);
	limit_view_free(&view);
	return view.err ? limit_tell(name, view.err) : 0;
}

int limit_top(struct limit_ask *ask)
{
	bool screen = !ask->json && gk_screen_possible();
	struct beat beat = {0};
	int code = check_name(ask->name), err;

	if (code)
		return code;
	err = gk_interrupt_catch();
	if (!err)
		err = begin_beat(&beat, ask->interval_ns);
	gk_interrupt_ready();
	if (err)
		return limit_failure("top: %s", gk_strerror(err));
	if (screen)
		gk_screen_on();
	code = show_frames(ask, &beat, screen, screen || ask->json);
	gk_screen_off();
	end_beat(&beat);
	return code;
}
