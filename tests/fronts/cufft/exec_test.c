/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_test.c - compares the results of transforms with the definition: every
 * type, in place and not, one to three dimensions, batches, layouts, lengths of
 * all kinds.
 */
#include "fronts/cufft/cufft_test.h"

#include "fronts/cufft/model.h"

#include <float.h>

#define GAP 12345.0 /* fills what is neither read nor written */

static const struct type {
	int id;
	bool real_in, real_out, is_double;
} types[] = {
    {CUFFT_C2C, false, false, false}, {CUFFT_R2C, true, false, false},
    {CUFFT_C2R, false, true, false},  {CUFFT_Z2Z, false, false, true},
    {CUFFT_D2Z, true, false, true},   {CUFFT_Z2D, false, true, true},
};

#define TYPES (sizeof types / sizeof *types)

struct work {
	struct type type;
	int rank, n[3], batch, direction;
	bool in_place, advanced;
	struct side in, out; /* by the last three dimensions */
};

static long long last_of(const struct work *w, bool half)
{
	return half ? w->n[2] / 2 + 1 : w->n[2];
}

/* cuFFT's basic layout, from a table in its manual. */
static void lay_out_basic(struct work *w)
{
	long long in = last_of(w, w->type.real_out);
	long long out = last_of(w, w->type.real_in);
	long long rows = (long long)w->n[0] * w->n[1];

	if (w->in_place && w->type.real_in)
		in = 2 * out;
	if (w->in_place && w->type.real_out)
		out = 2 * in;
	w->in = (struct side){{1, w->n[1], in}, 1, rows * in};
	w->out = (struct side){{1, w->n[1], out}, 1, rows * out};
}

static size_t numbers_of(const struct work *w, const struct side *s, bool half,
			 bool real)
{
	long long last = model_place(s, w->batch - 1, w->n[0] - 1, w->n[1] - 1,
				     (int)last_of(w, half) - 1);

	return (size_t)(last + 1) * (real ? 1 : 2);
}

static uint32_t seed = 1;

static long double dice(void)
{
	seed = seed * 1664525 + 1013904223;
	return (long double)(seed >> 8) / (1 << 23) - 1;
}

static void put(const struct work *w, void *at, long long i, long double value)
{
	if (w->type.is_double)
		((double *)at)[i] = (double)value;
	else
		((float *)at)[i] = (float)value;
}

static double get(const struct work *w, const void *at, long long i)
{
	return w->type.is_double ? ((const double *)at)[i]
				 : (double)((const float *)at)[i];
}

static void put_number(const struct work *w, void *at, bool real, long long i,
		       number value)
{
	if (real) {
		put(w, at, i, creall(value));
		return;
	}
	put(w, at, 2 * i, creall(value));
	put(w, at, 2 * i + 1, cimagl(value));
}

static number take_number(const struct work *w, const void *at, bool real,
			  long long i)
{
	if (real)
		return get(w, at, i);
	return (long double)get(w, at, 2 * i) +
	       (long double)get(w, at, 2 * i + 1) * I;
}

/* The number in the type's precision. */
static long double fit(const struct work *w, long double x)
{
	if (w->type.is_double)
		return (long double)(double)x;
	return (long double)(float)x;
}

/* A batch's input as the transform sees it, and the expected output. */
static void invent(const struct work *w, number *from, number *to, int all)
{
	bool real = w->type.real_in || w->type.real_out;
	number *random = malloc((size_t)all * sizeof *random);

	for (int i = 0; i < all; i++) {
		random[i] = fit(w, dice());
		if (!real)
			random[i] += fit(w, dice()) * I;
	}
	if (w->type.real_out) {
		model_transform(w->n, random, from, -1);
		for (int i = 0; i < all; i++)
			to[i] = random[i] * all;
	} else {
		memcpy(from, random, (size_t)all * sizeof *random);
		model_transform(w->n, from, to, w->direction);
	}
	free(random);
}

/* Calls `EACH` for (x, y, z, i) of a side. */
#define FOR_EACH(w, half, EACH)                                                \
	for (int x = 0; x < (w)->n[0]; x++)                                    \
		for (int y = 0; y < (w)->n[1]; y++)                            \
			for (int z = 0; z < last_of(w, half); z++) {           \
				int i = model_index((w)->n, x, y, z);          \
				EACH;                                          \
			}

