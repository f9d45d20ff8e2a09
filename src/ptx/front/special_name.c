/* special_name.c - the names of PTX's special registers. */
#include "ptx/front/special_name.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* The names of special registers that the executor has. */
static const char *const exact[] = {
#define SPECIAL(name, letter, value) "%" #name,
#define CLOCK(id, name, bytes)       "%" #name,
#include "ptx/special.def"
#undef SPECIAL
#undef CLOCK
};

/* Others that PTX has; each of these may be followed by .x and the like. */
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

/* And those that are numbered: up to which, and what stands behind. */
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
