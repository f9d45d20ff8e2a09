/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_test.c - compares every arithmetic instruction with C, over interesting
 * values.
 */
#include "ptx/fixture.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

static const u64 integers[] = {
    0,          1,          2,         3,          7,
    15,         16,         31,        32,         33,
    63,         64,         65,        0x7f,       0x80,
    0xff,       0x100,      0x7fff,    0x8000,     0xffff,
    0x10000,    0x7fffff,   0x800000,  0x7fffffff, 0x80000000,
    0xffffffff, 0x12345678, -1ULL,     -2ULL,      -128ULL,
    1ULL << 63, ~0ULL >> 1, -32768ULL, 0x3210,     0xfedcba9876543210,
};

static const f32 singles[] = {
    0.0F,           -0.0F,         1.0F,        -1.0F,       0.5F,
    1.5F,           -1.5F,         2.5F,        -2.5F,       INFINITY,
    -INFINITY,      NAN,           1e-40F,      -1e-40F,     1.17549435e-38F,
    3.4e38F,        -3.4e38F,      16777217.0F, 8388609.0F,  2147483648.0F,
    -2147483648.0F, 4294967296.0F, 255.5F,      0.49999997F, 1.0000001F,
    3.14159265F,    1e10F,         -1e19F,      2e19F,       0.1F,
};

static const f64 doubles[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    -2.5,
    __builtin_inf(),
    -__builtin_inf(),
    __builtin_nan(""),
    4e-320,
    1e308,
    -1e308,
    1e-300,
    4503599627370497.5,
    9007199254740993.0,
    2147483647.5,
    -2147483648.5,
    1e19,
    -1e19,
    2e19,
    3.14159265358979,
    1.0000000000000002,
    1e-46,
    3.5e38,
    0.1,
};

