/* SPDX-License-Identifier: Apache-2.0 */
/* ground.c - decides whether a terminal's background is light. */
#include "tui/screen/ground.h"

#include "base/array.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * If the end of an answer does not arrive, the answer ends after a pause of
 * this length.
 */
#define LOST_NS GK_NS_PER_S

static double linear(uint32_t part)
{
	double share = part / 255.0;

	return share <= 0.04045 ? share / 12.92
				: pow((share + 0.055) / 1.055, 2.4);
}

double tui_luminance(uint32_t rgb)
{
	return 0.2126 * linear(rgb >> 16 & 0xff) +
	       0.7152 * linear(rgb >> 8 & 0xff) + 0.0722 * linear(rgb & 0xff);
}

double tui_contrast(uint32_t a, uint32_t b)
{
	double x = tui_luminance(a) + 0.05, y = tui_luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

/*
 * A background is light if black text has more contrast on it than white text.
 */
static enum tui_ground ground_of(uint32_t rgb)
{
	return tui_contrast(rgb, 0) > tui_contrast(rgb, 0xffffff) ? GROUND_LIGHT
								  : GROUND_DARK;
}

/*
 * Reads one part of a colour, 1 to 4 hex digits with "f" equal to "ffff", and
 * then the character `end`. Appends the part to *rgb as a byte.
 */
static bool read_part(const char **text, char end, uint32_t *rgb)
{
	char *behind;
	unsigned long value = strtoul(*text, &behind, 16);
	size_t digits = (size_t)(behind - *text);

	if (!digits || digits > 4 || (end && *behind != end))
		return false;
	*rgb = *rgb << 8 | (uint32_t)(value * 255 / ((1UL << 4 * digits) - 1));
	*text = behind + (end != '\0');
	return true;
}

enum tui_ground tui_ground_of_answer(const char *text)
{
	static const char *const kinds[] = {"rgb:", "rgba:"};
	uint32_t rgb = 0;

	if (*text == '#' && strspn(text + 1, "0123456789abcdefABCDEF") == 6)
		return ground_of((uint32_t)strtoul(text + 1, NULL, 16));
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const char *at = text + strlen(kinds[i]);

		if (!strncmp(text, kinds[i], strlen(kinds[i])) &&
		    read_part(&at, '/', &rgb) && read_part(&at, '/', &rgb) &&
		    read_part(&at, '\0', &rgb))
			return ground_of(rgb);
	}
	return GROUND_UNKNOWN;
}

enum tui_ground tui_ground_of_variable(const char *value)
{
	const char *last = value ? strrchr(value, ';') : NULL;
	char *end;
	long color;

	if (!last)
		return GROUND_UNKNOWN;
	color = strtol(last + 1, &end, 10);
	if (end == last + 1 || *end || color < 0 || color > 15)
		return GROUND_UNKNOWN;
	/* White and the bright colours. Colour 8 is a dark gray. */
	return color == 7 || color > 8 ? GROUND_LIGHT : GROUND_DARK;
}

bool tui_ground_is_told_by(const char *term)
{
	static const char *const others[] = {"screen", "tmux", "linux", "dumb",
					     "vt",     "cons", "ansi",  "sun"};

	for (size_t i = 0; i < COUNT(others); i++)
		if (!term || !strncmp(term, others[i], strlen(others[i])))
			return false;
	return *term != '\0';
}

void tui_answer_begin(struct tui_answer *a, uint64_t now_ns)
{
	*a = (struct tui_answer){.open = true, .at_ns = now_ns};
}

bool tui_answer_take(struct tui_answer *a, wchar_t c, uint64_t now_ns,
		     enum tui_ground *ret_ground)
{
	bool ended = c == L'\a' || c == L'\\';

	if (a->open &&
	    (now_ns - a->at_ns > LOST_NS || a->len + 1 == sizeof a->text))
		a->open = false;
	if (!a->open)
		return false;
	a->at_ns = now_ns;
	a->open = !ended;
	if (ended)
		*ret_ground = tui_ground_of_answer(a->text);
	else if (c >= L' ' && c < 0x7f)
		a->text[a->len++] = (char)c;
	return true;
}
