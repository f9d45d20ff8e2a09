/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patient.c - reads the facts about one process from /proc, its group's ledger
 * and the driver, for `gpukit limit doctor`.
 */
#include "base/memory.h"
#include "base/pidstat.h"
#include "cli/limit/doctor.h"
#include "cli/open.h"
#include "limit/reason.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libvgpu.so"

/* Names of variables about limits; those that end in '_' are prefixes. */
static const char *const variables[] = {
    LIMIT_VARIABLE,
    "CUDA_DEVICE_",
    "CUDA_DISABLE_CONTROL",
    "CUDA_TASK_PRIORITY",
    "CUDA_OVERSUBSCRIBE",
    "ACTIVE_OOM_KILLER",
    "GPU_CORE_UTILIZATION_POLICY",
};

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* ---- /proc/PID/maps ---- */

/*
 * Whose library a file is: ours contains the name of our variable, which
 * HAMi-core does not know. A file that cannot be read counts as ours.
 */
static enum limit_library judge_library(const struct limit_patient *p)
{
	char path[PATH_MAX + sizeof p->root],
	    line[4096 + sizeof LIMIT_VARIABLE];
	const size_t keep = sizeof LIMIT_VARIABLE;
	size_t len = 0, n;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof path, "%s%s", p->root, p->library_path);
	f = fopen(path, "re");
	/*
	 * If the process has called chroot(), the kernel shows us its paths
	 * relative to our root directory, not to its own.
	 */
	if (!f)
		f = fopen(p->library_path, "re");
	if (!f)
		return LIMIT_LIBRARY_OURS;
	while (!found && (n = fread(line + len, 1, 4096, f)) > 0) {
		len += n;
		found = memmem(line, len, LIMIT_VARIABLE, keep - 1);
		n = len < keep ? len : keep;
		memmove(line, line + len - n, n);
		len = n;
	}
	fclose(f);
	return found ? LIMIT_LIBRARY_OURS : LIMIT_LIBRARY_HAMI;
}

/* Whether a file is a group's ledger: DIRECTORY/ledger, or one beside HAMi's
 * region. */
static bool is_ledger(const char *name)
{
	static const char end[] = ".gpukit-ledger";
	size_t len = strlen(name);

	return !strcmp(name, "ledger") ||
	       (len > strlen(end) && !strcmp(name + len - strlen(end), end));
}

static void take_mapping(struct limit_patient *p, char *path)
{
	static const char gone[] = " (deleted)";
	size_t len = strlen(path);
	bool is_gone =
	    len > strlen(gone) && !strcmp(path + len - strlen(gone), gone);
	const char *name = base_name(path);

	if (begins_with(name, "ld-linux") || begins_with(name, "ld-2"))
		p->has_linker = true;
	if (begins_with(name, "ld-musl"))
		p->has_linker = p->has_musl = true;
	if (is_gone)
		path[len - strlen(gone)] = '\0';
	p->has_ledger |= is_ledger(name);
	if (!begins_with(name, LIBRARY) || *p->library_path)
		return;
	p->library_replaced = is_gone;
	gk_str_copy(p->library_path, sizeof p->library_path, path);
}

static int read_maps(struct limit_patient *p)
{
	FILE *f = open_proc(p->pid, "maps");
	char *line = NULL, *path;
	size_t cap = 0;

	if (!f)
		return errno;
	while (getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, '/');
		if (path)
			take_mapping(p, path);
	}
	free(line);
	fclose(f);
	if (*p->library_path)
		p->library =
		    p->library_replaced ? LIMIT_LIBRARY_OURS : judge_library(p);
	return 0;
}

/* ---- the namespaces of the process ---- */

