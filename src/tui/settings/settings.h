/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the table of settings. The config file contains its rows; the
 * settings screen shows and changes them.
 */
#ifndef GK_TUI_SETTINGS_H
#define GK_TUI_SETTINGS_H

#include "tui/model/model.h"

enum tui_setting_kind {
	SETTING_YES,      /* bool */
	SETTING_NO,       /* bool whose inverse is shown */
	SETTING_CHOICE,   /* an enum; `words` is indexed by its values */
	SETTING_SORT,     /* struct tui_order */
	SETTING_NUMBER,   /* int; 0 is shown as "off" */
	SETTING_SECONDS,  /* uint64_t, nanoseconds */
	SETTING_PERCENTS, /* struct gk_limits */
};

struct tui_setting {
	/* The key in the config file. "alerts.idle" is `idle` in `alerts`. */
	const char *name;
	const char *help;
	enum tui_setting_kind kind;
	size_t at;                /* offset in struct tui_options */
	const char *const *words; /* for SETTING_CHOICE; NULL-terminated */
	int least, most, step;    /* for SETTING_SECONDS in milliseconds */
};

extern const struct tui_setting tui_settings[];
extern const size_t tui_setting_count;

/* Returns the row with a name, or NULL. */
const struct tui_setting *tui_setting_find(const char *name);

/*
 * Writes a setting's value in the syntax of the config file: "true", "[10,
 * 75]", "0.5".
 */
#define TUI_SETTING_TEXT 64
const char *tui_setting_text(const struct tui_setting *s,
			     const struct tui_options *o, char *dst);

/*
 * Sets a setting from words of the config file: two words for SETTING_PERCENTS,
 * one or two for SETTING_SORT, one for others. If the words are not valid,
 * returns false and changes nothing; tui_setting_wants() then writes which
 * words are valid.
 */
bool tui_setting_set(const struct tui_setting *s, struct tui_options *o,
		     const char *const *words, size_t count);
void tui_setting_wants(const struct tui_setting *s, char *dst, size_t cap);

/*
 * Sets a setting to the next (1) or previous (-1) value. Choices wrap around.
 */
void tui_setting_step(const struct tui_setting *s, struct tui_options *o,
		      int by);

/* The names of the themes, NULL-terminated. */
extern const char *const tui_theme_names[TUI_THEMES + 1];

#endif
