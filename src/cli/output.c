/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - writes the frames of a verb to standard output. */
#include "cli/output.h"
#include "cli/interrupt.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Whether a variable is set, not empty and not 0. */
static bool is_variable_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0");
}

bool gk_use_color(enum gk_color_choice choice)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	if (choice != GK_COLOR_AUTO)
		return choice == GK_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	if (is_variable_set("CLICOLOR_FORCE") || is_variable_set("FORCE_COLOR"))
		return true;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

bool gk_use_ascii(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

void gk_terminal_size(int *ret_columns, int *ret_rows)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = {0};
	int64_t value;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*ret_columns = size.ws_col ? size.ws_col : 80;
	*ret_rows = size.ws_row ? size.ws_row : 24;
	if (columns && !gk_parse_int(columns, &value) && value > 0 &&
	    value < 10000)
		*ret_columns = (int)value;
}

/*
 * How long to wait, after a signal, until the reader takes the rest of a
 * half-written frame.
 */
#define GRACE_MS 500

/*
 * A partial line is useless to a reader, so a frame that was begun is finished
 * as long as somebody reads.
 */
static bool worth_ending(size_t done)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return done && poll(&out, 1, GRACE_MS) > 0;
}

/*
 * Writes one piece, small enough that a writable pipe takes it without
 * blocking. If a signal interrupted a blocked write() half-way, the result
 * would look like a short write, and the signal would be missed. Returns 0 or
 * an errno value.
 */
static int write_piece(const struct gk_buf *buf, size_t *done)
{
	size_t left = buf->len - *done;
	ssize_t n;

	if (!gk_interrupt_wait(STDOUT_FILENO, POLLOUT) && !worth_ending(*done))
		return EPIPE;
	n = write(STDOUT_FILENO, buf->data + *done,
		  left < PIPE_BUF ? left : PIPE_BUF);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : errno;
	*done += (size_t)n;
	return 0;
}

enum gk_output gk_write_out(const struct gk_buf *buf, const char *verb)
{
	size_t done = 0;
	int error = 0;

	if (buf->failed) {
		fprintf(stderr, "gpukit %s: out of memory\n", verb);
		return GK_OUTPUT_FAILED;
	}
	while (!error && done < buf->len)
		error = write_piece(buf, &done);
	if (!error)
		return GK_OUTPUT_OK;
	if (error == EPIPE)
		return GK_OUTPUT_ENDED;
	fprintf(stderr, "gpukit %s: cannot write the output: %s\n", verb,
		strerror(error));
	return GK_OUTPUT_FAILED;
}
