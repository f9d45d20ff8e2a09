/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.c - draws frames over each other on a terminal, and restores the
 * terminal afterwards.
 */
#include "cli/screen.h"
#include "base/assert.h"
#include "cli/output.h"

#include <pthread.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Escape sequences. The first one switches to the alternate screen, hides the
 * cursor and ends the wrapping of long lines; the second one undoes that.
 */
#define SCREEN_ON  "\033[?1049h\033[?25l\033[?7l"
#define SCREEN_OFF "\033[?7h\033[?25h\033[?1049l"

static const int endings[] = {SIGHUP, SIGQUIT, SIGILL, SIGABRT,
			      SIGBUS, SIGFPE,  SIGSEGV};

static bool taken;

static void put_sequence(const char *sequence)
{
	(void)!write(STDOUT_FILENO, sequence, strlen(sequence));
}

/* SA_RESETHAND has removed the handler, so raise() ends the process. */
static void on_ending(int number)
{
	put_sequence(SCREEN_OFF);
	raise(number);
}

/*
 * Stops the process until SIGCONT. The next frame then draws the screen again.
 */
static void on_stop(int number)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, mine;
	sigset_t set, before;
	int keep = errno;

	put_sequence(SCREEN_OFF);
	sigaction(number, &stop, &mine);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &set, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sigaction(number, &mine, NULL);
	put_sequence(SCREEN_ON);
	errno = keep;
}

/*
 * Installs the handler only for signals that are neither ignored (as by nohup)
 * nor handled by others.
 */
static void swap_handler(int number, void (*from)(int), void (*to)(int),
			 int flags)
{
	struct sigaction now, next = {.sa_handler = to, .sa_flags = flags};

	if (!sigaction(number, NULL, &now) && now.sa_handler == from)
		sigaction(number, &next, NULL);
}

bool gk_screen_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

void gk_screen_on(void)
{
	GK_ASSERT(!taken);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		swap_handler(endings[i], SIG_DFL, on_ending, (int)SA_RESETHAND);
	swap_handler(SIGTSTP, SIG_DFL, on_stop, SA_RESTART);
	put_sequence(SCREEN_ON);
	taken = true;
}

void gk_screen_off(void)
{
	if (!taken)
		return;
	taken = false;
	put_sequence(SCREEN_OFF);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		swap_handler(endings[i], on_ending, SIG_DFL, 0);
	swap_handler(SIGTSTP, on_stop, SIG_DFL, 0);
}

void gk_screen_frame(struct gk_buf *out, const struct gk_buf *text)
{
	const char *line = text->data, *end;
	int columns, rows;

	gk_terminal_size(&columns, &rows);
	gk_buf_puts(out, "\033[H");
	for (; line && *line && rows; line = end + 1, rows--) {
		end = strchrnul(line, '\n');
		gk_buf_add(out, line, (size_t)(end - line));
		gk_buf_puts(out, rows > 1 ? "\033[K\r\n" : "\033[K");
		if (!*end)
			break;
	}
	gk_buf_puts(out, "\033[J");
}
