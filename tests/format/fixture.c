/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.c - makes hand-made snapshots; see fixture.h. */
#include "base/fs.h"
#include "base/units.h"
#include "format/fixture.h"

#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

struct gk_value present(int64_t v)
{
	return (struct gk_value){.v = v};
}

/* Sets the values of a snapshot without details. */
static void set_absent(struct gk_device *d, enum gk_absence why)
{
	for (int i = 0; i < GK_M_COUNT; i++)
		d->m[i] =
		    (struct gk_value){.why = gk_metrics[i].tier < GK_TIER_DETAIL
						 ? why
						 : GK_ABSENT_NOT_READ};
}

static void set_metrics(struct gk_device *d, int64_t load)
{
	static const struct {
		enum gk_metric metric;
		int64_t value;
	} rows[] = {
	    {GK_M_ENC_UTIL, 0},
	    {GK_M_DEC_UTIL, 7},
	    {GK_M_MEM_TOTAL, 80 * GIB},
	    {GK_M_POWER_LIMIT, 400000},
	    {GK_M_POWER_ENFORCED, 400000},
	    {GK_M_TEMP, 35},
	    {GK_M_SM_CLOCK, 1410000000},
	    {GK_M_MEM_CLOCK, 1593000000},
	    {GK_M_PSTATE, 0},
	    {GK_M_ENERGY, 123456789012},
	    {GK_M_PERSISTENCE, 1},
	    {GK_M_DISPLAY_ACTIVE, 0},
	    {GK_M_COMPUTE_MODE, 0},
	    {GK_M_ECC_UNCORRECTED, 0},
	};

	set_absent(d, GK_ABSENT_NOT_SUPPORTED);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		d->m[rows[i].metric] = present(rows[i].value);
	d->m[GK_M_GPU_UTIL] = present(load);
	d->m[GK_M_MEM_UTIL] = present(load / 2);
	d->m[GK_M_MEM_USED] = present(load * 800 * MIB);
	d->m[GK_M_POWER] = present(52340 + load * 3300);
}

static struct gk_device *add_device(struct fixture *f)
{
	size_t at = f->snap.device_count++;
	struct gk_device *d = &f->devices[at];

	*d = (struct gk_device){.mig_index = -1,
				.parent = -1,
				.gpu_instance = -1,
				.compute_instance = -1,
				.compute_major = 8};
	for (int i = 0; i < GK_TIER_ASKED; i++)
		d->read_ns[i] = f->snap.mono_ns - 1500000;
	set_metrics(d, (int64_t)at * 33 % 101);
	return d;
}

static void add_gpu(struct fixture *f, unsigned index)
{
	struct gk_device *d = add_device(f);

	d->index = index;
	d->minor = (int)index;
	strcpy(d->name, "NVIDIA A100-SXM4-80GB");
	snprintf(d->uuid, sizeof d->uuid, "GPU-00000000-0000-0000-0000-%012u",
		 index);
	snprintf(d->bus_id, sizeof d->bus_id, "00000000:%02X:00.0", index + 1);
}

void fixture_init(struct fixture *f, size_t gpus)
{
	memset(f, 0, sizeof *f);
	f->snap.devices = f->devices;
	f->snap.processes = f->processes;
	f->snap.wall_ns = 1795225358123456789;
	f->snap.mono_ns = 45000000000;
	strcpy(f->snap.driver_version, "580.95.05");
	strcpy(f->snap.nvml_version, "13.580.95.05");
	f->snap.cuda_version = 13000;
	f->snap.host = (struct gk_host){
	    .hostname = "node1",
	    .boot_ns = 45296000000000,
	    .cpus = 64,
	    .cpu_centipercent = present(1234),
	    .load_centi = {present(149), present(121), present(55)},
	    .mem_total = present(64 * GIB),
	    .mem_available = present(48 * GIB),
	    .swap_total = present(8 * GIB),
	    .swap_free = present(8 * GIB),
	};
	for (unsigned i = 0; i < gpus; i++)
		add_gpu(f, i);
}

struct gk_device *fixture_add_mig(struct fixture *f, int index)
{
	int parent = (int)f->snap.device_count - 1;
	struct gk_device *d;

	while (f->devices[parent].mig_index >= 0)
		parent--;
	d = add_device(f);
	set_absent(d, GK_ABSENT_NOT_SUPPORTED);
	d->m[GK_M_MEM_USED] = present(12 * MIB + MIB / 2);
	d->m[GK_M_MEM_TOTAL] = present(9 * GIB + GIB / 2);
	d->m[GK_M_BAR1_USED] = present(0);
	d->m[GK_M_BAR1_TOTAL] = present(16 * GIB);
	d->index = f->devices[parent].index;
	d->parent = parent;
	d->mig_index = index;
	d->gpu_instance = 7 + index;
	d->compute_instance = 0;
	d->minor = -1;
	strcpy(d->name, "NVIDIA A100-SXM4-80GB MIG 1g.10gb");
	snprintf(d->uuid, sizeof d->uuid, "MIG-00000000-0000-0000-0000-%012d",
		 index);
	return d;
}