static void make(const struct work *w, cufftHandle *plan)
{
	int n[3], in[3], on[3], first = 3 - w->rank;

	for (int i = first; i < 3; i++) {
		n[i - first] = w->n[i];
		in[i - first] = (int)w->in.embed[i];
		on[i - first] = (int)w->out.embed[i];
	}
	if (w->advanced)
		assert_fft(
		    FFT(cufftPlanMany)(plan, w->rank, n, in, (int)w->in.stride,
				       (int)w->in.dist, on, (int)w->out.stride,
				       (int)w->out.dist, w->type.id, w->batch),
		    SUCCESS);
	else
		assert_fft(FFT(cufftPlanMany)(plan, w->rank, n, NULL, 77, 77,
					      NULL, 77, 77, w->type.id,
					      w->batch),
			   SUCCESS);
}

static void execute(const struct work *w, cufftHandle plan, CUdeviceptr in,
		    CUdeviceptr out)
{
	void *from = (void *)(uintptr_t)in, *to = (void *)(uintptr_t)out;

	switch (w->type.id) {
	case CUFFT_C2C:
		assert_fft(FFT(cufftExecC2C)(plan, from, to, w->direction),
			   SUCCESS);
		break;
	case CUFFT_Z2Z:
		assert_fft(FFT(cufftExecZ2Z)(plan, from, to, w->direction),
			   SUCCESS);
		break;
	case CUFFT_R2C:
		assert_fft(FFT(cufftExecR2C)(plan, from, to), SUCCESS);
		break;
	case CUFFT_D2Z:
		assert_fft(FFT(cufftExecD2Z)(plan, from, to), SUCCESS);
		break;
	case CUFFT_C2R:
		assert_fft(FFT(cufftExecC2R)(plan, from, to), SUCCESS);
		break;
	default:
		assert_fft(FFT(cufftExecZ2D)(plan, from, to), SUCCESS);
	}
}

/*
 * The relative error of the result as a whole: for transforms of log2(n) steps
 * at most a small multiple of the rounding unit times these; 4 leaves room for
 * prime lengths, whose transforms are three of another length.
 */
static void check_error(const struct work *w, long double wrong,
			long double right)
{
	long double n = (long double)w->n[0] * w->n[1] * w->n[2];
	long double unit = w->type.is_double ? (long double)DBL_EPSILON
					     : (long double)FLT_EPSILON;

	if (!(sqrtl(wrong) <= 4 * unit * (1 + log2l(n)) * sqrtl(right)))
		fail_msg("type %#x of %dx%dx%d: off by %Lg of %Lg",
			 (unsigned)w->type.id, w->n[0], w->n[1], w->n[2],
			 sqrtl(wrong), sqrtl(right));
}

static void compare(const struct work *w, const void *got, const number *to,
		    int all, size_t numbers)
{
	long double wrong = 0, right = 0;
	unsigned char *seen = calloc(numbers, 1);
	size_t parts = w->type.real_out ? 1 : 2;

	for (int b = 0; b < w->batch; b++)
		FOR_EACH(w, w->type.real_in, {
			long long at = model_place(&w->out, b, x, y, z);
			number off = take_number(w, got, w->type.real_out, at) -
				     to[b * all + i];

			wrong += creall(off * conjl(off));
			right +=
			    creall(to[b * all + i] * conjl(to[b * all + i]));
			memset(seen + (size_t)at * parts, 1, parts);
		})
	check_error(w, wrong, right);
	for (size_t i = 0; !w->in_place && i < numbers; i++)
		if (!seen[i])
			assert_true(get(w, got, (long long)i) == GAP);
	free(seen);
}

static CUdeviceptr upload(const void *from, size_t size)
{
	CUdeviceptr at;

	assert_cuda(CU(cuMemAlloc_v2)(&at, size), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, from, size), SUCCESS);
	return at;
}

/*
 * Out of place the input stays unchanged, except for real planes and volumes
 * that are made from complex ones.
 */
static void check_input(const struct work *w, const void *was, CUdeviceptr in,
			size_t size)
{
	void *is = malloc(size);

	assert_cuda(CU(cuMemcpyDtoH_v2)(is, in, size), SUCCESS);
	if (!w->in_place && !(w->type.real_out && w->rank > 1))
		assert_memory_equal(is, was, size);
	free(is);
}

