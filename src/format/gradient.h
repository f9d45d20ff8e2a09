/*
 * gradient.h - colours from green over yellow and red to magenta, out of the
 * 256 that xterm has: no palette is changed.
 */
#ifndef GK_FORMAT_GRADIENT_H
#define GK_FORMAT_GRADIENT_H

#include <stdint.h>

/* The colour at x of 0 (nothing) to 1 (full): 16 to 231. */
uint8_t gk_gradient(double x);

#endif
