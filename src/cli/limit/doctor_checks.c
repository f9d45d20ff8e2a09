/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_checks.c - the checks of `gpukit limit doctor`, a row each. They judge
 * facts that patient.c has read, and read nothing themselves.
 */
#include "base/clock.h"
#include "cli/limit/doctor.h"
#include "format/units.h"
#include "limit/reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_ours(const struct limit_patient *p)
{
	return p->library == LIMIT_LIBRARY_OURS;
}

/*
 * Returns what an error means for the process: its GPU work is refused, but
 * only if it has loaded our library.
 */
static const char *refusal(const struct limit_patient *p)
{
	return is_ours(p) ? "; its GPU work is refused" : "";
}

/* Whether the process's environment asks for a group or region, or is wrong. */
static bool wants_limits(const struct limit_patient *p)
{
	return p->environment_err || p->environment.group ||
	       p->environment.region;
}

/* ---- the library ---- */

/* Says why the dynamic linker has not loaded the library. */
static void say_why_not_loaded(const struct limit_patient *p,
			       struct gk_finding *f)
{
	if (!p->has_linker) {
		gk_finding_say(f, FINDING_BAD,
			       "the program is statically linked, so "
			       "LD_PRELOAD has no effect on it");
		gk_finding_todo(f, "link it dynamically; `gpukit limit "
				   "--strict` refuses such programs");
	} else if (p->has_musl) {
		gk_finding_say(f, FINDING_BAD,
			       "the program is linked with musl; libvgpu.so is "
			       "for glibc");
		gk_finding_todo(f, "use an image with glibc");
	} else if (p->gained_rights) {
		gk_finding_say(f, FINDING_BAD,
			       "the program gained privileges when it was "
			       "started (set-user-ID, set-group-ID or "
			       "capabilities), so LD_PRELOAD was ignored");
		gk_finding_todo(f, "start it as the user that has them, "
				   "without the mode bit or the capabilities");
	} else if (!*p->preload) {
		gk_finding_say(f, FINDING_BAD,
			       "no libvgpu.so in its LD_PRELOAD, which sudo "
			       "and `env -i` remove");
		gk_finding_todo(f, "start it with `gpukit limit -- CMD`, as "
				   "the last of such commands");
	} else if (p->preload_err) {
		gk_finding_say(f, FINDING_BAD,
			       "it is to preload %s, which it cannot read: %s",
			       p->preload, strerror(p->preload_err));
		gk_finding_todo(f, "make that file readable, or mount it into "
				   "the container");
	} else {
		gk_finding_say(f, FINDING_BAD,
			       "it is to preload %s, but has not loaded it",
			       p->preload);
		gk_finding_todo(f, "start it with LD_DEBUG=libs, which says "
				   "why (another CPU, an older glibc)");
	}
}

static void look_library(const struct limit_patient *p, struct gk_finding *f)
{
	if (p->library == LIMIT_LIBRARY_HAMI) {
		gk_finding_say(f, FINDING_BAD,
			       "%s is not gpukit's, but that of HAMi-core or "
			       "another limiter",
			       p->library_path);
		gk_finding_todo(f, "put gpukit's library in its place: "
				   "docs/LIMIT-HAMI.md");
	} else if (p->library_replaced) {
		gk_finding_say(f, FINDING_WARN,
			       "%s was replaced or removed after the process "
			       "had loaded it; the old one stays in force",
			       p->library_path);
		gk_finding_todo(f, "restart the process to use the new one");
	} else if (is_ours(p)) {
		gk_finding_say(f, FINDING_OK, "%s", p->library_path);
	} else if (wants_limits(p)) {
		say_why_not_loaded(p, f);
	} else {
		gk_finding_say(f, FINDING_ABSENT, "not loaded");
	}
}

/* ---- the limits ---- */

static bool limits_anything(const struct gkl_policy *policy)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (policy->memory[i] ||
		    (policy->compute[i] && policy->rule != GKL_OFF))
			return true;
	return false;
}

/* Returns the group's name as `gpukit limit` knows it. */
static const char *group_name(const struct limit_patient *p)
{
	const char *path = p->environment.group, *slash;

	if (!path)
		return p->environment.region;
	slash = strrchr(path, '/');
	return slash && gkl_name_is_good(slash + 1) ? slash + 1 : path;
}

/* Returns a GPU whose limit is less than a context needs; NULL: none. */
static const struct limit_view_device *find_tight(const struct limit_patient *p)
{
	const struct gkl_policy *policy = &p->view.policy;

	for (unsigned i = 0; i < p->view.device_count; i++) {
		const struct limit_view_device *one = &p->view.devices[i];
		uint64_t limit = policy->memory[one->index];

		if (limit && limit < one->device.context_bytes &&
		    !policy->contexts_free)
			return one;
	}
	return NULL;
}

