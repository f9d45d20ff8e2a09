/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft.c - implements for one precision the functions of FFTW3 that libcufft
 * calls, for systems where FFTW3 is not installed. A transform is gathered into
 * contiguous memory, transformed along each dimension, and scattered. Real data
 * is treated as complex.
 */
#include "fronts/cufft/inside/line.h"

#include <stdlib.h>

#define EXPORT   __attribute__((visibility("default")))
#define RANK_MAX 3

enum kind { COMPLEX, FROM_REAL, TO_REAL };

/* FFTW's struct. */
struct dimension {
	ptrdiff_t n, is, os;
};

struct fft {
	enum kind kind;
	int rank;
	struct dimension dims[RANK_MAX], many;
	struct gkf_line lines[RANK_MAX];
	size_t numbers; /* numbers in one transform */
	size_t room;    /* numbers in a buffer that suits any line */
};

/* ---- one transform, in contiguous memory `at` in row-major order ---- */

/* Transforms all lines along dimension `d`. */
static void run_dimension(const struct fft *f, int d, number *at, number *room)
{
	const struct gkf_line *line = &f->lines[d];
	size_t n = (size_t)line->n, step = 1;
	number *one = room + gkf_line_room(line);

	for (int later = d + 1; later < f->rank; later++)
		step *= (size_t)f->dims[later].n;
	for (size_t first = 0; first < f->numbers; first++) {
		if (first / step % n)
			continue;
		for (size_t k = 0; k < n; k++)
			one[k] = at[first + k * step];
		gkf_line_run(line, one, room);
		for (size_t k = 0; k < n; k++)
			at[first + k * step] = one[k];
	}
}

/* Splits the index of a number into its indices in the dimensions. */
static void split_index(const struct fft *f, size_t index,
			ptrdiff_t ret_at[RANK_MAX])
{
	for (int d = f->rank - 1; d >= 0; d--) {
		ret_at[d] = (ptrdiff_t)(index % (size_t)f->dims[d].n);
		index /= (size_t)f->dims[d].n;
	}
}

static ptrdiff_t place_in(const struct fft *f, const ptrdiff_t at[RANK_MAX])
{
	ptrdiff_t place = 0;

	for (int d = 0; d < f->rank; d++)
		place += at[d] * f->dims[d].is;
	return place;
}

static ptrdiff_t place_out(const struct fft *f, const ptrdiff_t at[RANK_MAX])
{
	ptrdiff_t place = 0;

	for (int d = 0; d < f->rank; d++)
		place += at[d] * f->dims[d].os;
	return place;
}

/*
 * A Hermitian transform stores only the first half of the last dimension. Each
 * number of the second half is the conjugate of the number at the opposite
 * position.
 */
static bool is_stored(const struct fft *f, const ptrdiff_t at[RANK_MAX])
{
	return at[f->rank - 1] <= f->dims[f->rank - 1].n / 2;
}

static number read_half(const struct fft *f, const number *in,
			ptrdiff_t at[RANK_MAX])
{
	number conjugate;

	if (is_stored(f, at))
		return in[place_in(f, at)];
	for (int d = 0; d < f->rank; d++)
		at[d] = at[d] ? f->dims[d].n - at[d] : 0;
	conjugate = in[place_in(f, at)];
	conjugate.i = -conjugate.i;
	return conjugate;
}

static void gather(const struct fft *f, const void *in, number *to)
{
	ptrdiff_t at[RANK_MAX];

	for (size_t i = 0; i < f->numbers; i++) {
		split_index(f, i, at);
		if (f->kind == FROM_REAL)
			to[i] =
			    (number){((const real *)in)[place_in(f, at)], 0};
		else if (f->kind == TO_REAL)
			to[i] = read_half(f, in, at);
		else
			to[i] = ((const number *)in)[place_in(f, at)];
	}
}

static void scatter(const struct fft *f, const number *from, void *out)
{
	ptrdiff_t at[RANK_MAX];

	for (size_t i = 0; i < f->numbers; i++) {
		split_index(f, i, at);
		if (f->kind == TO_REAL)
			((real *)out)[place_out(f, at)] = from[i].r;
		else if (f->kind == COMPLEX || is_stored(f, at))
			((number *)out)[place_out(f, at)] = from[i];
	}
}

static void transform_one(const struct fft *f, const void *in, void *out,
			  number *room)
{
	number *at = room + f->room;

	gather(f, in, at);
	for (int d = 0; d < f->rank; d++)
		run_dimension(f, d, at, room);
	scatter(f, at, out);
}

