/*
 * output.h - standard output of a verb: whole frames, colours or not, and
 * what happens when nobody reads any more.
 */
#ifndef GK_CLI_OUTPUT_H
#define GK_CLI_OUTPUT_H

#include "base/str.h"

enum gk_color_choice { GK_COLOR_AUTO, GK_COLOR_ALWAYS, GK_COLOR_NEVER };

/*
 * Whether stdout gets colours: the choice on the command line, then NO_COLOR,
 * CLICOLOR_FORCE and FORCE_COLOR, then whether it is a terminal.
 */
bool gk_use_color(enum gk_color_choice choice);

/* Whether the locale is not UTF-8, so that only ASCII may be printed. */
bool gk_use_ascii(void);

/* Size of the terminal; COLUMNS wins; 80 and 24 when there is none. */
void gk_terminal_size(int *ret_columns, int *ret_rows);

enum gk_output {
	GK_OUTPUT_OK,
	GK_OUTPUT_ENDED,  /* the reader went away, or a signal came */
	GK_OUTPUT_FAILED, /* a message is on stderr */
};

/*
 * Writes a buffer to stdout, whole even when a signal comes meanwhile, unless
 * nobody reads any more. SIGPIPE must be ignored.
 */
enum gk_output gk_write_out(const struct gk_buf *buf, const char *verb);

#endif
