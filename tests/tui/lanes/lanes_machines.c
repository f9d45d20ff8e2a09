/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_machines.c - makes machines of the look "lanes": busy, lost, hot,
 * split.
 */
#include "lanes_machines.h"

#include <string.h>

#define SECONDS 150

struct screen s;
struct tui_alerts alerts;
static struct tui_alert alert_rows[5];

void set(size_t device, enum gk_metric metric, int64_t value)
{
	s.f.devices[device].m[metric] = present(value);
}

/* A busy GPU: percent, GiB, watts, degrees. */
void work(size_t device, int busy, int gib, int watts, int heat)
{
	struct gk_device *d = &s.f.devices[device];

	set(device, GK_M_GPU_UTIL, busy);
	set(device, GK_M_MEM_UTIL, busy / 2);
	set(device, GK_M_MEM_USED, gib * GIB + GIB / 2);
	set(device, GK_M_POWER, watts * 1000);
	set(device, GK_M_TEMP, heat);
	set(device, GK_M_SM_CLOCK_MAX, 1980000000);
	set(device, GK_M_SM_CLOCK, busy ? 1980000000 : 345000000);
	set(device, GK_M_POWER_ENFORCED, 700000);
	strcpy(d->name, "NVIDIA H100 80GB HBM3");
}

static struct gk_process *hold(unsigned device, pid_t pid, const char *user,
			       int64_t gib, const char *command)
{
	struct gk_process *p = fixture_add_process(&s.f, device, pid, command);

	p->user = user;
	p->start_ticks = (uint64_t)pid;
	p->m[GK_PM_GPU_MEM] = present(gib * GIB);
	p->m[GK_PM_CPU] = present(41200);
	p->m[GK_PM_RUN_TIME] = present(11564 * (int64_t)SECOND_NS);
	return p;
}

void lose_since(size_t device, unsigned seconds)
{
	struct gk_device *d = &s.f.devices[device];

	d->health = GK_HEALTH_LOST;
	for (int i = 0; i < GK_M_COUNT; i++)
		d->m[i].why = GK_ABSENT_LOST;
	for (int i = 0; i < GK_TIER_ASKED; i++)
		d->read_ns[i] = s.f.snap.mono_ns - seconds * SECOND_NS;
	set(device, GK_M_XID_COUNT, 1);
	set(device, GK_M_XID_LAST, 79);
	set(device, GK_M_XID_TIME,
	    (int64_t)(s.f.snap.wall_ns - seconds * SECOND_NS));
}

void lose(size_t device)
{
	lose_since(device, 163);
}

static int wave(int at, int busy)
{
	return busy ? busy - (at * 7 + at * at) % 17 - (at % 26 < 2 ? 40 : 0)
		    : 0;
}

/* Adds the minutes before, so that graphs have a shape. */
void remember(void)
{
	uint64_t now = s.f.snap.mono_ns + SECONDS * SECOND_NS;
	struct gk_device before[FIXTURE_DEVICES];

	memcpy(before, s.f.devices, sizeof before);
	for (int i = 0; i <= SECONDS; i++) {
		s.f.snap.mono_ns = now - (uint64_t)(SECONDS - i) * SECOND_NS;
		s.f.snap.host.cpu_centipercent = present(1200 + i % 9 * 400);
		for (size_t k = 0; k < s.f.snap.device_count; k++) {
			int busy = (int)before[k].m[GK_M_GPU_UTIL].v;

			if (s.f.devices[k].health != GK_HEALTH_OK)
				continue;
			for (int tier = 0; tier < GK_TIER_ASKED; tier++)
				s.f.devices[k].read_ns[tier] =
				    s.f.snap.mono_ns - 1500000;
			if (before[k].m[GK_M_GPU_UTIL].why == GK_PRESENT)
				set(k, GK_M_GPU_UTIL, wave(i, busy));
		}
		gk_history_add(s.t.history, &s.f.snap);
	}
	for (size_t k = 0; k < s.f.snap.device_count; k++)
		s.f.devices[k].m[GK_M_GPU_UTIL] = before[k].m[GK_M_GPU_UTIL];
	lanes_frame(&s.t);
}

void begin(size_t gpus, int rows, int columns)
{
	screen_begin(&s, rows, columns);
	s.t.options.look = LOOK_LANES;
	fixture_init(&s.f, gpus);
	strcpy(s.f.snap.host.hostname, "atlas");
	alerts = (struct tui_alerts){0};
	s.t.alerts = &alerts;
}

