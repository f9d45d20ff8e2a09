/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.h - colours from green through yellow and red to magenta, out of
 * xterm's 256 colours; the terminal's palette is not changed.
 */
#ifndef GK_FORMAT_GRADIENT_H
#define GK_FORMAT_GRADIENT_H

#include <stdint.h>

/*
 * Returns the colour of a bar that is filled to x (0 to 1), as a number from 16
 * to 231 in xterm's palette.
 */
uint8_t gk_gradient(double x);

#endif
