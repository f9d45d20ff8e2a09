/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.c - finds the colour at a point between green and magenta. */
#include "format/gradient.h"

/*
 * The hue decreases linearly from 0.35 at x = 0 to -0.15 at x = 1. Saturation
 * and brightness are constant.
 */
#define HUE_FIRST  0.35
#define HUE_SPAN   0.5
#define SATURATION 0.7
#define VALUE      0.8
#define STEPS      160

static double triangle(double hue)
{
	double h = hue - (double)(int)hue;

	h = (h < 0 ? h + 1 : h) * 6;
	return h < 1 ? h : h < 3 ? 1 : h < 4 ? 4 - h : 0;
}

/*
 * Returns the red, green or blue part of a hue, as an index of the levels of
 * xterm's colour cube: 0, 95, 135, 175, 215, 255.
 */
static int hue_level(double hue)
{
	double share = VALUE * (1 - SATURATION * (1 - triangle(hue)));
	int eighth = (int)(share * 255);

	return eighth < 48 ? 0 : eighth < 115 ? 1 : (eighth - 35) / 40;
}

uint8_t gk_gradient(double x)
{
	double at = (double)(int)((x < 0 ? 0 : x > 1 ? 1 : x) * STEPS) / STEPS;
	double hue = HUE_FIRST - HUE_SPAN * at;
	int red = hue_level(hue + 1.0 / 3), green = hue_level(hue),
	    blue = hue_level(hue - 1.0 / 3);

	return (uint8_t)(16 + 36 * red + 6 * green + blue);
}
