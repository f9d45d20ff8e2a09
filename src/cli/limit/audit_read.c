/* SPDX-License-Identifier: Apache-2.0 */
/* audit_read.c - compares a ledger with the driver's lists of processes. */
#include "base/clock.h"
#include "base/memory.h"
#include "cli/limit/audit.h"

#include <stdlib.h>
#include <string.h>

enum { READINGS = 8 };

#define BETWEEN_NS (50 * GK_NS_PER_MS)

/*
 * The driver reports memory in whole MiB, so smaller differences do not count.
 */
#define SLACK (1ULL << 20)

/*
 * The memory that a process holds on a device, without memory that a call in
 * progress has reserved.
 */
struct held {
	uint64_t bytes;
	/*
	 * Managed memory, which is included in `bytes`. The driver counts only
	 * the part of it that is on the GPU.
	 */
	uint64_t managed;
	/*
	 * The memory of the context. It is set only if the policy does not
	 * count contexts, so that `bytes` lacks it; otherwise 0.
	 */
	uint64_t context;
};

static struct held held_by(const struct limit_audit *audit,
			   const struct gkl_process *process, unsigned i)
{
	struct held held = {.managed = process->kinds[i][GKL_MANAGED]};

	for (int kind = 0; kind < GKL_PENDING; kind++)
		held.bytes += process->kinds[i][kind];
	if (!audit->view.policy.contexts_free)
		return held;
	for (unsigned k = 0; k < audit->view.device_count; k++)
		if (audit->view.devices[k].index == i)
			held.context =
			    audit->view.devices[k].device.context_bytes;
	return held;
}

static bool agrees_with_driver(const struct held *held, uint64_t driver)
{
	return driver != LIMIT_AUDIT_UNTOLD &&
	       driver + held->managed + SLACK > held->bytes &&
	       driver < held->bytes + held->context + SLACK;
}

static void add_row(struct limit_audit *audit, struct limit_audit_row row)
{
	size_t cap = audit->cap ? 2 * audit->cap : 16;
	struct limit_audit_row *more = audit->rows;

	if (audit->count == audit->cap) {
		more = gk_resize(audit->rows, cap, sizeof *more);
		audit->failed |= !more;
		if (!more)
			return;
		audit->rows = more;
		audit->cap = cap;
	}
	more[audit->count++] = row;
}

/* ---- the driver ---- */

static const char *uuid_of(const struct gk_snapshot *snap,
			   const struct gk_device *device)
{
	return device->parent < 0 ? device->uuid
				  : snap->devices[device->parent].uuid;
}

/*
 * Returns a GPU's number in the group, or -1 if the group does not use the GPU.
 */
static int number_of(const struct limit_audit *audit, const char *uuid)
{
	for (unsigned i = 0; i < audit->view.device_count; i++)
		if (!strcmp(audit->view.devices[i].device.uuid, uuid))
			return (int)audit->view.devices[i].index;
	return -1;
}

/*
 * Returns the memory of a process on a device as the driver reports it, summed
 * over its MIG devices. Returns false if the driver does not list the process.
 */
static bool find_told(const struct limit_audit *audit,
		      const struct gk_snapshot *snap, unsigned number,
		      int32_t pid, uint64_t *ret_bytes)
{
	uint64_t sum = 0;
	bool found = false;

	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];
		const struct gk_device *device = &snap->devices[p->device];
		const struct gk_value *memory = &p->m[GK_PM_GPU_MEM];

		if (p->pid != pid ||
		    number_of(audit, uuid_of(snap, device)) != (int)number)
			continue;
		found = true;
		if (memory->why != GK_PRESENT || sum == LIMIT_AUDIT_UNTOLD)
			sum = LIMIT_AUDIT_UNTOLD;
		else
			sum += (uint64_t)memory->v;
	}
	*ret_bytes = sum;
	return found;
}

/* ---- both ---- */

/*
 * Skips processes that have ended: if others still hold their memory, the
 * driver attributes it to no process.
 */
static void compare_process(struct limit_audit *audit,
			    const struct gk_snapshot *snap,
			    const struct gkl_process *process, unsigned i)
{
	struct held held = held_by(audit, process, i);
	struct limit_audit_row row = {.device = i,
				      .pid = limit_visible_pid(process),
				      .in_ledger = true,
				      .ledger = held.bytes};

	if (process->ended)
		return;
	row.in_driver =
	    row.pid && find_told(audit, snap, i, row.pid, &row.driver);
	if (!row.in_driver && !held.bytes)
		return;
	audit->processes++;
	audit->ledger[i] += held.bytes;
	if (row.in_driver && row.driver != LIMIT_AUDIT_UNTOLD)
		audit->driver[i] += row.driver;
	if (agrees_with_driver(&held, row.in_driver ? row.driver : 0))
		return;
	limit_process_command(process, row.command, sizeof row.command);
	add_row(audit, row);
}

