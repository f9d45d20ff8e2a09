/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - transforms of one dimension, for one precision: `real` is float or
 * double, and INSIDE(name) is the name that a
 * function has for it.
 */
#ifndef GKF_CUFFT_LINE_H
#define GKF_CUFFT_LINE_H

#include "kiss_fft.h"

#include <stdbool.h>
#include <stddef.h>

typedef kiss_fft_scalar real;
typedef kiss_fft_cpx number;

#define JOIN(a, b)     a##b
#define NAME(a, b)     JOIN(a, b)
#define INSIDE(name)   NAME(FFTW_PREFIX, name)
#define gkf_line       INSIDE(line)
#define gkf_line_open  INSIDE(line_open)
#define gkf_line_close INSIDE(line_close)
#define gkf_line_room  INSIDE(line_room)
#define gkf_line_run   INSIDE(line_run)

/*
 * A length whose prime factors are small is transformed directly. For all
 * others a transform is a convolution (Bluestein): the arrays have `size`
 * numbers then, and `chirp` has `n`.
 */
struct gkf_line {
	int n, size;
	kiss_fft_cfg forward, back; /* back and the arrays: NULL if direct */
	number *chirp, *kernel;
};

/* direction is -1 or 1. Returns false without memory; close it all the same. */
bool gkf_line_open(struct gkf_line *line, int n, int direction);
void gkf_line_close(struct gkf_line *line);

/* How many numbers gkf_line_run() needs as `room`. */
size_t gkf_line_room(const struct gkf_line *line);

/* Transforms n numbers in place. Threads may share a line, but not the room. */
void gkf_line_run(const struct gkf_line *line, number *at, number *room);

#endif