static void say_tight(const struct limit_patient *p,
		      const struct limit_view_device *tight,
		      struct gk_finding *f)
{
	char text[GK_UNITS_MAX];

	f->state = FINDING_BAD;
	gk_finding_add(
	    f, "; a context on GPU %u needs %s, so its work is refused",
	    tight->index,
	    gk_human_size(text, (int64_t)tight->device.context_bytes));
	gk_finding_todo(f, "gpukit limit set %s --memory SIZE", group_name(p));
}

static void say_policy(const struct limit_patient *p, struct gk_finding *f)
{
	const struct limit_view_device *tight = find_tight(p);
	const struct gkl_policy *policy = &p->view.policy;
	const char *name = group_name(p);
	struct gk_buf text = {0};

	limit_limits_text(&text, policy, "; ");
	gk_finding_say(f, FINDING_OK, "group %s; %s", name,
		       text.data ? text.data : "");
	gk_buf_free(&text);
	if (tight) {
		say_tight(p, tight, f);
	} else if (policy->suspended) {
		f->state = FINDING_WARN;
		gk_finding_add(f, "; suspended: launches and allocations wait");
		gk_finding_todo(f, "gpukit limit resume %s", name);
	} else if (!limits_anything(policy)) {
		f->state = FINDING_WARN;
		gk_finding_add(f, "; it limits nothing");
		gk_finding_todo(f, "gpukit limit set %s --memory SIZE", name);
	}
}

static void say_no_limits(const struct limit_patient *p, struct gk_finding *f)
{
	if (p->has_mps_limits) {
		gk_finding_say(f, FINDING_OK,
			       "those of NVIDIA's MPS, which "
			       "the driver enforces");
		return;
	}
	gk_finding_say(f, FINDING_BAD,
		       "none: its environment names no group and no limit");
	gk_finding_todo(f, "start it with `gpukit limit -- CMD`, or with "
			   "HAMi's variables: docs/LIMIT-HAMI.md");
}

/*
 * Whether the region is missing only because it was not made yet. HAMi's region
 * is made when a GPU is first used, after cuInit().
 */
static bool is_only_unmade(const struct limit_patient *p)
{
	return p->view.err == GK_ERR_NOT_FOUND && !p->environment.group &&
	       !p->has_ledger;
}

/*
 * Whether the process uses a ledger that cannot be read here. A process keeps
 * the files of a group that it has mapped, even if they have since been
 * removed.
 */
static bool keeps_ledger(const struct limit_patient *p)
{
	return p->has_group && p->view.err && is_ours(p) && p->has_ledger;
}

bool limit_patient_has_limits(const struct limit_patient *p)
{
	if (!p->has_group)
		return p->has_mps_limits;
	if (is_only_unmade(p))
		return limits_anything(&p->environment.policy);
	return p->view.err || limits_anything(&p->view.policy);
}

static void look_limits(const struct limit_patient *p, struct gk_finding *f)
{
	const char *reason = gkl_reason();

	if (p->environment_err) {
		gk_finding_say(f, FINDING_BAD, "%s%s",
			       reason ? reason
				      : gk_strerror(p->environment_err),
			       refusal(p));
		gk_finding_todo(f, "correct that variable and restart the "
				   "process");
	} else if (!p->has_group) {
		say_no_limits(p, f);
	} else if (is_only_unmade(p)) {
		gk_finding_say(f, FINDING_OK, "those of HAMi's variables");
		if (is_ours(p))
			gk_finding_add(f, "; %s is made when it uses a GPU",
				       group_name(p));
	} else if (p->view.err == GK_ERR_NOT_FOUND && keeps_ledger(p)) {
		gk_finding_say(f, FINDING_WARN,
			       "group %s was removed; its limits stay in force "
			       "in this process",
			       group_name(p));
		gk_finding_todo(f, "restart the process to have new limits");
	} else if (p->view.err == GK_ERR_NOT_FOUND) {
		gk_finding_say(f, FINDING_BAD, "group %s does not exist%s",
			       group_name(p), refusal(p));
		gk_finding_todo(f, "restart the process in a group: gpukit "
				   "limit --group NAME -- CMD");
	} else if (p->view.err) {
		gk_finding_say(
		    f, FINDING_BAD, "group %s: %s; GPU work is refused",
		    group_name(p), reason ? reason : gk_strerror(p->view.err));
		gk_finding_todo(f, "repair that, or start it in another group");
	} else {
		say_policy(p, f);
	}
}

/* ---- what the process holds ---- */