static bool is_known(const struct limit_audit *audit, pid_t pid)
{
	for (size_t i = 0; i < audit->view.process_count; i++)
		if (!audit->view.processes[i].ended &&
		    limit_visible_pid(&audit->view.processes[i]) == pid)
			return true;
	return false;
}

/*
 * Whether a row for the process exists already: the driver lists a process once
 * for each of a GPU's MIG devices that it uses.
 */
static bool was_added(const struct limit_audit *audit, pid_t pid, unsigned i)
{
	for (size_t k = 0; k < audit->count; k++)
		if (audit->rows[k].pid == pid && audit->rows[k].device == i)
			return true;
	return false;
}

/* Adds a process of the group that is not in the ledger at all. */
static void judge_listed(struct limit_audit *audit,
			 const struct gk_snapshot *snap,
			 const struct gk_process *p)
{
	int number = number_of(audit, uuid_of(snap, &snap->devices[p->device]));
	struct limit_audit_row row = {.pid = p->pid, .in_driver = true};

	if (number < 0 || is_known(audit, p->pid) ||
	    was_added(audit, p->pid, (unsigned)number) ||
	    !limit_belongs(&audit->view, p->pid))
		return;
	row.device = (unsigned)number;
	find_told(audit, snap, row.device, p->pid, &row.driver);
	if (row.driver != LIMIT_AUDIT_UNTOLD)
		audit->driver[number] += row.driver;
	audit->processes++;
	gk_str_copy(row.command, sizeof row.command, p->name);
	add_row(audit, row);
}

/*
 * Adds the GPUs that the group has not used, numbered like NVML's. Processes of
 * the group that are not in the ledger may use them.
 */
static void add_unused_devices(struct limit_audit *audit,
			       const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *device = &snap->devices[i];
		struct limit_view_device *to =
		    &audit->view.devices[audit->view.device_count];

		if (device->mig_index >= 0 || device->index >= GKL_DEVICES ||
		    audit->view.device_count == GKL_DEVICES ||
		    number_of(audit, device->uuid) >= 0)
			continue;
		*to = (struct limit_view_device){.index = device->index};
		gk_str_copy(to->device.uuid, sizeof to->device.uuid,
			    device->uuid);
		audit->view.device_count++;
	}
}

static int read_once(const char *name, struct gk *gk, struct limit_audit *audit)
{
	struct gk_snapshot *snap;
	int err = gk_snapshot_take(gk, &snap);

	*audit = (struct limit_audit){0};
	if (err)
		return err;
	limit_view_read(name, &audit->view);
	if (!audit->view.err) {
		add_unused_devices(audit, snap);
		for (size_t k = 0; k < audit->view.process_count; k++)
			for (unsigned i = 0; i < GKL_DEVICES; i++)
				compare_process(audit, snap,
						&audit->view.processes[k], i);
		for (size_t k = 0; k < snap->process_count; k++)
			judge_listed(audit, snap, &snap->processes[k]);
	}
	gk_snapshot_free(snap);
	return audit->failed ? GK_ERR_NOMEM : audit->view.err;
}

/* Keeps only the differences that the previous reading also had. */
static void keep_lasting(struct limit_audit *now,
			 const struct limit_audit *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->count; i++)
		if (was_added(before, now->rows[i].pid, now->rows[i].device))
			now->rows[kept++] = now->rows[i];
	now->count = kept;
}

int limit_audit_read(const char *name, struct gk *gk, struct limit_audit *ret)
{
	struct limit_audit before;
	int err = read_once(name, gk, ret);

	for (unsigned i = 1; !err && ret->count && i < READINGS; i++) {
		before = *ret;
		gk_sleep_until(gk_mono_ns() + BETWEEN_NS);
		err = read_once(name, gk, ret);
		keep_lasting(ret, &before);
		limit_audit_free(&before);
	}
	if (err)
		limit_audit_free(ret);
	return err;
}

void limit_audit_free(struct limit_audit *audit)
{
	limit_view_free(&audit->view);
	free(audit->rows);
	audit->rows = NULL;
	audit->count = 0;
}
