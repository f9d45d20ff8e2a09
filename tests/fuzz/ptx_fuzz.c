/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptx_fuzz.c - checks PTX of any text, which is read or refused with a line;
 * what is read can be decoded and run in a warp, whatever it does.
 */
#include "fuzz.h"
#include "ptx/interp/kernel.h"

#include <stdlib.h>
#include <string.h>

static unsigned patience;

static bool stopped(void)
{
	return !patience || !--patience;
}

static bool find(void *context, uint64_t address,
		 struct gkf_ptx_window *ret_window)
{
	if (address >= 4096)
		return false;
	*ret_window = (struct gkf_ptx_window){.size = 4096, .host = context};
	return true;
}

static void run(const struct gkf_ptx_kernel *k, uint32_t param_size)
{
	unsigned char memory[4096] = {0};
	struct gkf_ptx_report report;
	struct gkf_ptx_launch launch = {.kernel = k,
					.grid = {1, 1, 1},
					.block = {40, 1, 1},
					.dynamic_shared = 64,
					.param_size = param_size,
					.find = find,
					.stopped = stopped,
					.context = memory};
	void *params = calloc(1, param_size + 1);

	if (!params)
		abort();
	patience = 200;
	launch.params = params;
	gkf_ptx_run(&launch, &report);
	free(params);
}

static void decode(const struct gkf_ptx_module *m)
{
	uint64_t *addresses = calloc(m->variable_count + 1, 8);
	struct gkf_ptx_kernel *k;

	if (!addresses)
		abort();
	for (uint32_t i = 0; i < m->function_count && i < 8; i++) {
		const struct gkf_ptx_function *f = &m->functions[i];

		if (!f->is_entry || !f->has_body ||
		    gkf_ptx_kernel_new(m, addresses, f, &k))
			continue;
		run(k, f->param_size);
		gkf_ptx_kernel_free(k);
	}
	free(addresses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct gkf_ptx_module *m;
	char *text = malloc(size + 1); /* ends where reading must end */

	if (!text)
		abort();
	memcpy(text, data, size);
	text = realloc(text, size ? size : 1);
	if (gkf_ptx_module_read(text, size, 90, message, &m)) {
		if (!strstr(message, "line ") && message[0])
			abort();
	} else {
		decode(m);
		gkf_ptx_module_free(m);
	}
	free(text);
	return 0;
}
