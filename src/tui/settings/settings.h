/*
 * settings.h - what the user may set, as one table: the config file reads and
 * writes its rows, the settings screen shows and changes them.
 */
#ifndef GK_TUI_SETTINGS_H
#define GK_TUI_SETTINGS_H

#include "tui/model.h"

enum tui_setting_kind {
	SETTING_YES,      /* bool */
	SETTING_NO,       /* bool, told the other way round */
	SETTING_CHOICE,   /* an enum: the words in its order */
	SETTING_SORT,     /* struct tui_order */
	SETTING_NUMBER,   /* int; 0 is "off" */
	SETTING_SECONDS,  /* uint64_t, nanoseconds */
	SETTING_PERCENTS, /* struct gk_limits */
};

struct tui_setting {
	const char *name; /* key of the config file; "alerts.idle": in alerts */
	const char *help;
	enum tui_setting_kind kind;
	size_t at; /* in struct tui_options */
	const char *const *words;
	int least, most, step; /* of numbers; of seconds: milliseconds */
};

extern const struct tui_setting tui_settings[];
extern const size_t tui_setting_count;

/* The row of a name, or NULL. */
const struct tui_setting *tui_setting_find(const char *name);

/* Its value as the config file says it: "true", "[10, 75]", "0.5". */
#define TUI_SETTING_TEXT 64
const char *tui_setting_text(const struct tui_setting *s,
			     const struct tui_options *o, char *dst);

/*
 * Sets it from words of the config file, of which only percents have two.
 * False: it takes no such value, tui_setting_wants() says which, and nothing
 * has changed.
 */
bool tui_setting_set(const struct tui_setting *s, struct tui_options *o,
		     const char *const *words, size_t count);
void tui_setting_wants(const struct tui_setting *s, char *dst, size_t cap);

/* The next value (by 1), or the one before (-1); round at the ends. */
void tui_setting_step(const struct tui_setting *s, struct tui_options *o,
		      int by);

#endif
