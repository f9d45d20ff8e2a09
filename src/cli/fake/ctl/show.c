/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - `gpukit fake ctl show`: prints the current values of a machine. */
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/fault_text.h"
#include "machine/trouble/rule.h"
#include "machine/words/rule_text.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool is_value_set(const struct gkf_device *dev, int value)
{
	return atomic_load(&dev->set[value]) != GKF_UNSET;
}

static bool is_lost(struct ctl *ctl, unsigned gpu)
{
	return gkf_fault_active(ctl->machine, gpu, GKF_FAULT_LOST) ||
	       gkf_fault_active(ctl->machine, gpu, GKF_FAULT_FALLEN);
}

/* Calls f with each active fault, as a user could type it. */
static void each_fault(struct ctl *ctl, unsigned gpu,
		       void (*f)(const char *text, void *arg), void *arg)
{
	char text[GKF_FAULT_TEXT_MAX + 64];

	for (int i = 0; i < GKF_FAULT_COUNT; i++) {
		if (!gkf_fault_active(ctl->machine, gpu, (enum gkf_fault)i))
			continue;
		gkf_fault_print(ctl->machine, gpu, (enum gkf_fault)i, text,
				sizeof text);
		f(text, arg);
	}
}

static void print_fault_text(const char *text, void *arg)
{
	(void)arg;
	printf("! %s\n", text);
}

static void append_fault(const char *text, void *arg)
{
	json_array_append_new(arg, json_string(text));
}

/*
 * Writes a rule, such as "nvmlDeviceGetPowerUsage=NVML_ERROR_UNKNOWN after=3",
 * and how many calls it has failed. Returns false if there is no such rule.
 */
static bool rule_text(struct ctl *ctl, unsigned index, char *text, size_t cap)
{
	struct gkf_rule_spec spec;
	uint64_t calls, failed;

	if (!gkf_rule_read(ctl->machine, index, &spec, &calls, &failed) ||
	    spec.function >= ctl_function_count)
		return false;
	snprintf(text, cap,
		 "%s=%s after=%llu times=%llu probability=%g seed=%llu "
		 "(GPUs %#llx; %llu of %llu calls failed)",
		 ctl_function_name(spec.function),
		 gkf_rule_answer_name(spec.answer),
		 (unsigned long long)spec.after, (unsigned long long)spec.times,
		 spec.per_million / 1e6, (unsigned long long)spec.seed,
		 (unsigned long long)spec.gpus, (unsigned long long)failed,
		 (unsigned long long)calls);
	return true;
}

static void each_machine_fault(struct ctl *ctl,
			       void (*f)(const char *text, void *arg),
			       void *arg)
{
	char text[512];

	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		if (gkf_machine_fault_active(ctl->machine,
					     (enum gkf_machine_fault)i))
			f(gkf_machine_faults[i].name, arg);
	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		if (rule_text(ctl, i, text, sizeof text))
			f(text, arg);
}

/*
 * Any process may have written an invalid number to the file. Such a number
 * means the same as GKF_PERMIT_ROOT.
 */
static const char *permission_name(const struct ctl *ctl)
{
	uint64_t who = atomic_load(&ctl->file->permission);

	return ctl_permissions[who <= GKF_PERMIT_NONE ? who : GKF_PERMIT_ROOT];
}

static void show_gpu(struct ctl *ctl, unsigned gpu)
{
	const struct gkf_board *board = gkf_board(ctl->machine, gpu);
	const struct gkf_device *dev = &ctl->file->device[gpu];
	struct gkf_memory memory;
	unsigned processes = 0;
	int64_t number;

	gkf_memory(ctl->machine, gpu, &memory);
	gkf_processes(ctl->machine, gpu, ~0U, NULL, 0, &processes);
	printf("GPU %u: %s%s  %s%s\n", gpu, board->profile.mark,
	       board->profile.name, board->uuid,
	       is_lost(ctl, gpu) ? "  LOST" : "");
	each_fault(ctl, gpu, print_fault_text, NULL);
	if (atomic_load(&dev->fault.xids))
		printf("  %-22s %llu, of %llu\n", "last Xid",
		       (unsigned long long)atomic_load(&dev->fault.last_xid),
		       (unsigned long long)atomic_load(&dev->fault.xids));
	printf("  %-22s %llu of %llu MiB, %u process%s\n", "memory",
	       (unsigned long long)(memory.used >> 20),
	       (unsigned long long)(memory.total >> 20), processes,
	       processes == 1 ? "" : "es");
	for (int v = 0; v < GKF_V_COUNT; v++)
		if (gkf_value_get(ctl->machine, gpu, (enum gkf_value)v,
				  &number))
			printf("%c %-22s %lld %s\n",
			       is_value_set(dev, v) ? '*' : ' ',
			       gkf_values[v].name, (long long)number,
			       gkf_values[v].unit);
	ctl_link_print(ctl, gpu);
}

