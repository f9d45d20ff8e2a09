/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_test.c - checks modules as compilers write them, and errors in broken
 * ones.
 */
#include "base/err.h"
#include "ptx/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BEGIN ".version 8.0\n.target sm_70\n.address_size 64\n"

/* Both code generators of nvcc: that of CUDA 12 (NVVM 7), and the newest. */
static const char *const forms[] = {"forms_75.ptx", "forms_100.ptx"};

static const struct gkf_ptx_variable *variable(const struct ptx_program *p,
					       const char *name)
{
	for (uint32_t i = 0; i < p->module->variable_count; i++)
		if (!strcmp(p->module->variables[i].name, name))
			return &p->module->variables[i];
	fail_msg("no %s", name);
	return NULL;
}

static void declarations_are_read(const char *file)
{
	const struct gkf_ptx_function *f;
	const struct gkf_ptx_variable *v;
	struct ptx_program p;

	ptx_load_file(&p, file);
	assert_int_equal(p.module->version, 90);
	assert_int_equal(p.module->address_size, 64);
	v = variable(&p, "table");
	assert_int_equal(v->space, GKF_PTX_CONST);
	assert_int_equal(v->size, 16);
	assert_int_equal(v->data[8], 3);
	v = variable(&p, "big");
	assert_int_equal(v->size, 8000);
	assert_int_equal(v->align, 8);
	assert_int_equal(v->data_size, 0);
	v = variable(&p, "to_counter");
	assert_int_equal(v->fixup_count, 1);
	assert_string_equal(v->fixups[0].symbol, "counter");
	v = variable(&p, "shared_by_both");
	assert_true(v->managed);
	assert_int_equal((int8_t)v->data[0], -5);
	f = gkf_ptx_function_find(p.module, "bounded");
	assert_int_equal(f->maxntid[0], 96);
	assert_int_equal(f->maxntid[1], 1);
	assert_int_equal(f->minnctapersm, 2);
	f = gkf_ptx_function_find(p.module, "reduce");
	assert_int_equal(f->param_count, 3);
	assert_int_equal(f->param_size, 32);
	assert_int_equal(p.module->variables[f->params[2]].offset, 16);
	f = gkf_ptx_function_find(p.module, "vprintf");
	assert_false(f->has_body);
	assert_int_equal(f->linkage, GKF_PTX_EXTERN);
	ptx_unload(&p);
}

static float halves(float x, int n)
{
	return n ? x * 0.5F + halves(x - 1, n - 1) : sqrtf(x);
}

static unsigned assembled(unsigned n)
{
	unsigned r = 0;

	do
		r += 3;
	while (r < n);
	do
		r += 5;
	while (r < 50);
	return r;
}

static void kernels_come_to_what_c_does(const char *file)
{
	struct ptx_program p;
	int out[96] = {0}, in[128], sum = 3 * 0 + 2 + 7;
	float x[40];
	struct {
		uint64_t in, out;
		int a, gap;
		double b;
	} args = {.a = 3, .b = 2.5};
	uint64_t at;

	ptx_load_file(&p, file);
	args.out = at = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "bounded", 1, 96, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 3);
	assert_int_equal(out[94], 2);
	assert_int_equal(ptx_run(&p, "assembled", 1, 96, &at, 8), GKF_PTX_DONE);
	for (unsigned i = 0; i < 96; i++)
		assert_int_equal(out[i], assembled(i));
	for (int i = 0; i < 128; i++)
		sum += 3 * (in[i] = i * i - 5);
	out[0] = 0;
	args.in = ptx_show(&p, in, sizeof in);
	p.dynamic_shared = 512;
	assert_int_equal(ptx_run(&p, "reduce", 1, 128, &args, sizeof args),
			 GKF_PTX_DONE);
	assert_int_equal(out[0], sum);
	for (int i = 0; i < 40; i++)
		x[i] = (float)i + 10;
	at = ptx_show(&p, x, sizeof x);
	assert_int_equal(ptx_run(&p, "recursive", 1, 40, &at, 8), GKF_PTX_DONE);
	for (int i = 0; i < 40; i++)
		assert_true(x[i] == halves((float)i + 10, i & 7));
	ptx_unload(&p);
}

