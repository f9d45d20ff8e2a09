/*
 * color.h - colours of the table of 256 on terminals that have others: the
 * first 8 or 16 of them, or any red, green and blue.
 */
#ifndef GK_TUI_COLOR_H
#define GK_TUI_COLOR_H

#include <stdint.h>

/* 0xRRGGBB of a colour from 8 on; the first 8 are the user's own. */
uint32_t tui_color_rgb(unsigned color);

/*
 * The colour to take in place of one where the terminal has so many; -1: the
 * terminal's own. Never black, which is not seen on most terminals.
 */
int tui_color_among(unsigned color, int colors);

#endif
