/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - writes the report of `gpukit fake --report FILE`: what each device
 * and each process did on the machine, what was refused, and which faults were
 * injected. Writes a table, or JSON as described by
 * docs/fake-report.schema.json.
 */
#include "cli/fake/report/report.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/str.h"
#include "cli/fake/ctl/ctl.h"
#include "cli/fake/report/refusals.h"
#include "cli/fake/report/report_torch.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/store/process/total.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/rule.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA      1
#define REPORT_MODE 0644
#define GIB         (1024.0 * 1024 * 1024)

struct report {
	struct gkf_machine *m;
	const struct report_ask *ask;
	struct refusals refused;
	struct gkf_total_read *totals;
	unsigned count;
	json_t *torch;
};

static double to_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static uint64_t peak_of(const struct report *r, unsigned device)
{
	return __atomic_load_n(
	    &gkf_machine_file(r->m)->device[device].books.peak,
	    __ATOMIC_RELAXED);
}

/* Sums up what all processes did on a device, except for peaks and times. */
static struct gkf_total_read sum_of(const struct report *r, unsigned device)
{
	struct gkf_total_read sum = {.device = device};

	for (unsigned i = 0; i < r->count; i++) {
		const struct gkf_total_read *t = &r->totals[i];

		if (t->device != device)
			continue;
		sum.busy_ns += t->busy_ns;
		sum.launches += t->launches;
		sum.operations += t->operations;
		for (int d = 0; d < GKF_DIRECTIONS; d++)
			sum.moved[d] += t->moved[d];
	}
	return sum;
}

/* ---- JSON ---- */

static void put_work(json_t *to, const struct gkf_total_read *t)
{
	json_t *more = json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:f}", "copied_to_device_bytes",
	    (json_int_t)t->moved[GKF_IN], "copied_from_device_bytes",
	    (json_int_t)t->moved[GKF_OUT], "copied_within_device_bytes",
	    (json_int_t)t->moved[GKF_DEVICE], "launches",
	    (json_int_t)t->launches, "library_operations",
	    (json_int_t)t->operations, "busy_seconds", to_seconds(t->busy_ns));

	json_object_update(to, more);
	json_decref(more);
}

static json_t *faults_json(const struct report *r, unsigned device)
{
	const struct gkf_fault_state *s =
	    &gkf_machine_file(r->m)->device[device].fault;
	json_t *list = json_array();

	for (int i = 0; i < GKF_FAULT_COUNT; i++) {
		uint64_t times = atomic_load(&s->begun[i]);

		if (times)
			json_array_append_new(
			    list,
			    json_pack("{s:s, s:I, s:I, s:b}", "fault",
				      gkf_faults[i].name, "times",
				      (json_int_t)times, "calls_failed",
				      (json_int_t)atomic_load(&s->hits[i]),
				      "active",
				      gkf_fault_active(r->m, device,
						       (enum gkf_fault)i)));
	}
	return list;
}

static json_t *device_json(const struct report *r, unsigned device)
{
	const struct gkf_board *b = gkf_board(r->m, device);
	const struct gkf_fault_state *s =
	    &gkf_machine_file(r->m)->device[device].fault;
	struct gkf_total_read sum = sum_of(r, device);
	uint64_t xids = atomic_load(&s->xids);
	struct gkf_memory memory;
	json_t *o;

	gkf_memory(r->m, device, &memory);
	o = json_pack("{s:i, s:s, s:s, s:I, s:I, s:o, s:I, s:o}", "index",
		      (int)device, "name", b->profile.name, "uuid", b->uuid,
		      "memory_total_bytes", (json_int_t)memory.total,
		      "memory_peak_bytes", (json_int_t)peak_of(r, device),
		      "faults", faults_json(r, device), "xids",
		      (json_int_t)xids, "last_xid",
		      xids ? json_integer((json_int_t)atomic_load(&s->last_xid))
			   : json_null());
	put_work(o, &sum);
	return o;
}

static json_t *devices_json(const struct report *r)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < gkf_device_count(r->m); i++)
		json_array_append_new(list, device_json(r, i));
	return list;
}

/*
 * One row may hold the sum of processes that did not fit into the machine's
 * table; it has neither pid nor device.
 */
