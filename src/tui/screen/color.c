/* SPDX-License-Identifier: Apache-2.0 */
/*
 * color.c - maps xterm's 256 colours to those that a terminal has, or to those
 * that are readable on its background.
 */
#include "tui/screen/color.h"

#include "base/assert.h"
#include "tui/screen/ground.h"

#define CUBE     16  /* the first colour of the 6 x 6 x 6 cube */
#define GRAYS    232 /* the first of 24 grays */
#define DARK     8   /* bright black, a dark gray */
#define LEVELS   6
#define CONTRAST 4.5 /* minimum for text according to WCAG 2 */
/*
 * A colour counts as black if its red, green and blue are all lower than this.
 */
#define BLACK_MOST 64

static uint32_t cube_level(unsigned step)
{
	return step ? 55 + 40 * step : 0;
}

uint32_t tui_color_rgb(unsigned color)
{
	unsigned n = color - CUBE;

	GK_ASSERT(color >= DARK && color < 256);
	if (color == DARK)
		return 0x7f7f7f;
	if (color < CUBE)
		return (color & 1) * 0xff0000U + (color >> 1 & 1) * 0xff00U +
		       (color >> 2 & 1) * 0xffU;
	if (color >= GRAYS)
		return (8 + 10 * (color - GRAYS)) * 0x010101U;
	return cube_level(n / 36) << 16 | cube_level(n / 6 % 6) << 8 |
	       cube_level(n % 6);
}

/*
 * Returns which of the first 8 colours has the same hue, or -1 for nearly
 * black. In that colour, red, green and blue are each on if their value is at
 * least 3/5 of the greatest of the three.
 */
static int nearest_hue(uint32_t rgb)
{
	uint32_t part[3] = {rgb >> 16, rgb >> 8 & 0xff, rgb & 0xff}, most = 0;
	int color = 0;

	for (int i = 0; i < 3; i++)
		most = part[i] > most ? part[i] : most;
	if (most <= BLACK_MOST)
		return -1;
	for (int i = 0; i < 3; i++)
		if (part[i] * 5 >= most * 3)
			color |= 1 << i;
	return color;
}

int tui_color_among(unsigned color, int colors)
{
	if ((int)color < colors)
		return (int)color;
	if (color == DARK)
		return -1;
	return color < CUBE ? (int)color - 8
			    : nearest_hue(tui_color_rgb(color));
}

unsigned tui_color_on_light(unsigned color, int colors)
{
	static const struct {
		uint8_t of_256, of_few;
	} dark[CUBE] = {{0, 0},  {160, 1}, {22, 4},  {94, 5},  {25, 4}, {90, 5},
			{23, 4}, {0, 0},   {242, 0}, {160, 1}, {22, 4}, {94, 5},
			{25, 4}, {90, 5},  {23, 4},  {0, 0}};

	if (color >= CUBE)
		return color;
	return colors >= 256 ? dark[color].of_256 : dark[color].of_few;
}

unsigned tui_color_readable(unsigned color, bool on_light)
{
	static const unsigned places[] = {36, 6, 1};
	uint32_t ground = on_light ? 0xffffff : 0;

	GK_ASSERT(color >= CUBE && color < GRAYS);
	for (int turn = 0; turn < LEVELS; turn++) {
		if (tui_contrast(tui_color_rgb(color), ground) >= CONTRAST)
			break;
		for (int i = 0; i < 3; i++) {
			unsigned level = (color - CUBE) / places[i] % LEVELS;

			if (on_light && level)
				color -= places[i];
			else if (!on_light && level + 1 < LEVELS)
				color += places[i];
		}
	}
	return color;
}