static void show_text(struct ctl *ctl, uint64_t gpus)
{
	char path[4 * PATH_MAX];

	gk_str_clean(path, sizeof path, ctl->path, strlen(ctl->path));
	printf("machine %s, driver %s, latency %s, permission %s\n", path,
	       ctl->file->driver_version,
	       atomic_load(&ctl->file->latency) == GKF_LATENCY_REAL ? "real"
								    : "none",
	       permission_name(ctl));
	for (unsigned i = 0; i < ctl_function_count; i++) {
		uint64_t ns = atomic_load(&ctl->file->extra_ns[i]);

		if (ns)
			printf("* latency.%s %g ms\n", ctl_function_name(i),
			       (double)ns / 1e6);
	}
	each_machine_fault(ctl, print_fault_text, NULL);
	if (!gkf_device_count(ctl->machine))
		puts("no GPUs");
	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1)
			show_gpu(ctl, i);
	puts("* = set by ctl, ! = broken, until `ctl clear`");
}

static json_t *gpu_json(struct ctl *ctl, unsigned gpu)
{
	const struct gkf_board *board = gkf_board(ctl->machine, gpu);
	const struct gkf_device *dev = &ctl->file->device[gpu];
	char name[sizeof board->profile.mark + GKF_NAME_MAX];
	json_t *values = json_object(), *faults = json_array();
	struct gkf_memory memory;
	unsigned processes = 0;
	int64_t number;

	gkf_memory(ctl->machine, gpu, &memory);
	gkf_processes(ctl->machine, gpu, ~0U, NULL, 0, &processes);
	for (int v = 0; v < GKF_V_COUNT; v++)
		if (gkf_value_get(ctl->machine, gpu, (enum gkf_value)v,
				  &number))
			json_object_set_new(
			    values, gkf_values[v].name,
			    json_pack("{s:I, s:s, s:b}", "value",
				      (json_int_t)number, "unit",
				      gkf_values[v].unit, "set",
				      (int)is_value_set(dev, v)));
	snprintf(name, sizeof name, "%s%s", board->profile.mark,
		 board->profile.name);
	each_fault(ctl, gpu, append_fault, faults);
	return json_pack(
	    "{s:i, s:s, s:s, s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:i, s:o}",
	    "index", (int)gpu, "name", name, "profile", board->profile.id,
	    "uuid", board->uuid, "lost", (int)is_lost(ctl, gpu), "faults",
	    faults, "nvlinks", ctl_link_json(ctl, gpu), "last_xid",
	    (json_int_t)atomic_load(&dev->fault.last_xid), "memory_used",
	    (json_int_t)memory.used, "memory_total", (json_int_t)memory.total,
	    "processes", (int)processes, "values", values);
}

static int show_json(struct ctl *ctl, uint64_t gpus)
{
	char path[4 * PATH_MAX];
	json_t *list = json_array(), *latencies = json_object(), *top;
	json_t *failures = json_array();
	int r;

	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1)
			json_array_append_new(list, gpu_json(ctl, i));
	for (unsigned i = 0; i < ctl_function_count; i++) {
		uint64_t ns = atomic_load(&ctl->file->extra_ns[i]);

		if (ns)
			json_object_set_new(latencies, ctl_function_name(i),
					    json_integer((json_int_t)ns));
	}
	each_machine_fault(ctl, append_fault, failures);
	gk_str_clean(path, sizeof path, ctl->path, strlen(ctl->path));
	top = json_pack(
	    "{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "machine", path,
	    "permission", permission_name(ctl), "driver",
	    ctl->file->driver_version, "latency",
	    atomic_load(&ctl->file->latency) == GKF_LATENCY_REAL ? "real"
								 : "none",
	    "added_latency_ns", latencies, "failures", failures, "gpus", list);
	r = top ? json_dumpf(top, stdout, JSON_INDENT(2)) : -1;
	json_decref(top);
	putchar('\n');
	return r ? fake_failure("ctl show: cannot write JSON") : GK_EXIT_OK;
}

int ctl_show(struct ctl *ctl, int argc, char **argv)
{
	uint64_t gpus = ~0ULL;
	int code = argc ? ctl_gpus(ctl, argv[0], &gpus) : 0;

	if (code)
		return code;
	if (ctl->json)
		return show_json(ctl, gpus);
	show_text(ctl, gpus);
	return GK_EXIT_OK;
}
