/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.c - runs kernels on memory of the test. */
#include "ptx/fixture.h"

#include <stdio.h>
#include <stdlib.h>

static bool find(void *context, uint64_t address,
		 struct gkf_ptx_window *ret_window)
{
	const struct ptx_memory *m = context;

	for (unsigned i = 0; i < m->count; i++)
		if (address - m->piece[i].base < m->piece[i].size) {
			*ret_window = m->piece[i];
			return true;
		}
	return false;
}

/* Addresses differ from the host's, so that they cannot be confused. */
uint64_t ptx_show(struct ptx_program *p, void *bytes, uint64_t size)
{
	struct gkf_ptx_window *w = &p->memory.piece[p->memory.count++];

	assert_true(p->memory.count <= PIECES);
	*w = (struct gkf_ptx_window){
	    0x7000000000 + p->memory.count * 0x10000000ULL, size, bytes, false};
	return w->base;
}

static void place(struct ptx_program *p, uint32_t index)
{
	const struct gkf_ptx_variable *v = &p->module->variables[index];
	unsigned char *bytes;

	if (v->space != GKF_PTX_GLOBAL && v->space != GKF_PTX_CONST)
		return;
	bytes = calloc(1, v->size + 1);
	assert_non_null(bytes);
	if (v->data_size)
		memcpy(bytes, v->data, v->data_size);
	p->addresses[index] = ptx_show(p, bytes, v->size);
}

static void fix(struct ptx_program *p, uint32_t index)
{
	const struct gkf_ptx_variable *v = &p->module->variables[index];
	struct gkf_ptx_window w = {0};

	for (uint32_t i = 0; i < v->fixup_count; i++) {
		uint64_t value = (p->addresses[v->fixups[i].variable] +
				  (uint64_t)v->fixups[i].addend) >>
				 v->fixups[i].shift;

		assert_true(find(&p->memory, p->addresses[index], &w));
		memcpy(w.host + v->fixups[i].offset, &value,
		       v->fixups[i].bytes);
	}
}

static struct gkf_ptx_module *read_text(const char *text, size_t size)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct gkf_ptx_module *m = NULL;

	if (gkf_ptx_module_read(text, size, PTX_NEWEST, message, &m))
		fail_msg("%s", message);
	return m;
}

static void load(struct ptx_program *p, struct gkf_ptx_module *m)
{
	memset(p, 0, sizeof *p);
	p->module = m;
	assert_true(m->variable_count <= COUNT(p->addresses));
	for (uint32_t i = 0; i < m->variable_count; i++)
		place(p, i);
	for (uint32_t i = 0; i < m->variable_count; i++)
		fix(p, i);
}

void ptx_load_two(struct ptx_program *p, const char *one, const char *two)
{
	struct gkf_ptx_module *parts[] = {read_text(one, strlen(one)),
					  read_text(two, strlen(two))},
			      *all;
	char message[GKF_PTX_MESSAGE_MAX];

	if (gkf_ptx_module_link(parts, 2, message, &all))
		fail_msg("%s", message);
	load(p, all);
}

void ptx_load(struct ptx_program *p, const char *text)
{
	load(p, read_text(text, strlen(text)));
}

void *ptx_read_file(const char *name, size_t *ret_size)
{
	char path[512];
	FILE *f;
	char *bytes;

	snprintf(path, sizeof path, TEST_DATA "/ptx/%s", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	bytes = malloc(1 << 20);
	assert_non_null(bytes);
	*ret_size = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

void ptx_load_file(struct ptx_program *p, const char *name)
{
	size_t size;
	char *text = ptx_read_file(name, &size);

	load(p, read_text(text, size));
	free(text);
}

void ptx_unload(struct ptx_program *p)
{
	struct gkf_ptx_window w = {0};

	for (uint32_t i = 0; i < p->module->variable_count; i++)
		if (p->addresses[i] && find(&p->memory, p->addresses[i], &w))
			free(w.host);
	gkf_ptx_module_free(p->module);
}

enum gkf_ptx_end ptx_run(struct ptx_program *p, const char *name,
			 unsigned blocks, unsigned threads, const void *params,
			 size_t size)
{
	const struct gkf_ptx_function *f =
	    gkf_ptx_function_find(p->module, name);
	struct gkf_ptx_kernel *k = NULL;
	struct gkf_ptx_launch launch = {.grid = {blocks, 1, 1},
					.block = {threads, 1, 1},
					.dynamic_shared = p->dynamic_shared,
					.params = params,
					.param_size = (uint32_t)size,
					.find = find,
					.stopped = p->stopped,
					.context = &p->memory};
	enum gkf_ptx_end end;

	assert_non_null(f);
	assert_int_equal(f->param_size, size);
	assert_int_equal(gkf_ptx_kernel_new(p->module, p->addresses, f, &k), 0);
	launch.kernel = k;
	end = gkf_ptx_run(&launch, &p->report);
	gkf_ptx_kernel_free(k);
	return end;
}

enum gkf_ptx_end ptx_body(const char *body, const void *in, void *out)
{
	static const char frame[] =
	    ".version 8.0\n.target sm_90\n.address_size 64\n"
	    ".visible .entry body(.param .u64 in, .param .u64 out)\n{\n"
	    ".reg .pred %%p<9>; .reg .b16 %%rs<9>; .reg .b32 %%r<20>;\n"
	    ".reg .b64 %%rd<20>; .reg .f32 %%f<9>; .reg .f64 %%fd<9>;\n"
	    "ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];\n"
	    "mov.u32 %%r1, %%laneid; mul.wide.u32 %%rd3, %%r1, 8;\n"
	    "add.s64 %%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3;\n"
	    "%s\nret;\n}\n";
	struct ptx_program p;
	uint64_t params[2];
	uint64_t scratch[32];
	enum gkf_ptx_end end;
	char *text = malloc(sizeof frame + strlen(body));

	assert_non_null(text);
	sprintf(text, frame, body);
	ptx_load(&p, text);
	memset(scratch, 0, sizeof scratch);
	if (in)
		memcpy(scratch, in, sizeof scratch);
	params[0] = ptx_show(&p, scratch, sizeof scratch);
	params[1] = ptx_show(&p, out ? out : scratch, sizeof scratch);
	end = ptx_run(&p, "body", 1, 32, params, sizeof params);
	ptx_unload(&p);
	free(text);
	return end;
}
