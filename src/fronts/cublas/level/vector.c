/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.c - defines the loops of level 1 for the four types, and computes
 * plane rotations. The norms of float vectors are summed in double.
 */
#include "fronts/cublas/level/vector.h"

#include <float.h>

#define T          float
#define R          float
#define SUM        double
#define OF(name)   name##_s
#define IS_COMPLEX 0
#include "fronts/cublas/level/vector_type.def"

#define T          double
#define R          double
#define SUM        double
#define OF(name)   name##_d
#define IS_COMPLEX 0
#include "fronts/cublas/level/vector_type.def"

#define T          _Complex float
#define R          float
#define SUM        _Complex double
#define OF(name)   name##_c
#define IS_COMPLEX 1
#include "fronts/cublas/level/vector_type.def"

#define T          _Complex double
#define R          double
#define SUM        _Complex double
#define OF(name)   name##_z
#define IS_COMPLEX 1
#include "fronts/cublas/level/vector_type.def"

void vector_run(struct vectors *v, enum element type)
{
	if (type == R_32F)
		run_s(v);
	else if (type == R_64F)
		run_d(v);
	else if (type == C_32F)
		run_c(v);
	else
		run_z(v);
}

static double size_of(double f)
{
	return f < 0 ? -f : f;
}

static double round_as(enum element type, double f)
{
	return element_real(type) == R_64F ? f : (double)(float)f;
}

/*
 * Returns sqrt(a^2 + b^2). Divides by the larger number first, so that squares
 * do not overflow.
 */
static double norm_of(double a, double b)
{
	double most = size_of(a) > size_of(b) ? size_of(a) : size_of(b);

	if (most == 0)
		return 0;
	a /= most;
	b /= most;
	return most * __builtin_sqrt(a * a + b * b);
}

/*
 * Finds c and s that rotate (a, b) to (r, 0). Sets *a to r, and *b to z, from
 * which c and s can be recomputed.
 */
static void make_real(double *a, double *b, double *c, double *s)
{
	double larger = size_of(*a) > size_of(*b) ? *a : *b, r;

	r = norm_of(*a, *b);
	if (larger < 0)
		r = -r;
	*c = r == 0 ? 1 : *a / r;
	*s = r == 0 ? 0 : *b / r;
	if (r == 0)
		*b = 0;
	else if (size_of(*a) > size_of(*b))
		*b = *s;
	else
		*b = *c == 0 ? 1 : 1 / *c;
	*a = r;
}

/* Computes r = a / |a| * norm, c = |a| / norm, s = a / |a| * conj(b) / norm. */
static void make_complex(double a[2], const double b[2], double *c, double s[2])
{
	double size = norm_of(a[0], a[1]);
	double norm = norm_of(size, norm_of(b[0], b[1]));
	double re, im;

	if (size == 0) {
		*c = 0;
		s[0] = 1;
		s[1] = 0;
		a[0] = b[0];
		a[1] = b[1];
		return;
	}
	re = a[0] / size;
	im = a[1] / size;
	*c = size / norm;
	s[0] = (re * b[0] + im * b[1]) / norm;
	s[1] = (im * b[0] - re * b[1]) / norm;
	a[0] = re * norm;
	a[1] = im * norm;
}

void vector_rotg(enum element type, double a[2], double b[2], double ret_c[2],
		 double ret_s[2])
{
	ret_c[1] = ret_s[1] = 0;
	if (element_is_complex(type))
		make_complex(a, b, ret_c, ret_s);
	else
		make_real(a, b, ret_c, ret_s);
}

#define GAMMA 4096.0

/* The matrix H of rotm, and the new d1, d2 and x1. */
struct modified {
	enum element type;
	double flag, h11, h21, h12, h22;
	double d1, d2, x1;
};

static void keep_full(struct modified *m)
{
	if (m->flag == 0) {
		m->h11 = m->h22 = 1;
	} else if (m->flag == 1) {
		m->h21 = -1;
		m->h12 = 1;
	}
	m->flag = -1;
}

/* Scales d1 and d2 to between GAMMA^-2 and GAMMA^2. */
static void rescale_modified(struct modified *m)
{
	const double large = GAMMA * GAMMA, small = 1 / large;

	while (m->d1 != 0 && (m->d1 <= small || m->d1 >= large) &&
	       m->d1 <= DBL_MAX) {
		double f = m->d1 <= small ? GAMMA : 1 / GAMMA;

		keep_full(m);
		m->d1 *= f * f;
		m->x1 /= f;
		m->h11 /= f;
		m->h12 /= f;
	}
	while (m->d2 != 0 &&
	       (size_of(m->d2) <= small || size_of(m->d2) >= large) &&
	       size_of(m->d2) <= DBL_MAX) {
		double f = size_of(m->d2) <= small ? GAMMA : 1 / GAMMA;

		keep_full(m);
		m->d2 *= f * f;
		m->h21 /= f;
		m->h22 /= f;
	}
}

static void clear_all(struct modified *m)
{
	*m = (struct modified){.type = m->type, .flag = -1};
}

/* The form of H depends on which of q1 and q2 is larger. */
static void make_modified(struct modified *m, double y1)
{
	double p1 = m->d1 * m->x1, p2 = m->d2 * y1;
	double q1 = p1 * m->x1, q2 = p2 * y1, u, old;

	if (size_of(q1) > size_of(q2)) {
		m->h21 = -y1 / m->x1;
		m->h12 = p2 / p1;
		u = 1 - m->h12 * m->h21;
		if (u <= 0) {
			clear_all(m);
			return;
		}
		m->flag = 0;
		m->d1 /= u;
		m->d2 /= u;
		m->x1 *= u;
	} else if (q2 < 0) {
		clear_all(m);
		return;
	} else {
		m->flag = 1;
		m->h11 = p1 / p2;
		m->h22 = m->x1 / y1;
		u = 1 + m->h11 * m->h22;
		old = m->d1;
		m->d1 = m->d2 / u;
		m->d2 = old / u;
		m->x1 = y1 * u;
	}
	rescale_modified(m);
}

void vector_rotmg(enum element type, double *d1, double *d2, double *x1,
		  double y1, double ret_param[5])
{
	struct modified m = {.type = type, .d1 = *d1, .d2 = *d2, .x1 = *x1};

	if (m.d1 < 0)
		clear_all(&m);
	else if (m.d2 * y1 == 0)
		m.flag = -2;
	else
		make_modified(&m, y1);
	ret_param[0] = m.flag;
	*d1 = round_as(type, m.d1);
	*d2 = round_as(type, m.d2);
	*x1 = round_as(type, m.x1);
	if (m.flag == -1 || m.flag == 1) {
		ret_param[1] = m.h11;
		ret_param[4] = m.h22;
	}
	if (m.flag == -1 || m.flag == 0) {
		ret_param[2] = m.h21;
		ret_param[3] = m.h12;
	}
}