static void bytes_are_stirred(const char *file)
{
	long long x[8];
	unsigned char bytes[40];
	struct ptx_program p;
	struct {
		uint64_t x, bytes;
		int n;
	} args = {.n = 13};

	ptx_load_file(&p, file);
	for (int i = 0; i < 8; i++)
		x[i] = 1000003LL * i * i - 77;
	for (int i = 0; i < 40; i++)
		bytes[i] = (unsigned char)(i * 7);
	args.x = ptx_show(&p, x, sizeof x);
	args.bytes = ptx_show(&p, bytes, sizeof bytes);
	assert_int_equal(ptx_run(&p, "stirs", 1, 40, &args, 20), GKF_PTX_DONE);
	for (int t = 0; t < 40; t++) {
		unsigned char b = (unsigned char)(t * 7), want;
		long long local = x[13 & 7] * (1 << (13 & 7));

		want = (unsigned char)(t % 5 == 0   ? b + 3
				       : t % 5 == 1 ? (int)(local % 251)
				       : t % 5 == 2 ? b / 14
				       : t % 5 == 3 ? (int)(-1.25F * (float)t)
						    : __builtin_popcount(
							  (unsigned)(13 * t)));
		assert_int_equal(bytes[t], want);
	}
	ptx_unload(&p);
}

/* The function that it calls does not exist. */
static void a_kernel_that_prints_is_refused(const char *file)
{
	struct ptx_program p;
	int n = 3;

	ptx_load_file(&p, file);
	assert_int_equal(ptx_run(&p, "says", 1, 1, &n, 4), GKF_PTX_REFUSED);
	ptx_unload(&p);
}

static void nvcc_is_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++) {
		declarations_are_read(forms[i]);
		kernels_come_to_what_c_does(forms[i]);
		bytes_are_stirred(forms[i]);
		a_kernel_that_prints_is_refused(forms[i]);
	}
}

/* Two arrays as numba passes them, in pieces. */
static void numba_is_understood(void **state)
{
	struct array {
		uint64_t parent, meminfo, nitems, itemsize, data, shape, stride;
	};
	struct {
		float a;
		struct array x, y;
	} args = {.a = 3};
	float x[50], y[50];
	struct ptx_program p;
	const char *kernel;

	(void)state;
	ptx_load_file(&p, "numba.ptx");
	kernel = p.module->functions[0].name;
	args.x = args.y = (struct array){
	    .nitems = 50, .itemsize = 4, .shape = 50, .stride = 4};
	for (int i = 0; i < 50; i++) {
		x[i] = (float)(i - 25);
		y[i] = (float)i;
	}
	args.x.data = ptx_show(&p, x, sizeof x);
	args.y.data = ptx_show(&p, y, sizeof y);
	assert_int_equal(ptx_run(&p, kernel, 2, 32, &args, sizeof args),
			 GKF_PTX_DONE);
	for (int i = 0; i < 50; i++)
		assert_true(y[i] ==
			    3 * (i < 23 ? -2 : (float)(i - 25)) + (float)i);
	ptx_unload(&p);
}

/* Initialisers of all kinds; the rest of one is zero. */
static void initialisers_are_laid_out(void **state)
{
	struct ptx_program p;
	const struct gkf_ptx_variable *v;

	(void)state;
	ptx_load(&p, ".version 6.4\n.target sm_50, debug\n.address_size 64\n"
		     "/* a comment */ .file 1 \"x.cu\"\n"
		     ".visible .global .align 8 .u16 m[2][3] ="
		     " {{1, 0x2, 03}, {0b100}};\n"
		     ".global .f32 f = -1.5, g = 0f40490FDB;\n"
		     ".const .f64 d[] = {1e3, -2., 0d3FF0000000000000};\n"
		     ".global .v2 .f32 v[2] = {{1.0, 2.0}, {3.0}};\n"
		     ".global .u64 at[2] = {m+4, generic(f)-1};\n"
		     ".weak .global .b8 unset[10];\n"
		     ".section .debug_str { .b8 1,2 }\n");
	v = variable(&p, "m");
	assert_int_equal(v->size, 12);
	assert_memory_equal(v->data, "\1\0\2\0\3\0\4\0", 8);
	assert_int_equal(v->data_size, 8);
	v = variable(&p, "g");
	assert_memory_equal(v->data, "\xdb\x0f\x49\x40", 4);
	v = variable(&p, "f");
	assert_memory_equal(v->data, "\0\0\xc0\xbf", 4);
	v = variable(&p, "d");
	assert_int_equal(v->size, 24);
	v = variable(&p, "v");
	assert_int_equal(v->size, 16);
	assert_memory_equal(v->data + 8, "\0\0\x40\x40", 4);
	v = variable(&p, "at");
	assert_int_equal(v->fixup_count, 2);
	assert_int_equal(v->fixups[0].addend, 4);
	assert_int_equal(v->fixups[1].addend, -1);
	assert_int_equal(v->fixups[1].offset, 8);
	ptx_unload(&p);
}

