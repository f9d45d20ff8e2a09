/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.c - decides which verbs work, from what each of them requires. */
#include "cli/doctor/doctor.h"

#include <string.h>

const char *const gk_doctor_verbs[VERB_COUNT] = {
#define VERB(name) #name,
#include "cli/verbs.def"
#undef VERB
};

bool gk_doctor_part_works(const struct gk_doctor_report *r,
			  const struct gk_doctor_part *part)
{
	if (part->file)
		return gk_doctor_has_file(part->file);
	if (part->library >= 0)
		return r->libraries[part->library];
	if (part->check == CHECK_config)
		return r->found[part->check].state != FINDING_BAD;
	/*
	 * This check is also satisfied by another session's display server, on
	 * which we cannot draw.
	 */
	if (part->check == CHECK_display)
		return gk_doctor_has_display();
	return r->found[part->check].state == FINDING_OK ||
	       r->found[part->check].state == FINDING_WARN;
}

bool gk_doctor_verb_works(const struct gk_doctor_report *r, const char *verb,
			  const struct gk_doctor_part **ret_why)
{
	for (size_t i = 0; i < gk_doctor_part_count; i++) {
		const struct gk_doctor_part *part = &gk_doctor_parts[i];

		if (part->part || strcmp(part->verb, verb) ||
		    gk_doctor_part_works(r, part))
			continue;
		*ret_why = part;
		return false;
	}
	return true;
}

const char *gk_doctor_part_lacks(const struct gk_doctor_part *part)
{
	if (part->file)
		return part->file;
	return part->library >= 0 ? gk_doctor_libraries[part->library].file
				  : gk_doctor_checks[part->check].title;
}

bool gk_doctor_is_well(const struct gk_doctor_report *r)
{
	for (size_t i = 0; i < CHECK_COUNT; i++)
		if (r->found[i].state == FINDING_BAD)
			return false;
	return true;
}