static json_t *processes_json(const struct report *r)
{
	json_t *list = json_array(), *o;

	for (unsigned i = 0; i < r->count; i++) {
		const struct gkf_total_read *t = &r->totals[i];
		char name[4 * sizeof t->name];

		gk_str_clean(name, sizeof name, t->name, strlen(t->name));
		o = json_pack(
		    "{s:o, s:s?, s:o, s:I, s:f, s:o}", "pid",
		    t->pid ? json_integer(t->pid) : json_null(), "name",
		    t->pid ? name : NULL, "device",
		    t->pid ? json_integer((json_int_t)t->device) : json_null(),
		    "memory_peak_bytes", (json_int_t)t->peak, "begin_seconds",
		    to_seconds(t->begin_ns), "end_seconds",
		    t->ended ? json_real(to_seconds(t->end_ns)) : json_null());
		put_work(o, t);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *refused_json(const struct report *r)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < r->refused.counts_n; i++) {
		const struct count *c = &r->refused.counts[i];
		struct refused_kernel_name n;
		bool kernel = refusals_kernel(c, &n);
		bool speaks = kernel || refusals_needed(c);

		if (!c->refused)
			continue;
		json_array_append_new(
		    list,
		    json_pack("{s:s?, s:s?, s:s?, s:o, s:I, s:s}", "call",
			      speaks ? NULL : c->name, "library",
			      kernel ? NULL : c->library, "kernel",
			      kernel && *n.kernel ? n.kernel : NULL, "reason",
			      speaks ? json_stringn(n.reason, (size_t)n.length)
				     : json_null(),
			      "times", (json_int_t)c->refused, "first_caller",
			      refusals_caller(&r->refused, c)));
	}
	return list;
}

static json_t *rules_json(const struct report *r)
{
	json_t *list = json_array();
	struct gkf_rule_spec spec;
	uint64_t calls, failed;

	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		if (gkf_rule_read(r->m, i, &spec, &calls, &failed) &&
		    spec.function < ctl_function_count)
			json_array_append_new(
			    list, json_pack("{s:s, s:I, s:I}", "function",
					    ctl_function_name(spec.function),
					    "calls", (json_int_t)calls,
					    "failed", (json_int_t)failed));
	return list;
}

static json_t *command_json(char *const *command)
{
	json_t *list = json_array();
	char clean[4096];

	for (; command && *command; command++) {
		gk_str_clean(clean, sizeof clean, *command, strlen(*command));
		json_array_append_new(list, json_string(clean));
	}
	return list;
}

static json_t *report_json(const struct report *r)
{
	return json_pack(
	    "{s:i, s:s, s:s, s:o, s:i, s:f, s:o, s:o, s:O, s:o, s:I, s:o}",
	    "schema", SCHEMA, "gpukit_version", GPUKIT_VERSION,
	    "driver_version", gkf_machine_file(r->m)->driver_version, "command",
	    command_json(r->ask->command), "exit_status", r->ask->status,
	    "machine_seconds", to_seconds(gkf_machine_ns(r->m)), "devices",
	    devices_json(r), "processes", processes_json(r), "pytorch",
	    r->torch, "refused", refused_json(r), "refused_without_room",
	    (json_int_t)r->refused.lost, "failing_functions", rules_json(r));
}

/* ---- the report as text ---- */

static void put_row(struct gk_buf *buf, const struct gkf_total_read *t,
		    uint64_t peak)
{
	gk_buf_printf(buf, " %10.3f %10.3f %10.3f %10.3f %10llu %10.3f %9.3f\n",
		      (double)peak / GIB, (double)t->moved[GKF_IN] / GIB,
		      (double)t->moved[GKF_OUT] / GIB,
		      (double)t->moved[GKF_DEVICE] / GIB,
		      (unsigned long long)t->launches, to_seconds(t->busy_ns),
		      (double)t->operations / 1e9);
}

static void put_head(struct gk_buf *buf, const char *what)
{
	gk_buf_printf(buf, "%-26s %10s %10s %10s %10s %10s %10s %9s\n", what,
		      "PEAK GiB", "IN GiB", "OUT GiB", "WITHIN GiB", "LAUNCHES",
		      "BUSY s", "GFLOP");
}

static void put_devices(const struct report *r, struct gk_buf *buf)
{
	put_head(buf, "GPU");
	for (unsigned i = 0; i < gkf_device_count(r->m); i++) {
		struct gkf_total_read sum = sum_of(r, i);

		gk_buf_printf(buf, "%-2u %-23.23s", i,
			      gkf_board(r->m, i)->profile.name);
		put_row(buf, &sum, peak_of(r, i));
	}
}

static void put_processes(const struct report *r, struct gk_buf *buf)
{
	char name[4 * GKF_CALLER_MAX];

	if (r->count)
		put_head(buf, "PROCESS             PID GPU");
	for (unsigned i = 0; i < r->count; i++) {
		const struct gkf_total_read *t = &r->totals[i];

		gk_str_clean(name, sizeof name, t->name, strlen(t->name));
		if (t->pid)
			gk_buf_printf(buf, "%-15.15s %7d %2u", name,
				      (int)t->pid, t->device);
		else
			gk_buf_printf(buf, "%-26s", "others, without room");
		put_row(buf, t, t->peak);
	}
}

static void put_faults(const struct report *r, struct gk_buf *buf)
{
	for (unsigned d = 0; d < gkf_device_count(r->m); d++) {
		const struct gkf_fault_state *s =
		    &gkf_machine_file(r->m)->device[d].fault;

		for (int i = 0; i < GKF_FAULT_COUNT; i++) {
			uint64_t times = atomic_load(&s->begun[i]);

			if (times)
				gk_buf_printf(buf,
					      "fault: GPU %u %s, %llu "
					      "time%s\n",
					      d, gkf_faults[i].name,
					      (unsigned long long)times,
					      times == 1 ? "" : "s");
		}
	}
}