static bool shares(const struct limit_patient *p, const char *what)
{
	char its[64], own[64];
	struct stat a, b;

	snprintf(its, sizeof its, "/proc/%d/%s", (int)p->pid, what);
	snprintf(own, sizeof own, "/proc/self/%s", what);
	return stat(its, &a) || stat(own, &b) ||
	       (a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

static void find_root(struct limit_patient *p)
{
	if (!shares(p, "root") || !shares(p, "ns/mnt"))
		snprintf(p->root, sizeof p->root, "/proc/%d/root", (int)p->pid);
}

/* Returns the user id that the process has in its own user namespace. */
static uid_t uid_inside(const struct limit_patient *p)
{
	unsigned inside, outside, count;
	uid_t uid = p->uid;
	FILE *f;

	if (shares(p, "ns/user"))
		return uid;
	f = open_proc(p->pid, "uid_map");
	while (f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3)
		if (p->uid - outside < count)
			uid = inside + (p->uid - outside);
	if (f)
		fclose(f);
	return uid;
}

/* ---- the environment of the process ---- */

static bool is_about_limits(const char *line)
{
	size_t len = strcspn(line, "=");

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		size_t n = strlen(variables[i]);

		if (!strncmp(line, variables[i], n) &&
		    (len == n || variables[i][n - 1] == '_'))
			return true;
	}
	return false;
}

/*
 * Removes this program's own variables about limits, so that those of the
 * examined process take their place.
 */
static void forget_own_variables(void)
{
	for (char **line = environ; line && *line;) {
		char name[128];

		if (!is_about_limits(*line)) {
			line++;
			continue;
		}
		snprintf(name, sizeof name, "%.*s", (int)strcspn(*line, "="),
			 *line);
		unsetenv(name);
		line = environ;
	}
}

/* Finds libvgpu.so in a list such as LD_PRELOAD, divided by ':' or blanks. */
static void find_preload(struct limit_patient *p, char *list)
{
	char *rest = NULL;

	for (char *path = strtok_r(list, ": \t\n", &rest); path;
	     path = strtok_r(NULL, ": \t\n", &rest))
		if (begins_with(base_name(path), LIBRARY))
			gk_str_copy(p->preload, sizeof p->preload, path);
}

static void take_variable(struct limit_patient *p, char *line)
{
	char *value = strchr(line, '=');

	if (!value)
		return;
	*value++ = '\0';
	if (!strcmp(line, "LD_PRELOAD"))
		find_preload(p, value);
	p->is_silent |= !strcmp(line, "GPUKIT_LOG") && !strcmp(value, "off");
	p->has_mps_limits |=
	    *value && (!strcmp(line, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT") ||
		       !strcmp(line, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
	value[-1] = '=';
	if (is_about_limits(line)) {
		value[-1] = '\0';
		setenv(line, value, 0); /* if a name occurs twice, its first
					 * value counts */
	}
}

/* HAMi names its library in the container's /etc/ld.so.preload. */
static void read_system_preload(struct limit_patient *p)
{
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/etc/ld.so.preload", p->root);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "#")] = '\0';
		find_preload(p, line);
	}
	free(line);
	if (f)
		fclose(f);
}

static int read_environment(struct limit_patient *p)
{
	FILE *f = open_proc(p->pid, "environ");
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return errno;
	forget_own_variables();
	read_system_preload(p);
	while (getdelim(&line, &cap, '\0', f) >= 0)
		take_variable(p, line);
	free(line);
	fclose(f);
	p->environment_err = gkl_environment_read(&p->environment);
	gkl_environment_user(&p->environment, uid_inside(p));
	return 0;
}

/* ---- other facts of /proc ---- */

/*
 * The kernel sets AT_SECURE if the program gained another user or group, or
 * capabilities, when it was started.
 */
static void read_auxv(struct limit_patient *p)
{
	FILE *f = open_proc(p->pid, "auxv");
	Elf64_auxv_t entry;

	while (f && fread(&entry, sizeof entry, 1, f) == 1)
		if (entry.a_type == AT_SECURE)
			p->gained_rights = entry.a_un.a_val;
	if (f)
		fclose(f);
}

/* The facts in /proc/PID/status. */
struct status {
	int process; /* pid of the process; if another pid was asked for,
		      * that was a thread's */
	unsigned uid;
	bool has_memory; /* no kernel thread */
};

static int read_status(pid_t pid, struct status *ret_status)
{
	struct status st = {0};
	FILE *f = open_proc(pid, "status");
	char line[256];

	if (!f)
		return errno;
	while (fgets(line, sizeof line, f)) {
		sscanf(line, "Tgid: %d", &st.process);
		sscanf(line, "Uid: %*u %u", &st.uid);
		st.has_memory |= begins_with(line, "VmSize:");
	}
	fclose(f);
	*ret_status = st;
	return st.process ? 0 : ESRCH;
}

static int refuse_ended(const struct limit_patient *p)
{
	return limit_failure("process %d (%s) has ended", (int)p->pid,
			     p->command);
}

static int read_identity(struct limit_patient *p)
{
	struct gk_pidstat line;
	struct status st = {0};

	if (gk_pidstat_of(p->pid, &line) || read_status(p->pid, &st))
		return limit_failure("no process %d; is it in another pid "
				     "namespace?",
				     (int)p->pid);
	gk_str_clean(p->command, sizeof p->command, line.comm,
		     strlen(line.comm));
	p->uid = st.uid;
	p->start = line.start;
	if (st.process != p->pid)
		return limit_failure("%d (%s) is a thread; ask about its "
				     "process, %d",
				     (int)p->pid, p->command, st.process);
	if (line.state == 'Z' && line.threads > 1)
		return limit_failure("the main thread of process %d (%s) has "
				     "ended, so that /proc does not show what "
				     "the others do",
				     (int)p->pid, p->command);
	if (line.state == 'Z')
		return refuse_ended(p);
	if (!st.has_memory)
		return limit_failure("process %d (%s) is a kernel thread, or "
				     "is ending",
				     (int)p->pid, p->command);
	return 0;
}

/*
 * Whether the process still exists and its pid was not reused. A process that
 * has ended no longer has mappings.
 */
static bool is_there(const struct limit_patient *p)
{
	struct gk_pidstat line;

	return !gk_pidstat_of(p->pid, &line) && line.start == p->start &&
	       line.state != 'Z' && line.state != 'X';
}

/* ---- the group of the process, and the driver ---- */

static void find_slot(struct limit_patient *p)
{
	for (size_t i = 0; i < p->view.process_count; i++)
		if (!p->view.processes[i].ended &&
		    limit_visible_pid(&p->view.processes[i]) == p->pid)
			p->slot = &p->view.processes[i];
}

static void open_driver(struct limit_patient *p)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;
	char why[GK_CLI_WHY_MAX];
	int nvml = 0, err;

	options.with = GK_WITHOUT_COMMANDS | GK_WITHOUT_SLOW |
		       GK_WITHOUT_BOARD | GK_WITHOUT_PROCESS_UTIL;
	err = gk_open(&options, &nvml, &p->gk);
	if (!err)
		return;
	p->gk = NULL;
	gk_cli_why(why, "limit", &options, err, nvml);
	gk_str_copy(p->why_no_driver, sizeof p->why_no_driver, why);
}

static void read_group(struct limit_patient *p)
{
	const char *path =
	    p->environment.group ? p->environment.group : p->environment.region;
	char whole[PATH_MAX];

	p->has_group = !p->environment_err && path;
	if (!p->has_group)
		return;
	if (*path != '/') {
		gkl_reason_note("its path is not absolute");
		p->view.err = GK_ERR_INVALID;
		return;
	}
	snprintf(whole, sizeof whole, "%s%s", p->root, path);
	if (p->gk)
		p->audit_err = limit_audit_read(whole, p->gk, &p->audit);
	limit_view_read(whole, &p->view);
	find_slot(p);
}

/*
 * Tries to read, as the process's user, the library that the process preloads.
 * A relative path is not tried, because it is unknown where it leads.
 */
static void try_preload(struct limit_patient *p)
{
	char path[PATH_MAX + sizeof p->root];

	snprintf(path, sizeof path, "%s%s", p->root, p->preload);
	if (*p->preload == '/' && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS))
		p->preload_err = errno;
}

int limit_patient_read(pid_t pid, struct limit_patient *ret)
{
	struct limit_patient *p = ret;
	int code, err;

	*p = (struct limit_patient){.pid = pid};
	code = read_identity(p);
	if (code)
		return code;
	find_root(p);
	err = read_maps(p);
	if (!err)
		err = read_environment(p);
	if (!is_there(p))
		return refuse_ended(p);
	if (err)
		return limit_failure("cannot read process %d (%s): %s%s", pid,
				     p->command, strerror(err),
				     err == EACCES || err == EPERM
					 ? "; ask as its user or as root"
					 : "");
	read_auxv(p);
	limit_ask_the_driver();
	open_driver(p);
	/*
	 * Root examines a group as the process's user, because whether the
	 * group's files are trusted depends on their owner.
	 */
	if (!geteuid() && p->uid && seteuid(p->uid))
		return limit_failure("cannot become user %u: %s",
				     (unsigned)p->uid, strerror(errno));
	read_group(p);
	try_preload(p);
	if (p->gk && gk_snapshot_take(p->gk, &p->snap))
		p->snap = NULL;
	return is_there(p) ? 0 : refuse_ended(p);
}

void limit_patient_free(struct limit_patient *p)
{
	limit_audit_free(&p->audit);
	limit_view_free(&p->view);
	if (p->snap)
		gk_snapshot_free(p->snap);
}
