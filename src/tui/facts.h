/*
 * facts.h - everything that a snapshot knows of a GPU, in words.
 */
#ifndef GK_TUI_FACTS_H
#define GK_TUI_FACTS_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* How many facts there are. */
int tui_fact_count(void);

/* Whether it may be long and wants its own line; these are the first. */
bool tui_fact_is_long(int fact);

/* Whether it is a heading over those that follow, which has no value. */
bool tui_fact_is_section(int fact);

/* The title of one. */
const char *tui_fact_title(int fact);

/* Adds its value as text; false: there is none, and the text says why. */
bool tui_fact_add(struct gk_buf *out, int fact, const struct gk_snapshot *snap,
		  const struct gk_device *device);

/* Why a value is absent, in at most 20 columns. */
const char *tui_absence(enum gk_absence why);

#endif