static void report_text(const struct report *r, struct gk_buf *buf)
{
	put_devices(r, buf);
	put_processes(r, buf);
	report_torch_text(r->torch, buf);
	put_faults(r, buf);
	refusals_text(&r->refused, "refused: ", buf);
}

/* ---- writing ---- */

static bool is_json(const char *path)
{
	size_t length = strlen(path);

	return !strcmp(path, "-") ||
	       (length >= 5 && !strcmp(path + length - 5, ".json"));
}

bool report_tells(const struct report_ask *ask)
{
	return ask->path && is_json(ask->path);
}

/*
 * Whether to write to the existing file at the path instead of renaming a new
 * file to the path. A pipe, terminal or device must be written to, because a
 * rename would remove it from the system. A name of an open descriptor, such as
 * /dev/stdout, must be written to as well, even if the descriptor is a regular
 * file.
 */
static bool is_written_through(const char *path)
{
	bool of_system =
	    !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
	struct stat st;

	if (of_system && !lstat(path, &st) && S_ISLNK(st.st_mode))
		return true;
	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/*
 * O_NONBLOCK makes open() fail for a pipe that nobody reads, instead of
 * blocking forever.
 */
static int write_through(const char *path, const struct gk_buf *buf)
{
	int fd =
	    open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;
	int error;

	if (fd < 0)
		return gk_err_from_errno(errno);
	fcntl(fd, F_SETFL, O_APPEND);
	while (done < buf->len && n >= 0) {
		n = write(fd, buf->data + done, buf->len - done);
		done += n > 0 ? (size_t)n : 0;
	}
	error = n < 0 ? gk_err_from_errno(errno) : 0;
	close(fd);
	return error;
}

static int write_file(const char *path, const struct gk_buf *buf)
{
	char *target;
	int err;

	if (buf->failed)
		return fake_failure("--report: out of memory");
	if (!strcmp(path, "-"))
		return fwrite(buf->data, 1, buf->len, stdout) < buf->len ||
			       fflush(stdout)
			   ? fake_failure("--report: cannot write the output")
			   : 0;
	/*
	 * If the path is a symbolic link, replaces the file that it leads to,
	 * not the link.
	 */
	target = realpath(path, NULL);
	err = is_written_through(path)
		  ? write_through(path, buf)
		  : gk_write_atomic(target ? target : path, buf->data, buf->len,
				    REPORT_MODE);
	free(target);
	return err ? fake_failure("--report: %s: %s", path, gk_strerror(err))
		   : 0;
}

static int write_json(const struct report *r)
{
	struct gk_buf buf = {0};
	json_t *all = report_json(r);
	char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
	int code;

	json_decref(all);
	if (!text)
		return fake_failure("--report: the machine's texts cannot be "
				    "written as JSON");
	gk_buf_printf(&buf, "%s\n", text);
	free(text);
	code = write_file(r->ask->path, &buf);
	gk_buf_free(&buf);
	return code;
}

static int write_report(const struct report *r)
{
	bool json = is_json(r->ask->path);
	struct gk_buf buf = {0};
	int code = json ? write_json(r) : 0;

	report_text(r, &buf);
	if (!json)
		code = write_file(r->ask->path, &buf);
	else if (!r->ask->quiet && !buf.failed)
		fwrite(buf.data, 1, buf.len, stderr);
	gk_buf_free(&buf);
	return code;
}

static bool can_write(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	struct stat st;

	if (!*path || (slash && !slash[1]) ||
	    (!stat(path, &st) && S_ISDIR(st.st_mode)))
		return false;
	if (is_written_through(path))
		return !access(path, W_OK);
	if (slash)
		snprintf(dir, sizeof dir, "%.*s", (int)(slash - path) + 1,
			 path);
	return !access(dir, W_OK | X_OK);
}

int report_check(const char *path)
{
	return strcmp(path, "-") && !can_write(path)
		   ? fake_usage("--report: %s: cannot create a file there",
				path)
		   : 0;
}

int report_write(struct gkf_machine *m, const struct report_ask *ask)
{
	struct report r = {.m = m, .ask = ask};
	int code;

	gkf_reap(m, true);
	r.torch = report_torch_read(m, ask->torch);
	r.totals = calloc(GKF_TOTALS_MAX, sizeof *r.totals);
	code = r.totals ? refusals_read(m, &r.refused)
			: fake_failure("out of memory");
	for (unsigned i = 0; !code && i < GKF_TOTALS_MAX; i++)
		r.count += gkf_total_read(m, i, &r.totals[r.count]);
	if (!code)
		code = write_report(&r);
	refusals_free(&r.refused);
	free(r.totals);
	json_decref(r.torch);
	return code;
}
