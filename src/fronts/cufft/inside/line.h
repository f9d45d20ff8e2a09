/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one-dimensional transforms for one precision: `real` is float or
 * double, and INSIDE(name) is the name of a function for that precision.
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
 * A length that has only small prime factors is transformed directly. All other
 * lengths are transformed by a convolution (Bluestein's algorithm); then the
 * buffers and `kernel` have `size` numbers and `chirp` has `n`.
 */
struct gkf_line {
	int n, size;
	kiss_fft_cfg forward, back; /* direct transforms use only `forward` */
	number *chirp, *kernel;
};

/*
 * `direction` is -1 or 1. Returns false when out of memory; close the line even
 * then.
 */
bool gkf_line_open(struct gkf_line *line, int n, int direction);
void gkf_line_close(struct gkf_line *line);

/* Returns how many numbers the buffer `room` of gkf_line_run() must have. */
size_t gkf_line_room(const struct gkf_line *line);

/* Transforms n numbers in place. Threads may share a line, but not a buffer. */
void gkf_line_run(const struct gkf_line *line, number *at, number *room);

#endif
