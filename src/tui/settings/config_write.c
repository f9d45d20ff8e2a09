/* SPDX-License-Identifier: Apache-2.0 */
/* config_write.c - writes the config file. */
#include "base/err.h"
#include "base/fs.h"
#include "tui/settings/config.h"
#include "tui/settings/settings.h"
#include "tui/settings/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char our_comment[] = "# Settings of `gpukit top`, written by its "
				  "settings screen (F2).\n";

/* Adds a string in double quotes, where YAML has the same escapes as C. */
static void quote_yaml(struct gk_buf *out, const char *text)
{
	gk_buf_putc(out, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			gk_buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			gk_buf_printf(out, "\\x%02x", c);
		else
			gk_buf_putc(out, (char)c);
	}
	gk_buf_putc(out, '"');
}

static void write_word_list(struct gk_buf *out, const char *key,
			    char *const *words)
{
	gk_buf_printf(out, "%s: [", key);
	for (size_t i = 0; words[i]; i++) {
		gk_buf_puts(out, i ? ", " : "");
		quote_yaml(out, words[i]);
	}
	gk_buf_puts(out, "]\n");
}

/*
 * Writes the settings. The rows of a group are adjacent in the table, so its
 * key is written only once.
 */
static void write_settings(const struct tui_options *o, struct gk_buf *out)
{
	const char *group = "";
	size_t group_len = 0;

	for (size_t i = 0; i < tui_setting_count; i++) {
		const char *name = tui_settings[i].name;
		const char *dot = strchr(name, '.');
		size_t len = dot ? (size_t)(dot - name) : 0;
		char value[TUI_SETTING_TEXT];

		if (dot && (len != group_len || strncmp(name, group, len) != 0))
			gk_buf_printf(out, "%.*s:\n", (int)len, name);
		group = name;
		group_len = len;
		gk_buf_printf(out, "%s%s: %s\n", dot ? "  " : "",
			      dot ? dot + 1 : name,
			      tui_setting_text(&tui_settings[i], o, value));
	}
}

void tui_config_text(const struct tui_options *o, struct gk_buf *out)
{
	char columns[GK_COLUMNS_TEXT];

	gk_buf_puts(out, our_comment);
	write_settings(o, out);
	/*
	 * The command belongs to "alerts", which is the last group of the
	 * table.
	 */
	if (o->alerts.command)
		write_word_list(out, "  command", o->alerts.command);
	if (o->columns.count)
		gk_buf_printf(out, "columns: [%s]\n",
			      gk_columns_text(columns, &o->columns));
	if (o->binding_count)
		gk_buf_puts(out, "keys:\n");
	for (size_t i = 0; i < o->binding_count; i++) {
		gk_buf_printf(out, "  %s: ", o->bindings[i].action);
		quote_yaml(out, o->bindings[i].keys);
		gk_buf_putc(out, '\n');
	}
}

/* Creates the directories above a file. */
static int make_directories(const char *path)
{
	char *copy = strdup(path);
	int err = copy ? 0 : GK_ERR_NOMEM;

	for (char *slash = copy ? strchr(copy + 1, '/') : NULL; !err && slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST)
			err = gk_err_from_errno(errno);
		*slash = '/';
	}
	free(copy);
	return err;
}

/* Whether the file has comments other than our own first line. */
static bool has_comments(const char *text)
{
	if (!strncmp(text, our_comment, sizeof our_comment - 1))
		text += sizeof our_comment - 1;
	return strchr(text, '#') != NULL;
}

static int keep_old_file(const char *path, bool *ret_kept)
{
	char *text, *beside = NULL;
	ssize_t len;
	int err = 0;

	text = calloc(1, TUI_CONFIG_MOST + 1);
	if (!text)
		return GK_ERR_NOMEM;
	len = gk_read_at(AT_FDCWD, path, text, TUI_CONFIG_MOST + 1);
	if (len > 0 && has_comments(text)) {
		err = asprintf(&beside, "%s.bak", path) < 0
			  ? GK_ERR_NOMEM
			  : gk_write_atomic(beside, text, (size_t)len, 0600);
		*ret_kept = !err;
		free(beside);
	}
	free(text);
	return err;
}

/*
 * Refuses to replace a file that others can have written: its settings would
 * become trusted, and a command that was not accepted would be lost.
 */
static int leave_to_others(const char *path, const char *target, char *why)
{
	int fd = open(target, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool ours;

	if (fd < 0)
		return errno == ENOENT ? 0 : gk_err_from_errno(errno);
	ours = tui_trusts(path, fd, why, TUI_CONFIG_WHY);
	close(fd);
	return ours ? 0 : GK_ERR_PERMISSION;
}

int tui_config_save(const struct tui_options *o, bool *ret_kept,
		    char why[TUI_CONFIG_WHY])
{
	struct gk_buf text = {0};
	char *target;
	int err;

	*ret_kept = false;
	*why = '\0';
	if (!o->path)
		return GK_ERR_NOT_FOUND;
	target = realpath(o->path, NULL);
	tui_config_text(o, &text);
	err = text.failed ? GK_ERR_NOMEM : make_directories(o->path);
	if (!err && target)
		err = leave_to_others(o->path, target, why);
	if (!err && target)
		err = keep_old_file(target, ret_kept);
	if (!err)
		err = gk_write_atomic(target ? target : o->path, text.data,
				      text.len, 0600);
	gk_buf_free(&text);
	free(target);
	return err;
}
