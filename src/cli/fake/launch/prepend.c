/* SPDX-License-Identifier: Apache-2.0 */
/* prepend.c - adds paths to the environment of commands. */
#include "base/str.h"
#include "cli/fake/fake.h"

#include <stdlib.h>

int fake_prepend(const char *variable, const char *path)
{
	const char *old = getenv(variable);
	struct gk_buf value = {0};
	int r = -1;

	gk_buf_puts(&value, path);
	if (old && *old)
		gk_buf_printf(&value, ":%s", old);
	if (!value.failed)
		r = setenv(variable, value.data, 1);
	gk_buf_free(&value);
	return r;
}
