/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - includes cmocka and what it needs before it.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include "base/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Whether two numbers are nearly the same; cmocka's assert_float_equal() takes
 * NaN as equal to anything. */
#define assert_near(a, b, most)                                                \
	assert_true(__builtin_fabs((double)(a) - (double)(b)) <= (most))

#endif