static void add_held(const struct limit_patient *p, struct gk_finding *f)
{
	const char *comma = "";
	char text[GK_UNITS_MAX];

	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		if (!p->slot->held[i])
			continue;
		gk_finding_add(f, "%s%s of GPU %u", comma,
			       gk_human_size(text, (int64_t)p->slot->held[i]),
			       i);
		comma = ", ";
	}
	if (!*comma)
		gk_finding_add(f, "no memory");
}

static void say_slot(const struct limit_patient *p, struct gk_finding *f)
{
	uint64_t refused = 0, waited = 0;

	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		refused += p->slot->refused[i];
		waited += p->slot->throttled_ns[i];
	}
	gk_finding_say(f, FINDING_OK, "holds ");
	add_held(p, f);
	if (waited)
		gk_finding_add(f, "; has waited %.1f s for its share",
			       (double)waited / (double)GK_NS_PER_S);
	if (!refused)
		return;
	f->state = FINDING_WARN;
	gk_finding_add(f,
		       "; %" PRIu64 " allocation%s refused, beyond the limit",
		       refused, refused == 1 ? "" : "s");
	gk_finding_todo(f,
			"if it needs more: gpukit limit set %s --memory SIZE",
			group_name(p));
}

static void look_ledger(const struct limit_patient *p, struct gk_finding *f)
{
	if (keeps_ledger(p))
		gk_finding_say(f, FINDING_UNKNOWN,
			       "only the process itself can read it");
	else if (!p->has_group || p->view.err)
		gk_finding_say(f, FINDING_ABSENT, "it has no ledger");
	else if (p->slot)
		say_slot(p, f);
	else if (is_ours(p))
		gk_finding_say(f, FINDING_OK, "it has not used a GPU yet");
	else
		gk_finding_say(f, FINDING_UNKNOWN, "it is not in the ledger");
}

/* ---- the driver ---- */

/*
 * Adds the GPUs on which the driver lists the process; returns whether there
 * are any.
 */
static bool add_listed(const struct limit_patient *p, struct gk_finding *f)
{
	const char *comma = "";
	char text[GK_UNITS_MAX];

	for (size_t i = 0; p->snap && i < p->snap->process_count; i++) {
		const struct gk_process *one = &p->snap->processes[i];
		const struct gk_value *memory = &one->m[GK_PM_GPU_MEM];

		if (one->pid != p->pid)
			continue;
		gk_finding_add(f, "%s%s of GPU %u", comma,
			       memory->why == GK_PRESENT
				   ? gk_human_size(text, (int64_t)memory->v)
				   : "unknown memory",
			       p->snap->devices[one->device].index);
		comma = ", ";
	}
	return *comma;
}

static bool differs_from_driver(const struct limit_patient *p)
{
	if (p->has_group && !p->audit_err)
		for (size_t i = 0; i < p->audit.count; i++)
			if (p->audit.rows[i].pid == p->pid)
				return true;
	return !p->slot;
}

static void look_driver(const struct limit_patient *p, struct gk_finding *f)
{
	if (!p->snap) {
		gk_finding_say(f, FINDING_UNKNOWN, "%s",
			       *p->why_no_driver ? p->why_no_driver
						 : "it does not answer");
		return;
	}
	gk_finding_say(f, FINDING_OK, "it lists the process with ");
	if (!add_listed(p, f)) {
		gk_finding_say(f, FINDING_OK, "it does not list the process");
	} else if (p->has_mps_limits && !p->has_group) {
		gk_finding_add(f, ", under MPS");
	} else if (keeps_ledger(p) || (p->slot && p->audit_err)) {
		gk_finding_add(f, ", which cannot be compared with the ledger");
	} else if (differs_from_driver(p)) {
		f->state = FINDING_BAD;
		gk_finding_add(f, p->slot ? ", which the ledger tells otherwise"
					  : ", which no ledger counts");
		if (p->slot)
			gk_finding_todo(f, "gpukit limit audit %s",
					group_name(p));
		else
			gk_finding_todo(f, "end it, and start it within "
					   "limits");
	} else {
		gk_finding_add(f, ", as the ledger does");
	}
}

static void look_messages(const struct limit_patient *p, struct gk_finding *f)
{
	if (!p->is_silent) {
		gk_finding_say(f, FINDING_ABSENT, "not suppressed");
		return;
	}
	gk_finding_say(f, FINDING_WARN,
		       "GPUKIT_LOG=off suppresses the line that says why GPU "
		       "work is refused");
	gk_finding_todo(f, "unset GPUKIT_LOG while you look for a fault");
}

const struct limit_check limit_checks[LIMIT_CHECKS] = {
    {"library", "library", look_library},    {"limits", "limits", look_limits},
    {"ledger", "ledger", look_ledger},       {"driver", "driver", look_driver},
    {"messages", "messages", look_messages},
};
