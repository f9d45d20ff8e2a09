/*
 * color.c - finds the nearest colour that a terminal has; the table of 256 is
 * that of xterm.
 */
#include "tui/color.h"

#define CUBE       16  /* the first colour of the cube of 6 x 6 x 6 */
#define GRAYS      232 /* the first of 24 grays */
#define DARK       8   /* gray of the second eight */
#define BLACK_MOST 64  /* the brightest part of a colour that is near black */

static uint32_t cube_level(unsigned step)
{
	return step ? 55 + 40 * step : 0;
}

uint32_t tui_color_rgb(unsigned color)
{
	unsigned n = color - CUBE;

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

/* The hue alone: each of the three parts is there, or is not. */
static int nearest(uint32_t rgb)
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
	return color < CUBE ? (int)color - 8 : nearest(tui_color_rgb(color));
}