struct gk_process *fixture_add_process(struct fixture *f, unsigned device,
				       pid_t pid, const char *command)
{
	struct gk_process *p = &f->processes[f->snap.process_count++];

	*p = (struct gk_process){
	    .pid = pid,
	    .parent = 1,
	    .device = device,
	    .types = GK_PROCESS_COMPUTE,
	    .uid = 1000,
	    .user = "alice",
	    .name = "python3",
	    .command = command,
	    .container = "",
	    .pod = "",
	    .cwd = "",
	    .cwd_why = GK_ABSENT_NOT_READ,
	    .stat = 'S',
	    .args = command,
	    .args_len = strcspn(command, " "),
	    .start_ticks = 4711,
	};
	for (int i = 0; i < GK_PM_COUNT; i++)
		p->m[i].why = gk_process_metrics[i].tier == GK_TIER_HOST_ASKED
				  ? GK_ABSENT_NOT_READ
				  : GK_ABSENT_NOT_SUPPORTED;
	p->m[GK_PM_GPU_MEM] = present(1500 * MIB);
	p->m[GK_PM_SM_UTIL] = present(16);
	p->m[GK_PM_MEM_UTIL] = present(8);
	p->m[GK_PM_CPU].why = GK_ABSENT_ONE_SNAPSHOT;
	p->m[GK_PM_RSS] = present(512 * MIB);
	p->m[GK_PM_RUN_TIME] = present(262 * 1000000000LL);
	f->devices[device].process_count++;
	return p;
}

static void make_unhealthy(struct gk_device *d, enum gk_health health,
			   enum gk_absence why)
{
	d->health = health;
	d->nvml_error = health == GK_HEALTH_LOST ? 15 : 0;
	set_absent(d, why);
}

static void add_processes(struct fixture *f)
{
	struct gk_process *p;

	p = fixture_add_process(f, 0, 15699, "/usr/bin/python3 train.py");
	SET_ARGS(p, "/usr/bin/python3\0train.py");
	p->m[GK_PM_CPU] = present(31250);
	p->container = "0123456789abcdef";
	p = fixture_add_process(f, 0, 15731,
				"python3 serve.py --model a,b --name \"x\"");
	SET_ARGS(p, "python3\0serve.py\0--model\0a,b\0--name\0\"x\"");
	p->types = GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS;
	p->m[GK_PM_RUN_TIME] = present(4 * 86400 * 1000000000LL);
	p = fixture_add_process(f, 1, 12345678, "");
	p->state = GK_PROCESS_GONE;
	p->user = p->name = "";
	p->uid = (uid_t)-1;
	p->args_len = 0;
	for (int i = GK_PM_CPU; i <= GK_PM_RUN_TIME; i++)
		p->m[i].why = GK_ABSENT_HIDDEN;
	p = fixture_add_process(f, 1, 999, "");
	p->state = GK_PROCESS_ZOMBIE;
	p->types = GK_PROCESS_MPS;
	p->user = "a-rather-long-name";
	p->m[GK_PM_GPU_MEM].why = GK_ABSENT_NOT_SUPPORTED;
	fixture_add_process(f, 3, 4242, "./mig-job");
}

void fixture_everything(struct fixture *f)
{
	fixture_init(f, 2);
	f->devices[1].m[GK_M_FAN] = present(100);
	add_gpu(f, 2);
	f->devices[2].m[GK_M_MIG_MODE] = present(1);
	fixture_add_mig(f, 0);
	fixture_add_mig(f, 5);
	add_gpu(f, 3);
	make_unhealthy(&f->devices[5], GK_HEALTH_LOST, GK_ABSENT_LOST);
	add_gpu(f, 4);
	f->devices[6].health = GK_HEALTH_STALE;
	for (int i = 0; i < GK_TIER_ASKED; i++)
		f->devices[6].read_ns[i] = f->snap.mono_ns - 3200000000;
	add_processes(f);
}

static void update(const struct gk_buf *out, const char *path)
{
	assert_int_equal(gk_write_atomic(path, out->data, out->len, 0644), 0);
}

void assert_golden(struct gk_buf *out, const char *name)
{
	static char wanted[1 << 18];
	char path[512];
	ssize_t n;

	assert_false(out->failed);
	snprintf(path, sizeof path, "%s/golden/%s.txt", TEST_DATA, name);
	if (getenv("UPDATE_GOLDEN"))
		update(out, path);
	n = gk_read_at(AT_FDCWD, path, wanted, sizeof wanted);
	if (n < 0)
		fail_msg("%s: %s", path, gk_strerror((int)n));
	assert_string_equal(out->data, wanted);
	gk_buf_free(out);
}

int fixture_setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

void fixture_read_only(struct fixture *f, const struct gk_metric_set *only)
{
	for (size_t i = 0; i < f->snap.device_count; i++)
		for (int m = 0; m < GK_M_COUNT; m++)
			if (!gk_metric_set_has(only, (enum gk_metric)m))
				f->devices[i].m[m] = (struct gk_value){
				    .why = GK_ABSENT_NOT_READ};
}

void assert_same_text(struct gk_buf *a, struct gk_buf *b)
{
	assert_true(a->len > 0);
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->data, b->data, a->len);
	gk_buf_free(a);
	gk_buf_free(b);
}
