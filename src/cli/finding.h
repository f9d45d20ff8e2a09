/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - what a doctor (`gpukit doctor`, `gpukit limit doctor`) has found,
 * and how it is shown.
 */
#ifndef GK_CLI_FINDING_H
#define GK_CLI_FINDING_H

#include "base/str.h"
#include "format/color.h"

#include <jansson.h>
#include <stdbool.h>

enum gk_finding_state {
	FINDING_BAD,  /* a verb or a GPU does not work */
	FINDING_WARN, /* something works with restrictions, or not for CUDA
		       * programs */
	FINDING_OK,
	FINDING_ABSENT,  /* this machine does not have the checked thing */
	FINDING_UNKNOWN, /* unknown until something else is repaired */
};

/* The finding of a check, and what the user should do ("" if nothing). */
struct gk_finding {
	enum gk_finding_state state;
	char says[1024];
	char todo[512];
};

/*
 * Sets the state and the text. Unprintable characters are replaced, because
 * parts of the text may come from elsewhere.
 */
void gk_finding_say(struct gk_finding *f, enum gk_finding_state state,
		    const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends to the text. */
void gk_finding_add(struct gk_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets the advice on what to do. */
void gk_finding_todo(struct gk_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Columns of a line: the state, the title, and the text up to its end. */
enum { GK_FINDING_STATE = 8, GK_FINDING_TITLE = 22 };

/* Adds a word, padded with blanks to `width`, but with at least one blank. */
void gk_finding_word(struct gk_buf *out, bool color, enum gk_color which,
		     const char *word, int width);

/*
 * Adds a finding that is bad, warn or ok: a line, and a line with what to do if
 * there is anything to do.
 */
void gk_finding_text(struct gk_buf *out, bool color, const char *title,
		     const struct gk_finding *f);

/*
 * Returns {"id", "title", "state", "finding", "do"}; "do" is null if there is
 * nothing to do.
 */
json_t *gk_finding_json(const char *id, const char *title,
			const struct gk_finding *f);

#endif
