/*
 * config.h - the config file of the viewer, top.yaml in the user's directory
 * of settings: read strictly, written whole.
 */
#ifndef GK_TUI_CONFIG_H
#define GK_TUI_CONFIG_H

#include "tui/model.h"

#define TUI_CONFIG_MOST (64 * 1024) /* bytes of the file */
#define TUI_CONFIG_WHY  4096        /* of a line that tells why not */

/* The options of a viewer where nobody says otherwise. */
extern const struct tui_options TUI_OPTIONS_DEFAULT;

/* Frees what a config file left in options. */
void tui_options_free(struct tui_options *o);

/*
 * Reads $XDG_CONFIG_HOME/gpukit/top.yaml, or ~/.config/gpukit/top.yaml, into
 * options, and remembers its path there; no file is no error, nor one behind a
 * directory that is closed to this user. 0, or a gk_err after one line
 * "file:line: ..." in message. A command of alerts is taken only from a file
 * that nobody else can have written (trust.h); else alerts.refused says why.
 */
int tui_config_load(struct tui_options *o, char *message, size_t cap);

/* The same of a file that is named. */
int tui_config_read(const char *path, struct tui_options *o, char *message,
		    size_t cap);

/* Adds the text of the file that says these options. */
void tui_config_text(const struct tui_options *o, struct gk_buf *out);

/*
 * Writes the file whole or not at all, and makes its directory (0700). 0 or a
 * gk_err; GK_ERR_NOT_FOUND: there is no home directory. What has comments of
 * the user is kept beside it as top.yaml.bak, and *ret_kept says so. A link is
 * followed. What others can have written is left as it is: then, and only then,
 * why says so.
 */
int tui_config_save(const struct tui_options *o, bool *ret_kept,
		    char why[TUI_CONFIG_WHY]);

#endif
