/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - the doctor's report as JSON, as described by
 * docs/doctor.schema.json.
 */
#include "cli/doctor/doctor.h"
#include "format/names.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Incremented when a key is removed or changes meaning. */
#define SCHEMA 1

static json_t *text_or_null(const char *text)
{
	char clean[PATH_MAX];

	if (!text || !*text)
		return json_null();
	gk_str_clean(clean, sizeof clean, text, strlen(text));
	return json_string(clean);
}

static json_t *checks_json(const struct gk_doctor_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < CHECK_COUNT; i++)
		json_array_append_new(list,
				      gk_finding_json(gk_doctor_checks[i].id,
						      gk_doctor_checks[i].title,
						      &r->found[i]));
	return list;
}

static json_t *parts_json(const struct gk_doctor_report *r, const char *verb)
{
	json_t *list = json_array();

	for (size_t i = 0; i < gk_doctor_part_count; i++) {
		const struct gk_doctor_part *part = &gk_doctor_parts[i];

		if (part->part && !strcmp(part->verb, verb) &&
		    !gk_doctor_part_works(r, part))
			json_array_append_new(
			    list,
			    json_pack("{s:s, s:s}", "part", part->part, "needs",
				      gk_doctor_part_lacks(part)));
	}
	return list;
}

static json_t *verbs_json(const struct gk_doctor_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < VERB_COUNT; i++) {
		const struct gk_doctor_part *why = NULL;
		bool works = gk_doctor_verb_works(r, gk_doctor_verbs[i], &why);

		json_array_append_new(
		    list,
		    json_pack("{s:s, s:b, s:s?, s:o}", "verb",
			      gk_doctor_verbs[i], "works", works, "needs",
			      why ? gk_doctor_part_lacks(why) : NULL, "broken",
			      parts_json(r, gk_doctor_verbs[i])));
	}
	return list;
}

static json_t *install_json(const struct gk_doctor *d, size_t i)
{
	const char *package = gk_doctor_package(d, i);

	return package ? json_sprintf("%s %s", d->system->install, package)
		       : json_null();
}

static json_t *libraries_json(const struct gk_doctor_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < LIBRARY_COUNT; i++) {
		const struct gk_doctor_library *l = &gk_doctor_libraries[i];

		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s%, s:b, s:b, s:o}", "file", l->file,
			      "users", l->users, strlen(l->users) - 1,
			      "installed", r->libraries[i] == LIBRARY_INSTALLED,
			      "inside", r->libraries[i] == LIBRARY_INSIDE,
			      "install", install_json(r->doctor, i)));
	}
	return list;
}

static json_t *missing_json(const struct gk_doctor_driver *v)
{
	json_t *list = json_array();

	for (size_t i = 0;
	     i < v->missing_count && i < sizeof v->missing / sizeof *v->missing;
	     i++)
		json_array_append_new(list, json_string(v->missing[i]));
	return list;
}

static json_t *driver_json(const struct gk_doctor *d)
{
	const struct gk_doctor_driver *v = &d->driver;
	const char *driver = "", *nvml = "";
	int cuda = 0;

	if (v->gk)
		gk_versions(v->gk, &driver, &nvml, &cuda);
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "library",
	    text_or_null(v->path), "version", text_or_null(driver),
	    "nvml_version", text_or_null(nvml), "cuda_version",
	    cuda ? json_sprintf("%d.%d", cuda / 1000, cuda % 1000 / 10)
		 : json_null(),
	    "kernel_module", text_or_null(d->kernel.version), "made_up",
	    v->made_up, "missing_functions", missing_json(v));
}

static json_t *gpus_json(const struct gk_snapshot *snap)
{
	json_t *list = json_array();

	for (size_t i = 0; snap && i < snap->device_count; i++) {
		const struct gk_device *g = &snap->devices[i];

		if (g->mig_index < 0)
			json_array_append_new(
			    list, json_pack("{s:i, s:o, s:o, s:s}", "index",
					    (int)g->index, "name",
					    text_or_null(g->name), "uuid",
					    text_or_null(g->uuid), "health",
					    gk_health_name(g->health)));
	}
	return list;
}

static json_t *system_json(const struct gk_doctor *d)
{
	return json_pack("{s:s, s:o, s:o, s:b, s:o}", "name", d->system_name,
			 "kernel", text_or_null(d->kernel.release), "container",
			 text_or_null(d->container ? d->container->name : NULL),
			 "wsl", d->wsl, "board", text_or_null(d->board));
}

void gk_doctor_json(const struct gk_doctor_report *r, struct gk_buf *out)
{
	const struct gk_doctor *d = r->doctor;
	json_t *all = json_pack(
	    "{s:i, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SCHEMA,
	    "gpukit_version", GPUKIT_VERSION, "well", gk_doctor_is_well(r),
	    "system", system_json(d), "driver", driver_json(d), "gpus",
	    gpus_json(d->driver.snap), "checks", checks_json(r), "verbs",
	    verbs_json(r), "libraries", libraries_json(r));
	char *text = json_dumps(all, JSON_INDENT(2));

	if (text)
		gk_buf_printf(out, "%s\n", text);
	else
		out->failed = true;
	free(text);
	json_decref(all);
}