/* The values are those of NVIDIA's assembler. */
static void constants_are_computed(void **state)
{
	static const int64_t want[] = {10, 14, -1, 18, 1, -32, 7, 1, -3,
				       -4, 0,  2,  1,  0, 1,   0, 2, -1,
				       1,  1,  3,  5,  2, -3,  2};
	static const double halves[] = {2.5, -1.5, 0.25, 6, 0x1p-1074};
	const struct gkf_ptx_variable *v;
	struct ptx_program p;

	(void)state;
	ptx_load(&p,
		 BEGIN ".global .u64 e[] = {3+4*2-1, (3+4)*2, ~0, 1<<4|2,"
		       "7==7&&1, -WARP_SZ, 1?7:9, (.u64)-1>>63, -7/2, -8>>1,"
		       "!3, 5 % 3, -1 > 0U, -1 > 0, 0xffffffffffffffff > 0,"
		       "(.s64)0xffffffffffffffff > 0, 1<<65, -1>>70,"
		       "(-1 & 1) > -1, 1.5 > 1.0, 0 ? 1 : 0 ? 2 : 3,"
		       "7 ^ 2 & 3, 12/5U, -7 % 4, 5%-3 };\n"
		       ".global .f64 d[] = {1.5+1.0, -(1.5), .25, 2.*3.0,\n"
		       "0f00000001};\n"
		       ".global .u16 sized[WARP_SZ/2][1+1];\n");
	v = variable(&p, "e");
	assert_int_equal(v->data_size, sizeof want);
	assert_memory_equal(v->data, want, sizeof want);
	v = variable(&p, "d");
	assert_int_equal(v->data_size, sizeof halves);
	assert_memory_equal(v->data, halves, sizeof halves);
	assert_int_equal(variable(&p, "sized")->size, 64);
	ptx_unload(&p);
}

/* Parts of the language that no kernel of ours needs are only read. */
static void all_of_the_language_is_read(void **state)
{
	static const char *const texts[] = {
	    ".target compute_70 .entry f() { ret; }",
	    ".entry f() { .reg .b32 a; .loc 1 2 3 mov.b32 a, 1; ret; }",
	    ".func f() { ret; }\n.section .debug_str {\nname:\n.b8 95,0\n}\n"
	    ".file 1 \"a.cu\", 1234, 5678\n.entry k() {\n.loc 1 2 3\n"
	    ".loc 1 4 5, function_name name+4, inlined_at 1 2 3\nret; }",
	    "# 1 \"a.ptx\"\n.entry f() { ret; }",
	    "@@DWARF .byte 1\n.entry f() { ret; }",
	    ".attribute(.managed) .global .f32 v;",
	    ".global .attribute(.managed, .unified(19,95)) .f32 v;",
	    ".func .attribute(.unified(19,95)) f() { ret; }",
	    ".global .texref t = {width = 3, channel_data_type = 1};",
	    ".global .samplerref s = {addr_mode_0 = wrap};",
	    ".func (.reg .b32 r) f(.reg .b32 a) { add.u32 r, a, 1; ret; }\n"
	    ".entry k() { .reg .b32 x; call (x), f, (3); ret; }",
	    ".entry f() { .reg .b32 r; .reg .b64 d; .reg .pred p;\n"
	    "mov.u32 r, %envreg31; mov.u64 d, %pm7_64; mov.u32 r, %pm0;\n"
	    "mov.pred p, %is_explicit_cluster; mov.u32 r, %nctaid.w;\n"
	    "mov.u32 r, %reserved_smem_offset_1; mov.u32 r, %clock_hi;\n"
	    "mov.v4.u32 {r, _, _, _}, %tid; mov.u32 r, %cluster_ctaid.z; }",
	    ".func f(.param .b64 _, .param .b8 _[4]); .entry k() { ret; }",
	    ".entry k() { .reg .b32 a; vadd.u32.u32.u32 a, a.b0, -a.h1, a; }",
	    ".entry k() { .reg .b64 d; .reg .b32 r; tcgen05.cp.cta_group::1"
	    ".64x128b.warpx2::02_13 [r], d; }",
	    ".entry k() { .reg .b64 d; .reg .b32 r;\n"
	    "cp.async.ca.shared.global.L2::128B [r], [d], (2+2), r; }",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char text[512];
		struct ptx_program p;

		snprintf(text, sizeof text, BEGIN "%s", texts[i]);
		ptx_load(&p, text);
		ptx_unload(&p);
	}
}

