/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - the list of facts about a GPU, each with a title and a text. */
#ifndef GK_TUI_FACTS_H
#define GK_TUI_FACTS_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* Returns the number of facts. They are numbered from 0. */
int tui_fact_count(void);

/*
 * Whether a fact may be long and needs a line of its own. Such facts come
 * first.
 */
bool tui_fact_is_long(int fact);

/* Whether a fact is only a heading for the facts that follow. */
bool tui_fact_is_section(int fact);

const char *tui_fact_title(int fact);

/*
 * Adds a fact's value as text. Returns false if there is no value; the text
 * then says why.
 */
bool tui_fact_add(struct gk_buf *out, int fact, const struct gk_snapshot *snap,
		  const struct gk_device *device);

/* Whether the device does not support a fact. */
bool tui_fact_is_unsupported(int fact, const struct gk_snapshot *snap,
			     const struct gk_device *device);

/*
 * Adds the titles of all facts that the device does not support, to be shown on
 * one line.
 */
void tui_facts_add_unsupported(struct gk_buf *out,
			       const struct gk_snapshot *snap,
			       const struct gk_device *device);

/* Returns why a value is absent, in at most 20 columns. */
const char *tui_absence(enum gk_absence why);

/*
 * Returns why a value is absent. For an implausible value, includes the number
 * that the driver returned. dst has GK_REASON_MAX bytes.
 */
const char *tui_reason(char *dst, struct gk_value value, enum gk_unit unit);

#endif
