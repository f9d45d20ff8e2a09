/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - reads and writes the viewer's config file, gpukit/top.yaml in the
 * user's config directory. Unknown keys and values are errors.
 */
#ifndef GK_TUI_CONFIG_H
#define GK_TUI_CONFIG_H

#include "tui/model/model.h"

#define TUI_CONFIG_MOST (64 * 1024) /* maximum size of the file */
#define TUI_CONFIG_WHY  4096        /* size of the reason for refusing it */

extern const struct tui_options TUI_OPTIONS_DEFAULT;

/* Frees the memory that was allocated while reading a config file. */
void tui_options_free(struct tui_options *o);

/*
 * Reads $XDG_CONFIG_HOME/gpukit/top.yaml, or ~/.config/gpukit/top.yaml, into
 * options, and stores its path there. It is no error if the file does not exist
 * or is in a directory that this user may not search. Returns 0, or a gk_err
 * with a line "file:line: ..." in message. Accepts alerts.command only from a
 * file that no other user can have written (trust.h); otherwise alerts.refused
 * says why.
 */
int tui_config_load(struct tui_options *o, char *message, size_t cap);

/* Reads the given file in the same way. It must exist. */
int tui_config_read(const char *path, struct tui_options *o, char *message,
		    size_t cap);

/* Adds the text of a config file that sets these options. */
void tui_config_text(const struct tui_options *o, struct gk_buf *out);

/*
 * Writes the file atomically. Creates its directory (0700) if needed. Follows a
 * symbolic link. If the file contains comments by the user, first copies it to
 * top.yaml.bak and sets *ret_kept. Refuses to replace a file that others can
 * have written; then, and only then, sets `why`. Returns 0 or a gk_err:
 * GK_ERR_NOT_FOUND if there is no home directory.
 */
int tui_config_save(const struct tui_options *o, bool *ret_kept,
		    char why[TUI_CONFIG_WHY]);

#endif