/* Texts that are refused, and a part of their messages. */
static const struct {
	const char *text, *message;
} wrong[] = {
    {"", "line 1: expected .version, found the end"},
    {".target sm_70\n", "line 1: expected .version, found \".target\""},
    {".version 8.0\n", ".target is missing"},
    {".version 8.0\n.target sm_9\n", "no such target: sm_9"},
    {".version 8.0\n.target compute_1000\n", "no such target: compute_1000"},
    {BEGIN ".entry f() {", "line 4: expected \"}\", found the end"},
    {BEGIN ".entry f() { bra away; }", "line 4: \"away\" is not"},
    {BEGIN ".entry f() {\n\n add.u32 %r1, %r1, 0x; }", "line 6: not a"},
    {BEGIN ".entry f() { ret }", "line 4"},
    {BEGIN ".entry f() { .reg .b99 %r; }", "expected a type, found \".b99\""},
    {BEGIN ".entry f() { .reg .b32 a, a; }", "\"a\" is declared twice"},
    {BEGIN ".entry f() { @x ret; }", "a guard must be a predicate"},
    {BEGIN ".entry f() {} .entry f() {}", "\"f\" is defined twice"},
    {BEGIN ".global .u8 x[2] = {1, 2, 3};", "more values than \"x\""},
    {BEGIN ".global .align 3 .u8 x;", "power of two"},
    {BEGIN ".entry f() { mov.u32 %r1, 99999999999999999999; }", "not a number"},
    {BEGIN ".entry f() { .reg .b32 %r<3>;\n mov.u32 %r1, %r3; }",
     "line 5: \"%r3\" is not declared"},
    {BEGIN ".entry f() { .reg .b32 %r; mov.u32 %r, %envreg32; }",
     "\"%envreg32\" is not declared"},
    {BEGIN ".global .u32 x = 1/0;", "division by zero"},
    {BEGIN ".global .u32 x = 1.5;", "\"x\" needs integers"},
    {BEGIN ".global .f32 x = 1;", "\"x\" needs floating-point values"},
    {BEGIN ".global .f32 x = 1 + 1.5;", "different types"},
    {BEGIN ".global .u32 x[-1];", "line 4: -1 is not a valid size"},
    {BEGIN ".entry f() { .reg .v2 .b32 v; mov.b32 v.q, 1; }",
     "expected an element of a vector, found \".q\""},
    {BEGIN ".shared .u32 x; .entry f() { mov.u32 x, x[1]; }",
     "\"x\" is not an array"},
    {BEGIN ".global .b8 a[][1<<40] = {{}, {}, {}};", "\"a\" is too big"},
    {BEGIN "nonsense", "expected a directive, found \"nonsense\""},
};

static void errors_tell_line_and_what(void **state)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct gkf_ptx_module *m;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(gkf_ptx_module_read(wrong[i].text,
						     strlen(wrong[i].text),
						     PTX_NEWEST, message, &m),
				 GK_ERR_CORRUPT);
		if (!strstr(message, wrong[i].message))
			fail_msg("\"%s\", not \"%s\"", message,
				 wrong[i].message);
	}
	assert_int_equal(
	    gkf_ptx_module_read(BEGIN, strlen(BEGIN), 79, message, &m),
	    GK_ERR_VERSION);
	assert_non_null(strstr(message, "8.0 is newer"));
}

/* No text overflows the stack when it is read. */
static void nesting_has_an_end(void **state)
{
	static const char *const pieces[] = {
	    "1?", "1?1:", "(", "-", "~", "(.u64)", "1+", "1<<1+1*",
	};
	char message[GKF_PTX_MESSAGE_MAX];
	struct gkf_ptx_module *m;
	const size_t times = 200000;

	(void)state;
	for (size_t i = 0; i < COUNT(pieces); i++) {
		size_t length = strlen(pieces[i]), begin = sizeof BEGIN - 1;
		char *text = malloc(begin + 32 + times * length);

		assert_non_null(text);
		strcpy(text, BEGIN ".global .u32 a = ");
		begin = strlen(text);
		for (size_t n = 0; n < times; n++)
			memcpy(text + begin + n * length, pieces[i], length);
		strcpy(text + begin + times * length, "!;");
		assert_int_equal(gkf_ptx_module_read(text, strlen(text),
						     PTX_NEWEST, message, &m),
				 GK_ERR_CORRUPT);
		free(text);
	}
}

