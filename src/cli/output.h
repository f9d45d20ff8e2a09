/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - writes a verb's frames to standard output, with or without
 * colours, and handles a reader that goes away.
 */
#ifndef GK_CLI_OUTPUT_H
#define GK_CLI_OUTPUT_H

#include "base/str.h"

enum gk_color_choice { GK_COLOR_AUTO, GK_COLOR_ALWAYS, GK_COLOR_NEVER };

/*
 * Whether to use colours on stdout. The first of these that is set decides: the
 * option on the command line, NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR. If none is
 * set, colours are used on a terminal.
 */
bool gk_use_color(enum gk_color_choice choice);

/* Whether only ASCII may be printed because the locale is not UTF-8. */
bool gk_use_ascii(void);

/*
 * Returns the size of the terminal, or 80 by 24 if stdout is not a terminal.
 * COLUMNS overrides the width.
 */
void gk_terminal_size(int *ret_columns, int *ret_rows);

enum gk_output {
	GK_OUTPUT_OK,
	GK_OUTPUT_ENDED,  /* the reader went away, or a signal arrived */
	GK_OUTPUT_FAILED, /* a message is on stderr */
};

/*
 * Writes a whole buffer to stdout, even if a signal arrives meanwhile, unless
 * nobody reads it. SIGPIPE must be ignored.
 */
enum gk_output gk_write_out(const struct gk_buf *buf, const char *verb);

#endif