/* ---- FFTW's functions ---- */

static void execute(const struct fft *f, void *in, void *out)
{
	size_t in_size = f->kind == FROM_REAL ? sizeof(real) : sizeof(number);
	size_t out_size = f->kind == TO_REAL ? sizeof(real) : sizeof(number);
	number *room = malloc((f->room + f->numbers) * sizeof *room);

	/* FFTW, too, ends the process when out of memory. */
	if (!room)
		abort();
	for (ptrdiff_t i = 0; i < f->many.n; i++)
		transform_one(
		    f, (char *)in + i * f->many.is * (ptrdiff_t)in_size,
		    (char *)out + i * f->many.os * (ptrdiff_t)out_size, room);
	free(room);
}

static void destroy(struct fft *f)
{
	for (int d = 0; d < f->rank; d++)
		gkf_line_close(&f->lines[d]);
	free(f);
}

static bool open_lines(struct fft *f, int direction)
{
	bool opened = true;

	f->numbers = 1;
	for (int d = 0; d < f->rank; d++) {
		struct gkf_line *line = &f->lines[d];
		size_t room;

		opened &= f->dims[d].n <= 1 << 29 &&
			  gkf_line_open(line, (int)f->dims[d].n, direction);
		room = gkf_line_room(line) + (size_t)line->n;
		if (f->room < room)
			f->room = room;
		f->numbers *= (size_t)f->dims[d].n;
	}
	return opened;
}

static void *make_plan(enum kind kind, int rank, const struct dimension *dims,
		       int many_rank, const struct dimension *many,
		       int direction)
{
	struct fft *f;

	if (rank < 1 || rank > RANK_MAX || many_rank != 1 ||
	    !(f = calloc(1, sizeof *f)))
		return NULL;
	f->kind = kind;
	f->rank = rank;
	f->many = *many;
	for (int d = 0; d < rank; d++)
		f->dims[d] = dims[d];
	if (open_lines(f, direction))
		return f;
	destroy(f);
	return NULL;
}

#define FFTW(name) NAME(FFTW_PREFIX, name)

/*
 * Ignores the addresses and the flags: planning accesses no data, plans work
 * with any alignment, and the input is never changed.
 */
EXPORT void *FFTW(plan_guru64_dft)(int rank, const struct dimension *dims,
				   int many_rank, const struct dimension *many,
				   void *in, void *out, int sign,
				   unsigned flags);
EXPORT void *FFTW(plan_guru64_dft_r2c)(int rank, const struct dimension *dims,
				       int many_rank,
				       const struct dimension *many, void *in,
				       void *out, unsigned flags);
EXPORT void *FFTW(plan_guru64_dft_c2r)(int rank, const struct dimension *dims,
				       int many_rank,
				       const struct dimension *many, void *in,
				       void *out, unsigned flags);
EXPORT void FFTW(execute_dft)(void *plan, void *in, void *out);
EXPORT void FFTW(execute_dft_r2c)(void *plan, void *in, void *out);
EXPORT void FFTW(execute_dft_c2r)(void *plan, void *in, void *out);
EXPORT void FFTW(destroy_plan)(void *plan);

void *FFTW(plan_guru64_dft)(int rank, const struct dimension *dims,
			    int many_rank, const struct dimension *many,
			    void *in, void *out, int sign, unsigned flags)
{
	(void)in, (void)out, (void)flags;
	return make_plan(COMPLEX, rank, dims, many_rank, many, sign);
}

void *FFTW(plan_guru64_dft_r2c)(int rank, const struct dimension *dims,
				int many_rank, const struct dimension *many,
				void *in, void *out, unsigned flags)
{
	(void)in, (void)out, (void)flags;
	return make_plan(FROM_REAL, rank, dims, many_rank, many, -1);
}

void *FFTW(plan_guru64_dft_c2r)(int rank, const struct dimension *dims,
				int many_rank, const struct dimension *many,
				void *in, void *out, unsigned flags)
{
	(void)in, (void)out, (void)flags;
	return make_plan(TO_REAL, rank, dims, many_rank, many, 1);
}

void FFTW(execute_dft)(void *plan, void *in, void *out)
{
	execute(plan, in, out);
}

void FFTW(execute_dft_r2c)(void *plan, void *in, void *out)
{
	execute(plan, in, out);
}

void FFTW(execute_dft_c2r)(void *plan, void *in, void *out)
{
	execute(plan, in, out);
}

void FFTW(destroy_plan)(void *plan)
{
	destroy(plan);
}