static s32 clamp(s64 x)
{
	return (s32)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

static s32 sign24(s32 x)
{
	s32 low = x & 0xffffff;

	return low & 0x800000 ? low - 0x1000000 : low;
}

static u32 bits_set(u64 x)
{
	u32 n = 0;

	for (; x; x /= 2)
		n += x % 2;
	return n;
}

static u32 zeros_above(u64 x, u32 width)
{
	u32 n = width;

	for (; x; x /= 2)
		n--;
	return n;
}

static u64 mirrored(u64 x, unsigned width)
{
	u64 out = 0;

	for (unsigned i = 0; i < width; i++)
		if (x >> i & 1)
			out |= 1ULL << (width - 1 - i);
	return out;
}

/* Bit by bit, as the PTX ISA describes bfe. */
static u64 field(u64 a, u32 position, u32 length, unsigned width, int is_signed)
{
	u64 out = 0;
	unsigned top, sign;

	position &= 255;
	length &= 255;
	top = position + length - 1 < width - 1 ? position + length - 1
						: width - 1;
	sign = !is_signed || !length ? 0 : (unsigned)(a >> top & 1);
	for (unsigned i = 0; i < width; i++)
		if (i < length && position + i < width ? a >> (position + i) & 1
						       : sign)
			out |= 1ULL << i;
	return out;
}

static u32 chosen_bytes(u32 a, u32 b, u32 c)
{
	u8 from[8], to[4];
	u32 out;

	memcpy(from, &a, 4);
	memcpy(from + 4, &b, 4);
	for (unsigned i = 0; i < 4; i++) {
		unsigned pick = c >> 4 * i & 15;

		to[i] = pick < 8 ? from[pick]
				 : (u8)(from[pick - 8] > 127 ? 255 : 0);
	}
	memcpy(&out, to, 4);
	return out;
}

static f32 flush(f32 x)
{
	return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static f32 unit(f32 x)
{
	return isnan(x) || x < 0 ? 0 : x > 1 ? 1 : x == 0 ? 0 : x;
}

static f32 smaller(f32 a, f32 b)
{
	if (a == 0 && b == 0)
		return signbit(a) ? a : b;
	return fminf(a, b);
}

static f64 smaller64(f64 a, f64 b)
{
	if (a == 0 && b == 0)
		return signbit(a) ? a : b;
	return fmin(a, b);
}

static f32 rounded(int mode, char op, volatile f32 a, volatile f32 b)
{
	volatile f32 r;

	fesetround(mode);
	r = op == '+' ? a + b : op == '*' ? a * b : a / b;
	fesetround(FE_TONEAREST);
	return r;
}

static f32 fused_by(int mode, volatile f32 a, volatile f32 b, volatile f32 c)
{
	volatile f32 r;

	fesetround(mode);
	r = fmaf(a, b, c);
	fesetround(FE_TONEAREST);
	return r;
}

/* Floats of 16 bits, given their bits of mantissa and lowest exponent. */
static u16 to_16(f32 x, int bits, int low, double most)
{
	int exponent = x == 0 || isinf(x) || ilogbf(x) < low ? low : ilogbf(x);
	double size = fabs(rint(ldexp((double)x, bits - exponent)));
	u16 sign = signbit(x) ? 0x8000 : 0;

	if (isnan(x))
		return 0x7fff;
	if (isinf(x) || ldexp(size, exponent - bits) > most)
		return (u16)(sign | (0x7fff >> bits << bits));
	return (u16)(sign |
		     (((unsigned)(exponent - low) << bits) + (unsigned)size));
}

static f32 from_16(u16 x, int bits, int low)
{
	int exponent = (x & 0x7fff) >> bits, mantissa = x & ((1 << bits) - 1);
	double size = exponent == 0x7fff >> bits
			  ? (double)(mantissa ? NAN : INFINITY)
			  : ldexp(mantissa + (exponent ? 1 << bits : 0),
				  low - bits + (exponent ? exponent - 1 : 0));

	return (f32)(x & 0x8000 ? -size : size);
}

static f32 towards_zero(u64 x)
{
	f32 r = (f32)x;

	return (unsigned __int128)r > x ? nextafterf(r, 0) : r;
}

static s64 within(f64 x, f64 low, f64 high)
{
	return (s64)(x < low ? low : x > high ? high : x);
}

/* ---- a case: its operands, its expected result ---- */

struct op_case {
	const char *text;
	char result, in[3]; /* letters of types */
	unsigned operands;
	bool compares;
	u64 (*want)(u64 a, u64 b, u64 c);
};

#define LETTER(T)                                                              \
	_Generic((T)0, u16                                                     \
		 : 'h', s16                                                    \
		 : 'h', u32                                                    \
		 : 'w', s32                                                    \
		 : 'w', u64                                                    \
		 : 'l', s64                                                    \
		 : 'l', f32                                                    \
		 : 'f', f64                                                    \
		 : 'd')
#define WANT(id, R, A, B, C, value)                                            \
	static u64 want_##id(u64 a_, u64 b_, u64 c_)                           \
	{                                                                      \
		A a;                                                           \
		B b;                                                           \
		C c;                                                           \
		R r;                                                           \
		u64 out = 0;                                                   \
		memcpy(&a, &a_, sizeof a);                                     \
		memcpy(&b, &b_, sizeof b);                                     \
		memcpy(&c, &c_, sizeof c);                                     \
		(void)a, (void)b, (void)c;                                     \
		r = (R)(value);                                                \
		memcpy(&out, &r, sizeof r);                                    \
		return out;                                                    \
	}
#define CASE(id, text, R, A, B, C, value)  WANT(id, R, A, B, C, value)
#define CASE3(id, text, R, A, B, C, value) WANT(id, R, A, B, C, value)
#define CASE1(id, text, R, A, value)       WANT(id, R, A, u32, u32, value)
#define COMPARE(id, text, T, value)        WANT(setp_##id, u32, T, T, u32, value)
#include "ptx/op_cases.def"
#undef CASE
#undef CASE1
#undef CASE3
#undef COMPARE

static const struct op_case cases[] = {
#define CASE(id, text, R, A, B, C, value)                                      \
	{text, LETTER(R), {LETTER(A), LETTER(B), 'w'}, 2, false, want_##id},
#define CASE3(id, text, R, A, B, C, value)                                     \
	{text, LETTER(R), {LETTER(A), LETTER(B), LETTER(C)},                   \
	 3,    false,     want_##id},
#define CASE1(id, text, R, A, value)                                           \
	{text, LETTER(R), {LETTER(A), 'w', 'w'}, 1, false, want_##id},
#define COMPARE(id, text, T, value)                                            \
	{"setp." text, 'w',           {LETTER(T), LETTER(T), 'w'}, 2,          \
	 true,         want_setp_##id},
#include "ptx/op_cases.def"
};

static unsigned value_count(char letter)
{
	return letter == 'f'   ? COUNT(singles)
	       : letter == 'd' ? COUNT(doubles)
			       : COUNT(integers);
}

static u64 value_of(char letter, unsigned i)
{
	u64 out = 0;

	i %= value_count(letter);
	if (letter == 'f')
		memcpy(&out, &singles[i], 4);
	else if (letter == 'd')
		memcpy(&out, &doubles[i], 8);
	else
		out = integers[i];
	return out;
}

static const char *type_of(char letter)
{
	return letter == 'h'   ? "b16"
	       : letter == 'w' ? "b32"
	       : letter == 'f' ? "f32"
	       : letter == 'd' ? "f64"
			       : "b64";
}

static u64 mask_of(char letter)
{
	return letter == 'h'                    ? 0xffff
	       : letter == 'w' || letter == 'f' ? 0xffffffff
						: ~0ULL;
}

static void write_kernel(const struct op_case *c, char *text, size_t size)
{
	char args[64] = "";
	size_t n;

	for (unsigned i = 0; i < c->operands; i++)
		strcat(strcat(args, ", "),
		       (const char *[]){"%a", "%b", "%c"}[i]);
	n = (size_t)snprintf(
	    text, size,
	    ".version 8.0\n.target sm_70\n.address_size 64\n"
	    ".entry k(.param .u64 in, .param .u64 out) {\n"
	    ".reg .pred %%p; .reg .b32 %%t<4>; .reg .b64 %%at<9>;\n"
	    ".reg .%s %%d; .reg .%s %%a; .reg .%s %%b; .reg .%s %%c;\n"
	    "ld.param.u64 %%at1, [in]; ld.param.u64 %%at2, [out];\n"
	    "mov.u32 %%t1, %%ctaid.x; mov.u32 %%t2, %%tid.x;\n"
	    "mad.lo.u32 %%t1, %%t1, 32, %%t2;\n"
	    "mul.wide.u32 %%at3, %%t1, 24; add.u64 %%at1, %%at1, %%at3;\n"
	    "mul.wide.u32 %%at3, %%t1, 8; add.u64 %%at2, %%at2, %%at3;\n"
	    "ld.global.%s %%a, [%%at1]; ld.global.%s %%b, [%%at1+8];\n"
	    "ld.global.%s %%c, [%%at1+16];\n",
	    type_of(c->result), type_of(c->in[0]), type_of(c->in[1]),
	    type_of(c->in[2]), type_of(c->in[0]), type_of(c->in[1]),
	    type_of(c->in[2]));
	if (c->compares)
		snprintf(text + n, size - n,
			 "%s %%p%s; selp.b32 %%d, 1, 0, %%p;\n"
			 "st.global.b32 [%%at2], %%d; ret; }\n",
			 c->text, args);
	else
		snprintf(text + n, size - n,
			 "%s %%d%s;\nst.global.%s [%%at2], %%d; ret; }\n",
			 c->text, args, type_of(c->result));
}

static bool is_nan(char letter, u64 bits)
{
	return letter == 'd' && (bits & ~0ULL >> 1) > 0x7ff0000000000000;
}

/* A NaN of single precision has a single form. */
static u64 canonical(char letter, u64 bits)
{
	if (letter == 'f' && (bits & 0x7fffffff) > 0x7f800000)
		return 0x7fffffff;
	return bits;
}

#define PLACES 8192

static void check(const struct op_case *c)
{
	static u64 in[PLACES][3], out[PLACES];
	unsigned n = 0;
	u64 params[2];
	struct ptx_program p;
	char text[2048];

	write_kernel(c, text, sizeof text);
	for (unsigned i = 0; i < value_count(c->in[0]); i++)
		for (unsigned j = 0;
		     j < (c->operands > 1 ? value_count(c->in[1]) : 1);
		     j++, n++) {
			in[n][0] = value_of(c->in[0], i);
			in[n][1] = value_of(c->in[1], j);
			in[n][2] = value_of(c->in[2], i * 3 + j * 7);
		}
	assert_true(n <= PLACES - 32);
	memset(out, 0, sizeof out);
	ptx_load(&p, text);
	params[0] = ptx_show(&p, in, sizeof in);
	params[1] = ptx_show(&p, out, sizeof out);
	if (ptx_run(&p, "k", (n + 31) / 32, 32, params, sizeof params))
		fail_msg("%s does not run", c->text);
	for (unsigned i = 0; i < n; i++) {
		u64 want =
		    canonical(c->result, c->want(in[i][0], in[i][1], in[i][2]) &
					     mask_of(c->result));

		if (out[i] != want &&
		    !(is_nan(c->result, want) && is_nan(c->result, out[i])))
			fail_msg("%s of %#llx, %#llx, %#llx: %#llx, not %#llx",
				 c->text, (unsigned long long)in[i][0],
				 (unsigned long long)in[i][1],
				 (unsigned long long)in[i][2],
				 (unsigned long long)out[i],
				 (unsigned long long)want);
	}
	ptx_unload(&p);
}

static void every_instruction_agrees_with_c(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check(&cases[i]);
}

/* Bits without an expression in C: all eight inputs of lop3, and bfi. */
static void tables_of_truth_are_followed(void **state)
{
	u64 in[32], out[32] = {0};

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = l;
	assert_int_equal(
	    ptx_body("ld.global.b32 %r2, [%rd1];\n"
		     "and.b32 %r3, %r2, 1; shr.u32 %r4, %r2, 1;\n"
		     "and.b32 %r5, %r4, 1; shr.u32 %r6, %r2, 2;\n"
		     "and.b32 %r7, %r6, 1;\n"
		     "lop3.b32 %r8, %r7, %r5, %r3, 0xCA;\n"
		     "and.b32 %r8, %r8, 1; st.global.b32 [%rd2], %r8;\n"
		     "bfi.b32 %r9, %r2, 0xffffffff, 8, 5;\n"
		     "st.global.b32 [%rd2+4], %r9;",
		     in, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		u32 a = l >> 2 & 1, b = l >> 1 & 1, c = l & 1;

		assert_int_equal((u32)out[l], a ? b : c);
		assert_int_equal(out[l] >> 32, 0xffffe0ff | l << 8);
	}
}

/* All lanes at once by the processor, some of them by our own arithmetic. */
static void fused_numbers_are_the_same_everywhere(void **state)
{
	u64 out[32];

	(void)state;
	memset(out, 0xff, sizeof out);
	assert_int_equal(
	    ptx_body(
		"and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n"
		"mov.u32 %r2, 0; mov.u32 %r3, %r1; mov.u32 %r4, 0;\n"
		"top: mad.lo.u32 %r3, %r3, 1664525, 1013904223;\n"
		"and.b32 %r5, %r3, 0x80ffffff; or.b32 %r5, %r5, 0x3e000000;\n"
		"mov.b32 %f1, %r5;\n"
		"mad.lo.u32 %r3, %r3, 1664525, 1013904223;\n"
		"and.b32 %r6, %r3, 0x80ffffff; or.b32 %r6, %r6, 0x3e000000;\n"
		"mov.b32 %f2, %r6;\n"
		"mad.lo.u32 %r3, %r3, 1664525, 1013904223;\n"
		"and.b32 %r7, %r3, 0x87ffffff; or.b32 %r7, %r7, 0x38000000;\n"
		"mov.b32 %f3, %r7;\n"
		"fma.rn.f32 %f4, %f1, %f2, %f3;\n"
		"@%p1 fma.rn.f32 %f5, %f1, %f2, %f3;\n"
		"@!%p1 fma.rn.f32 %f5, %f1, %f2, %f3;\n"
		"mov.b32 %r8, %f4; mov.b32 %r9, %f5;\n"
		"setp.ne.b32 %p2, %r8, %r9; @%p2 add.u32 %r4, %r4, 1;\n"
		"add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5000;\n"
		"@%p2 bra top; st.global.b32 [%rd2], %r4;",
		NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal((u32)out[l], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_instruction_agrees_with_c),
	    cmocka_unit_test(tables_of_truth_are_followed),
	    cmocka_unit_test(fused_numbers_are_the_same_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
