/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - transforms one dimension with kissfft. */
#include "fronts/cufft/inside/line.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* kissfft's time for a prime factor grows with its square. */
#define PRIME_MAX 31

static bool has_small_factors(int n, int most)
{
	for (int prime = 2; prime <= most; prime++)
		while (n % prime == 0)
			n /= prime;
	return n == 1;
}

/* Returns a length for which kissfft has fast steps. */
static int fast_size(int least)
{
	while (!has_small_factors(least, 5))
		least++;
	return least;
}

static number times(number a, number b)
{
	return (number){a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r};
}

/*
 * Returns e^(direction pi i k^2 / n); reduces k^2 modulo 2n first, to keep
 * precision.
 */
static number chirp_at(int k, int n, int direction)
{
	uint64_t square = (uint64_t)k * (uint64_t)k % (2 * (uint64_t)n);
	double angle = direction * 3.14159265358979323846 * (double)square / n;

	return (number){(real)cos(angle), (real)sin(angle)};
}

static bool make_convolution(struct gkf_line *line, int direction)
{
	number *kernel;

	line->size = fast_size(2 * line->n - 1);
	line->forward = kiss_fft_alloc(line->size, 0, NULL, NULL);
	line->back = kiss_fft_alloc(line->size, 1, NULL, NULL);
	line->chirp = calloc((size_t)line->n, sizeof(number));
	line->kernel = calloc((size_t)line->size, sizeof(number));
	kernel = calloc((size_t)line->size, sizeof(number));
	if (!line->forward || !line->back || !line->chirp || !line->kernel ||
	    !kernel) {
		free(kernel);
		return false;
	}
	for (int k = 0; k < line->n; k++) {
		line->chirp[k] = chirp_at(k, line->n, direction);
		kernel[k] = chirp_at(k, line->n, -direction);
		kernel[k ? line->size - k : 0] = kernel[k];
	}
	kiss_fft(line->forward, kernel, line->kernel);
	free(kernel);
	return true;
}

bool gkf_line_open(struct gkf_line *line, int n, int direction)
{
	*line = (struct gkf_line){.n = n, .size = n};
	/*
	 * make_convolution() doubles the length, which must still fit an int.
	 */
	if (n > 1 << 29)
		return false;
	if (!has_small_factors(n, PRIME_MAX))
		return make_convolution(line, direction);
	line->forward = kiss_fft_alloc(n, direction > 0, NULL, NULL);
	return line->forward;
}

void gkf_line_close(struct gkf_line *line)
{
	free(line->forward);
	free(line->back);
	free(line->chirp);
	free(line->kernel);
}

size_t gkf_line_room(const struct gkf_line *line)
{
	return 2 * (size_t)line->size;
}

void gkf_line_run(const struct gkf_line *line, number *at, number *room)
{
	number *sum = room + line->size;

	if (!line->back) {
		kiss_fft(line->forward, at, room);
		memcpy(at, room, (size_t)line->n * sizeof *at);
		return;
	}
	for (int k = 0; k < line->n; k++)
		room[k] = times(at[k], line->chirp[k]);
	memset(room + line->n, 0,
	       (size_t)(line->size - line->n) * sizeof *room);
	kiss_fft(line->forward, room, sum);
	for (int k = 0; k < line->size; k++)
		sum[k] = times(sum[k], line->kernel[k]);
	kiss_fft(line->back, sum, room);
	for (int k = 0; k < line->n; k++) {
		number scaled = {room[k].r / (real)line->size,
				 room[k].i / (real)line->size};

		at[k] = times(scaled, line->chirp[k]);
	}
}
