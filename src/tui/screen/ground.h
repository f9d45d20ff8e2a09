/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ground.h - finds out whether the terminal's background is light, from its
 * answer to a query or from COLORFGBG. It does no I/O: term_key.c sends the
 * query.
 */
#ifndef GK_TUI_GROUND_H
#define GK_TUI_GROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tui_ground { GROUND_UNKNOWN, GROUND_DARK, GROUND_LIGHT };

/*
 * The query for the background colour (OSC 11), and the beginning of an answer.
 */
#define TUI_GROUND_ASK   "\033]11;?\033\\"
#define TUI_GROUND_BEGIN "\033]11;"

/*
 * Return the relative luminance of a colour 0xRRGGBB, from 0 to 1, and the
 * contrast of two colours, from 1 to 21, as defined by WCAG 2.
 */
double tui_luminance(uint32_t rgb);
double tui_contrast(uint32_t a, uint32_t b);

/*
 * Parses the part of an answer after TUI_GROUND_BEGIN: "rgb:ffff/ffff/ffff" or
 * "#ffffff".
 */
enum tui_ground tui_ground_of_answer(const char *text);

/*
 * Parses the value of COLORFGBG, such as "0;15" or "15;default;0"; NULL if it
 * is not set.
 */
enum tui_ground tui_ground_of_variable(const char *value);

/*
 * Whether to query a terminal with this TERM. Excludes multiplexers, which may
 * show the program in several terminals, and terminals that would print the
 * query.
 */
bool tui_ground_is_told_by(const char *term);

/* An answer whose characters arrive one by one. */
struct tui_answer {
	bool open;
	char text[48];
	size_t len;
	uint64_t at_ns; /* time of the last character (CLOCK_MONOTONIC) */
};

/* Call when TUI_GROUND_BEGIN has arrived. */
void tui_answer_begin(struct tui_answer *answer, uint64_t now_ns);

/*
 * Adds a character to the answer. Returns false if it does not belong to the
 * answer, but is a key. At the end of the answer sets *ret_ground.
 */
bool tui_answer_take(struct tui_answer *answer, wchar_t c, uint64_t now_ns,
		     enum tui_ground *ret_ground);

#endif