static void check(struct work *w)
{
	int all = w->n[0] * w->n[1] * w->n[2];
	size_t word = w->type.is_double ? 8 : 4, in, out, room;
	number *from = calloc((size_t)(all * w->batch), sizeof *from);
	number *to = calloc((size_t)(all * w->batch), sizeof *to);
	CUdeviceptr din, dout;
	cufftHandle plan;
	void *host;

	if (!w->advanced)
		lay_out_basic(w);
	in = numbers_of(w, &w->in, w->type.real_out, w->type.real_in);
	out = numbers_of(w, &w->out, w->type.real_in, w->type.real_out);
	room = in > out ? in : out;
	host = malloc(room * word);
	for (size_t i = 0; i < room; i++)
		put(w, host, (long long)i, GAP);
	dout = upload(host, room * word);
	for (int b = 0; b < w->batch; b++) {
		invent(w, from + b * all, to + b * all, all);
		FOR_EACH(w, w->type.real_out,
			 put_number(w, host, w->type.real_in,
				    model_place(&w->in, b, x, y, z),
				    from[b * all + i]))
	}
	din = upload(host, room * word);
	make(w, &plan);
	execute(w, plan, din, w->in_place ? din : dout);
	check_input(w, host, din, in * word);
	assert_cuda(
	    CU(cuMemcpyDtoH_v2)(host, w->in_place ? din : dout, out * word),
	    SUCCESS);
	compare(w, host, to, all, out);
	assert_fft(FFT(cufftDestroy)(plan), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(din), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(dout), SUCCESS);
	free(host), free(from), free(to);
}

/* All types, both directions, in place and not. */
static void check_all(int rank, int x, int y, int z, int batch)
{
	for (size_t type = 0; type < TYPES; type++)
		for (int i = 0; i < 4; i++) {
			struct work w = {.type = types[type],
					 .rank = rank,
					 .n = {x, y, z},
					 .batch = batch,
					 .direction = i % 2 ? CUFFT_FORWARD
							    : CUFFT_INVERSE,
					 .in_place = i / 2 == 1};

			if (w.type.real_in)
				w.direction = CUFFT_FORWARD;
			check(&w);
		}
}

static void rows_of_every_length_are_right(struct fixture *fx)
{
	static const int lengths[] = {1,   2,   3,   4,   5,   7,  8,
				      9,   15,  16,  30,  49,  64, 97,
				      121, 128, 210, 251, 256, 509};

	(void)fx;
	begin();
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		check_all(1, 1, 1, lengths[i], 1);
}

static void batches_planes_and_volumes_are_right(struct fixture *fx)
{
	(void)fx;
	begin();
	check_all(1, 1, 1, 12, 5);
	check_all(1, 1, 1, 13, 3);
	check_all(2, 1, 6, 10, 1);
	check_all(2, 1, 5, 7, 3);
	check_all(2, 1, 1, 1, 2);
	check_all(3, 4, 6, 5, 1);
	check_all(3, 3, 2, 8, 2);
}

static void advanced_layouts_are_kept_and_gaps_left_alone(struct fixture *fx)
{
	static const struct work works[] = {
	    /* every third number; transforms side by side */
	    {.rank = 1,
	     .n = {1, 1, 10},
	     .batch = 3,
	     .in = {{1, 1, 10}, 3, 1},
	     .out = {{1, 1, 10}, 3, 1}},
	    /* rows with room after them, of another shape on each side */
	    {.rank = 2,
	     .n = {1, 4, 6},
	     .batch = 2,
	     .in = {{1, 4, 9}, 1, 40},
	     .out = {{1, 4, 7}, 2, 80}},
	    {.rank = 3,
	     .n = {2, 3, 4},
	     .batch = 2,
	     .in = {{1, 4, 5}, 2, 100},
	     .out = {{1, 5, 6}, 1, 77}},
	    /* one input for all */
	    {.rank = 1,
	     .n = {1, 1, 8},
	     .batch = 1,
	     .in = {{1, 1, 8}, 1, 0},
	     .out = {{1, 1, 8}, 1, 0}},
	};

	(void)fx;
	begin();
	for (size_t i = 0; i < sizeof works / sizeof *works; i++)
		for (size_t type = 0; type < TYPES; type++) {
			struct work w = works[i];

			w.type = types[type];
			w.direction = CUFFT_FORWARD;
			w.advanced = true;
			check(&w);
			w.in_place = !w.type.real_in && !w.type.real_out &&
				     w.in.stride == w.out.stride &&
				     w.in.dist == w.out.dist;
			if (w.in_place)
				check(&w);
		}
}

