/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - `gpukit limit doctor`: says whether a process is limited, by what,
 * and if not, why.
 */
#include "cli/limit/doctor.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "cli/output.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define SCHEMA 1

static bool has_bad(const struct gk_finding found[LIMIT_CHECKS])
{
	for (size_t i = 0; i < LIMIT_CHECKS; i++)
		if (found[i].state == FINDING_BAD)
			return true;
	return false;
}

static const char *headline(const struct limit_patient *p,
			    const struct gk_finding found[LIMIT_CHECKS])
{
	if (has_bad(found))
		return "not limited as it should be";
	return limit_patient_has_limits(p) ? "limited" : "not limited";
}

static void put_text(struct gk_buf *out, const struct limit_patient *p,
		     const struct gk_finding found[LIMIT_CHECKS])
{
	bool color = gk_use_color(GK_COLOR_AUTO);

	gk_buf_printf(out, "process %d (%s): %s\n", (int)p->pid, p->command,
		      headline(p, found));
	for (size_t i = 0; i < LIMIT_CHECKS; i++)
		if (found[i].state != FINDING_ABSENT)
			gk_finding_text(out, color, limit_checks[i].title,
					&found[i]);
}

static void put_json(struct gk_buf *out, const struct limit_patient *p,
		     const struct gk_finding found[LIMIT_CHECKS])
{
	json_t *checks = json_array(), *all;
	char *text;

	for (size_t i = 0; i < LIMIT_CHECKS; i++)
		json_array_append_new(
		    checks, gk_finding_json(limit_checks[i].id,
					    limit_checks[i].title, &found[i]));
	all = json_pack("{s:i, s:s, s:i, s:s, s:b, s:o}", "schema", SCHEMA,
			"gpukit_version", GPUKIT_VERSION, "pid", (int)p->pid,
			"command", p->command, "limited",
			!has_bad(found) && limit_patient_has_limits(p),
			"checks", checks);
	text = json_dumps(all, JSON_INDENT(2));
	if (text)
		gk_buf_printf(out, "%s\n", text);
	else
		out->failed = true;
	free(text);
	json_decref(all);
}

int limit_doctor(struct limit_ask *ask)
{
	struct gk_finding found[LIMIT_CHECKS] = {0};
	struct limit_patient patient;
	struct gk_buf out = {0};
	int64_t pid;
	int code;

	if (gk_parse_int(ask->name, &pid) || pid <= 0 || pid > INT32_MAX)
		return limit_usage("doctor takes the pid of a process, not "
				   "'%s'",
				   ask->name);
	code = limit_patient_read((pid_t)pid, &patient);
	if (code)
		return code;
	for (size_t i = 0; i < LIMIT_CHECKS; i++)
		limit_checks[i].look(&patient, &found[i]);
	if (ask->json)
		put_json(&out, &patient, found);
	else
		put_text(&out, &patient, found);
	code = limit_write_out(&out);
	if (!code && has_bad(found))
		code = GK_EXIT_FAILURE;
	limit_patient_free(&patient);
	return patient.gk ? gk_cli_close(patient.gk, code) : code;
}