/* Eight of one model: capped, hot, shared, held while idle. */
void eight(int rows, int columns)
{
	begin(8, rows, columns);
	for (unsigned i = 0; i < 4; i++) {
		work(i, 92 - (int)i, 60, 640 + (int)i, 58 + (int)i);
		hold(i, 218910 + (pid_t)i, "ana", 60,
		     "python train.py --cfg llama-8b.yaml --tp 4");
	}
	set(2, GK_M_THROTTLE, 4);
	set(2, GK_M_SM_CLOCK, 1905000000);
	set(3, GK_M_THROTTLE, 0x20);
	set(3, GK_M_SM_CLOCK, 1545000000);
	set(3, GK_M_TEMP, 90);
	work(4, 55, 56, 380, 52);
	hold(4, 220114, "bob", 32, "vllm serve mistral-7b --port 8001");
	hold(4, 221950, "eve", 24, "python finetune.py --lora");
	work(5, 0, 72, 121, 39);
	hold(5, 214002, "dan", 72, "jupyter-kernel -f /run/kernel-12.json");
	work(6, 48, 40, 350, 50);
	hold(6, 220115, "bob", 32, "vllm serve mistral-7b --port 8002");
	work(7, 0, 0, 69, 33);
	tui_list_update(&s.t);
}

/* Busy, hot, lost and split into MIG devices. */
void mixed(int rows, int columns)
{
	begin(4, rows, columns);
	for (unsigned i = 0; i < 4; i++) {
		work(i, 92, 60, 354, 58);
		if (i < 3) {
			strcpy(s.f.devices[i].name, "NVIDIA A100-SXM4-80GB");
			set(i, GK_M_POWER_ENFORCED, 400000);
		}
	}
	hold(0, 218910, "ana", 40, "python train.py --cfg llama-8b.yaml");
	hold(0, 220114, "bob", 20, "vllm serve mistral-7b --port 8001");
	set(1, GK_M_GPU_UTIL, 71);
	set(1, GK_M_TEMP, 90);
	set(1, GK_M_THROTTLE, 0x20);
	set(1, GK_M_SM_CLOCK, 1545000000);
	hold(1, 218911, "ana", 48, "python train.py --cfg llama-8b.yaml");
	hold(2, 219002, "ana", 60, "python eval.py --every 500");
	hold(2, 219377, "eve", 2, "python sweep.py");
	s.f.devices[3].m[GK_M_GPU_UTIL].why = GK_ABSENT_NOT_SUPPORTED;
	set(3, GK_M_MIG_MODE, 1);
	for (int i = 0; i < 3; i++)
		fixture_add_mig(&s.f, i);
	hold(4, 221950, "eve", 9, "python finetune.py --lora");
	hold(5, 221001, "bob", 4, "jupyter-kernel -f /run/kernel-71.json");
	set(4, GK_M_MEM_USED, 9 * GIB);
	set(5, GK_M_MEM_USED, 4 * GIB);
	tui_list_update(&s.t);
}

void alert_of(unsigned gpu, enum tui_alert_kind kind, int64_t value,
	      int64_t limit)
{
	struct tui_alert *a = &alert_rows[alerts.count++];

	*a = (struct tui_alert){.gpu = gk_identity_of(&s.f.devices[gpu]),
				.kind = kind,
				.on = true,
				.value = value,
				.limit = limit};
	alerts.rows = alert_rows;
	alerts.on = alerts.count;
}

void one(int rows, int columns)
{
	begin(1, rows, columns);
	work(0, 97, 20, 349, 72);
	strcpy(s.f.devices[0].name, "NVIDIA GeForce RTX 4090");
	set(0, GK_M_MEM_TOTAL, 24 * GIB);
	set(0, GK_M_POWER_ENFORCED, 350000);
	set(0, GK_M_TEMP_SLOWDOWN, 90);
	set(0, GK_M_THROTTLE, 4);
	set(0, GK_M_SM_CLOCK, 1860000000);
	hold(0, 41872, "mia", 18, "python sdxl_train.py --res 1024");
	hold(0, 2210, "leo", 1, "Xorg :0");
	tui_list_update(&s.t);
}

void two(int rows, int columns)
{
	begin(2, rows, columns);
	work(0, 97, 20, 349, 72);
	work(1, 34, 9, 53, 51);
	strcpy(s.f.devices[0].name, "NVIDIA GeForce RTX 4090");
	strcpy(s.f.devices[1].name, "NVIDIA GeForce RTX 4060 Ti 16GB");
	set(0, GK_M_MEM_TOTAL, 24 * GIB);
	set(1, GK_M_MEM_TOTAL, 16 * GIB);
	set(1, GK_M_FAN, 30);
	hold(0, 41872, "mia", 19, "python sdxl_train.py --res 1024 --batch 4");
	hold(1, 39004, "leo", 8, "ollama runner --model llama3");
	tui_list_update(&s.t);
}
