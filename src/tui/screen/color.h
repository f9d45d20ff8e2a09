/* SPDX-License-Identifier: Apache-2.0 */
/*
 * color.h - shows xterm's 256 colours on terminals that have only 8 or 16 of
 * them, on terminals with 24-bit colours, and on light backgrounds.
 */
#ifndef GK_TUI_COLOR_H
#define GK_TUI_COLOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns a colour as 0xRRGGBB, for colours from 8 on. Users configure the
 * first 8 in their terminals.
 */
uint32_t tui_color_rgb(unsigned color);

/*
 * Returns the nearest colour on a terminal with `colors` colours, or -1 for the
 * default colour. Never returns black, since most terminals have a black
 * background.
 */
int tui_color_among(unsigned color, int colors);

/*
 * Returns the colour to use on a light background instead of one of the first
 * 16, most of which are unreadable there. Returns other colours unchanged.
 */
unsigned tui_color_on_light(unsigned color, int colors);

/*
 * Lightens or darkens a colour of the cube (16 to 231) until its contrast with
 * a black or white background is sufficient.
 */
unsigned tui_color_readable(unsigned color, bool on_light);

#endif