/* Rows of 5 reals without padding become rows of 3 numbers in place. */
static void rows_that_move_in_place_are_right(struct fixture *fx)
{
	(void)fx;
	begin();
	for (size_t type = 0; type < TYPES; type++) {
		struct work w = {.type = types[type],
				 .rank = 1,
				 .n = {1, 1, 5},
				 .batch = 4,
				 .direction = CUFFT_FORWARD,
				 .in_place = true,
				 .advanced = true,
				 .in = {{1, 1, 5}, 1, 5},
				 .out = {{1, 1, 5}, 1, 7}};

		check(&w);
	}
}

/* A wave of one frequency is one number of its spectrum. */
static void a_long_prime_length_is_right(struct fixture *fx)
{
	enum { N = 100003, F = 777 };
	float *x = malloc(2 * N * sizeof *x);
	double wrong = 0;
	CUdeviceptr at;
	cufftHandle plan;

	(void)fx;
	begin();
	for (long i = 0; i < N; i++) {
		double angle = 2 * acos(-1) * (double)(i * F % N) / N;

		x[2 * i] = (float)cos(angle);
		x[2 * i + 1] = (float)sin(angle);
	}
	at = upload(x, 2 * N * sizeof *x);
	assert_fft(FFT(cufftPlan1d)(&plan, N, CUFFT_C2C, 1), SUCCESS);
	assert_fft(FFT(cufftExecC2C)(plan, (void *)(uintptr_t)at,
				     (void *)(uintptr_t)at, CUFFT_FORWARD),
		   SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(x, at, 2 * N * sizeof *x), SUCCESS);
	x[2 * F] -= N;
	for (long i = 0; i < 2 * N; i++)
		wrong += (double)x[i] * (double)x[i];
	assert_true(sqrt(wrong) < 4 * (double)FLT_EPSILON * log2(N) * N);
	free(x);
}

/* The transform of 1, 0, 0, ... is 1 everywhere. */
static void check_impulse(cufftHandle plan, int n, CUdeviceptr at)
{
	size_t size = (size_t)n * 2 * sizeof(float);
	float *x = calloc((size_t)n, 2 * sizeof(float));
	void *p = (void *)(uintptr_t)at;

	x[0] = 1;
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, x, size), SUCCESS);
	assert_fft(FFT(cufftExecC2C)(plan, p, p, CUFFT_FORWARD), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(x, at, size), SUCCESS);
	for (int i = 0; i < n; i++) {
		assert_true(fabsf(x[2 * i] - 1) < 1e-5F);
		assert_true(fabsf(x[2 * i + 1]) < 1e-5F);
	}
	free(x);
}

static void data_may_begin_at_any_number(struct fixture *fx)
{
	static const unsigned offsets[] = {16, 8, 0, 24, 40};
	cufftHandle plan;
	CUdeviceptr at;

	(void)fx;
	begin();
	assert_fft(FFT(cufftPlan1d)(&plan, 64, CUFFT_C2C, 1), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 4096), SUCCESS);
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
		check_impulse(plan, 64, at + offsets[i]);
}

static void hundreds_of_lengths_take_turns(struct fixture *fx)
{
	enum { LENGTHS = 200 };
	cufftHandle plans[LENGTHS];
	CUdeviceptr at;

	(void)fx;
	begin();
	assert_cuda(CU(cuMemAlloc_v2)(&at, LENGTHS * 8), SUCCESS);
	for (int i = 0; i < LENGTHS; i++)
		assert_fft(FFT(cufftPlan1d)(&plans[i], i + 1, CUFFT_C2C, 1),
			   SUCCESS);
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < LENGTHS; i++)
			check_impulse(plans[i], i + 1, at);
}

static const struct alone tests[] = {
    ALONE(data_may_begin_at_any_number),
    ALONE(hundreds_of_lengths_take_turns),
    ALONE(rows_of_every_length_are_right),
    ALONE(batches_planes_and_volumes_are_right),
    ALONE(advanced_layouts_are_kept_and_gaps_left_alone),
    ALONE(rows_that_move_in_place_are_right),
    ALONE(a_long_prime_length_is_right),
};

ALONE_MAIN(tests)
