/* SPDX-License-Identifier: Apache-2.0 */
/* type.c - owns the table of types; finds types and spaces by name. */
#include "ptx/front/parse.h"

#include <string.h>

const struct gkf_ptx_type_facts gkf_ptx_types[GKF_PTX_TYPES] = {
#define TYPE(name, bytes, kind) {#name, bytes, GKF_PTX_##kind},
#include "ptx/types.def"
#undef TYPE
};

enum gkf_ptx_type gkf_ptx_type(const char *name, size_t length)
{
	for (unsigned i = 0; i < GKF_PTX_TYPES; i++)
		if (strlen(gkf_ptx_types[i].name) == length &&
		    !memcmp(gkf_ptx_types[i].name, name, length))
			return (enum gkf_ptx_type)i;
	return GKF_PTX_TYPES;
}

enum gkf_ptx_space gkf_parse_space(const struct gkf_ptx_parser *p)
{
	static const struct {
		const char *name;
		enum gkf_ptx_space space;
	} spaces[] = {
	    {".reg", GKF_PTX_REG},       {".param", GKF_PTX_PARAM},
	    {".local", GKF_PTX_LOCAL},   {".shared", GKF_PTX_SHARED},
	    {".global", GKF_PTX_GLOBAL}, {".const", GKF_PTX_CONST},
	};

	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (gkf_parse_is_word(p, spaces[i].name))
			return spaces[i].space;
	return GKF_PTX_GENERIC;
}