/* A weak definition gives way, and is not in memory twice. */
static void strong_names_are_taken(void **state)
{
	struct ptx_program p;
	uint32_t out = 0, kernels = 0;
	uint64_t at;

	(void)state;
	ptx_load_two(
	    &p,
	    BEGIN ".weak .entry e() { ret; }\n"
		  ".weak .global .u32 v = 1;\n"
		  ".weak .func (.param .b32 r) f() { .reg .b32 %r;\n"
		  "mov.b32 %r, 10; st.param.b32 [r], %r; ret; }\n"
		  ".visible .entry k(.param .u64 out) {\n"
		  ".reg .b64 %rd; .reg .b32 %r<5>;\n"
		  "ld.param.u64 %rd, [out]; ld.global.u32 %r1, [v];\n"
		  "{ .param .b32 r; call (r), f; ld.param.b32 %r2, [r]; }\n"
		  "add.u32 %r1, %r1, %r2; st.global.u32 [%rd], %r1; ret; }\n",
	    BEGIN ".weak .entry e() { ret; }\n"
		  ".visible .global .u32 v = 2;\n"
		  ".visible .func (.param .b32 r) f() { .reg .b32 %r;\n"
		  "mov.b32 %r, 20; st.param.b32 [r], %r; ret; }\n");
	at = ptx_show(&p, &out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 1, 1, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out, 22);
	for (uint32_t i = 0, seen = 0; i < p.module->variable_count; i++) {
		const struct gkf_ptx_variable *v = &p.module->variables[i];

		seen += !strcmp(v->name, "v") && v->linkage != GKF_PTX_EXTERN;
		assert_true(seen <= 1);
	}
	for (uint32_t i = 0; i < p.module->function_count; i++)
		kernels += p.module->functions[i].is_entry &&
			   p.module->functions[i].has_body;
	assert_int_equal(kernels, 2);
	ptx_unload(&p);
}

/* Extern names are another module's; a module's own are not. */
static void modules_are_linked(void **state)
{
	struct ptx_program p;
	uint32_t out = 0;
	uint64_t at;

	(void)state;
	ptx_load_two(
	    &p,
	    BEGIN ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
		  ".extern .global .u32 common;\n"
		  ".global .u32 own = 5;\n.global .u64 to_own = own;\n"
		  ".visible .entry k(.param .u64 out) {\n"
		  ".reg .b64 %rd<4>; .reg .b32 %r<5>;\n"
		  "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [common];\n"
		  "{ .param .b32 x; st.param.b32 [x], %r1; .param .b32 r;\n"
		  "call (r), twice, (x); ld.param.b32 %r2, [r]; }\n"
		  "ld.global.u64 %rd2, [to_own]; ld.global.u32 %r3, [%rd2];\n"
		  "add.u32 %r2, %r2, %r3; st.global.u32 [%rd1], %r2; ret; }\n",
	    BEGIN ".visible .global .u32 common = 100;\n"
		  ".global .u32 own = 7000;\n.global .u64 to_own = own;\n"
		  ".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
		  ".reg .b64 %rd; .reg .b32 %r<3>;\n"
		  "ld.param.b32 %r1, [x]; shl.b32 %r1, %r1, 1;\n"
		  "ld.global.u64 %rd, [to_own]; ld.global.u32 %r2, [%rd];\n"
		  "add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n");
	at = ptx_show(&p, &out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 1, 1, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out, 200 + 7000 + 5);
	ptx_unload(&p);
}

/* Names of blocks are local, and labels are found from inside. */
static void scopes_hide_names(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("{ .reg .b32 %r1; mov.u32 %r1, 5; mov.u32 %r2, 0;\n"
		     "  { .reg .b32 %r<4>; mov.u32 %r3, 9; mov.u32 %r5, 2;\n"
		     "    again: sub.u32 %r3, %r3, 1;\n"
		     "    setp.ne.u32 %p1, %r3, 0; @%p1 bra again; }\n"
		     "  add.u32 %r2, %r2, %r5;\n"
		     "  add.u32 %r2, %r2, %r1; bra done; }\n"
		     "again: trap;\n"
		     "done: add.u32 %r2, %r2, %r1; st.global.u32 [%rd2], %r2;",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], 5 + 2 + l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nvcc_is_understood),
	    cmocka_unit_test(numba_is_understood),
	    cmocka_unit_test(initialisers_are_laid_out),
	    cmocka_unit_test(constants_are_computed),
	    cmocka_unit_test(all_of_the_language_is_read),
	    cmocka_unit_test(errors_tell_line_and_what),
	    cmocka_unit_test(nesting_has_an_end),
	    cmocka_unit_test(modules_are_linked),
	    cmocka_unit_test(strong_names_are_taken),
	    cmocka_unit_test(scopes_hide_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
