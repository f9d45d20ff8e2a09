/* SPDX-License-Identifier: Apache-2.0 */
/* special_name.c - knows the names of PTX's special registers. */
#include "ptx/front/special_name.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Names that the executor supports. */
static const char *const exact[] = {
#define SPECIAL(name, letter, value) "%" #name,
#define CLOCK(id, name, bytes)       "%" #name,
#include "ptx/special.def"
#undef SPECIAL
#undef CLOCK
};

/* Other names in PTX; each may be followed by .x, .y, .z or .w. */
static const char *const others[] = {
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%is_explicit_cluster",
    "%gridid",
    "%aggr_smem_size",
    "%current_graph_exec",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
};

/*
 * Names that contain a number, as %envreg31 does: the highest number, and the
 * text that follows the number.
 */
static const struct {
	const char *name;
	unsigned long most;
	const char *end;
} numbered[] = {
    {"%envreg", 31, ""},
    {"%pm", 7, ""},
    {"%pm", 7, "_64"},
    {"%reserved_smem_offset_", 1, ""},
};

bool gkf_special_known(const char *name)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < COUNT(exact); i++)
		if (!strcmp(exact[i], name))
			return true;
	for (size_t i = 0; i < COUNT(others); i++)
		if (strlen(others[i]) == length &&
		    !memcmp(others[i], name, length))
			return true;
	for (size_t i = 0; i < COUNT(numbered); i++) {
		size_t stem = strlen(numbered[i].name);
		char *end;

		if (!strncmp(name, numbered[i].name, stem) &&
		    name[stem] >= '0' && name[stem] <= '9' &&
		    strtoul(name + stem, &end, 10) <= numbered[i].most &&
		    !strcmp(end, numbered[i].end))
			return true;
	}
	return false;
}
