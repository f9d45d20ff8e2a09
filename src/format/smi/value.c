/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - formats single values as nvidia-smi does. */
#include "format/smi/value.h"
#include "base/array.h"
#include "format/smi/value_show.h"

#include "base/clock.h"
#include "format/names.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEBI (1LL << 20)

/* The words for a metric's values, starting with that for 0. */
static const char *const words[GK_SMI_WORDS_COUNT][8] = {
    [GK_SMI_ENABLED] = {"Disabled", "Enabled"},
    [GK_SMI_YES] = {"No", "Yes"},
    [GK_SMI_ADDRESSING] = {"None", "HMM", "ATS"},
    [GK_SMI_COMPUTE] = {"Default", "Exclusive_Thread", "Prohibited",
			"Exclusive_Process"},
    [GK_SMI_RECOVERY] = {"None", "Reset", "Reboot", "Drain P2P",
			 "Drain and Reset", "Recover IMEX Domain"},
    [GK_SMI_FABRIC] = {NULL, "Not Started", "In Progress", "Completed"},
    [GK_SMI_PEER] = {"Direct Connected", "Switch Connected"},
    [GK_SMI_VIRTUAL] = {"None", "Pass-Through", "VGPU", "Host VGPU",
			"Host VSGA"},
};

/* The texts that nvidia-smi shows for an absent value. */
static const char *const absent[GK_ABSENCE_COUNT] = {
    [GK_ABSENT_NO_FUNCTION] = "[Function Not Found]",
    [GK_ABSENT_PERMISSION] = "[Insufficient Permissions]",
    [GK_ABSENT_LOST] = "[GPU is lost]",
    [GK_ABSENT_TIMEOUT] = "[Unknown Error]",
    [GK_ABSENT_ERROR] = "[Unknown Error]",
    [GK_ABSENT_RESET] = "[GPU requires reset]",
    [GK_ABSENT_NONSENSE] = "[Unknown Error]",
};

static const char *const absent_bare[GK_ABSENCE_COUNT] = {
    [GK_ABSENT_PERMISSION] = "Insufficient Permissions",
    [GK_ABSENT_LOST] = "GPU is lost",
    [GK_ABSENT_TIMEOUT] = "Unknown Error",
    [GK_ABSENT_ERROR] = "Unknown Error",
    [GK_ABSENT_RESET] = "GPU requires reset",
    [GK_ABSENT_NONSENSE] = "Unknown Error",
};

const char *gk_smi_absent(enum gk_absence why)
{
	return absent[why] ? absent[why] : "[N/A]";
}

const char *gk_smi_absent_bare(enum gk_absence why)
{
	return absent_bare[why] ? absent_bare[why] : "N/A";
}

int64_t gk_smi_to_mib(const struct gk_snapshot *snap, int64_t bytes)
{
	bool up = gk_smi_form(gk_smi_level(snap))->rounds_up;

	return (up ? bytes + MEBI - 1 : bytes) / MEBI;
}

SHOW(number)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64, v);
	return GK_PRESENT;
}

/*
 * Shows how far a GPU is below its limit. Drivers before 570 have no function
 * that reports this, but report how far the highest temperature is from the
 * limit.
 */
SHOW(margin)
{
	const struct gk_value *m = at->device->m;

	if (m[what].why != GK_ABSENT_NO_FUNCTION ||
	    m[GK_M_MARGIN_GPU_MAX].why || m[GK_M_TEMP_GPU_MAX].why)
		return gk_smi_number(out, at, what, arg);
	if (m[GK_M_TEMP].why)
		return m[GK_M_TEMP].why;
	gk_buf_printf(out, "%" PRId64,
		      m[GK_M_TEMP_GPU_MAX].v + m[GK_M_MARGIN_GPU_MAX].v -
			  m[GK_M_TEMP].v);
	return GK_PRESENT;
}

SHOW(mib)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64, gk_smi_to_mib(at->snap, v));
	return GK_PRESENT;
}

/*
 * Shows how much is left: the metric arg (a total) minus the value. Both are
 * rounded to MiB first.
 */
SHOW(mib_left)
{
	const struct gk_value total = at->device->m[arg];

	TAKE_VALUE;
	if (total.why)
		return total.why;
	gk_buf_printf(out, "%" PRId64,
		      gk_smi_to_mib(at->snap, total.v) -
			  gk_smi_to_mib(at->snap, v));
	return GK_PRESENT;
}

/*
 * The format is that of nvidia_gpu_exporter, whose output is compared with
 * nvidia-smi's, and that of NVIDIA's nvidia_smi.py.
 */
SHOW(watts)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%.2f", (double)v / 1000);
	return GK_PRESENT;
}

/* Hundredths. */
SHOW(centi)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64 ".%02d", v / 100, (int)(v % 100));
	return GK_PRESENT;
}

SHOW(mhz)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64, v / 1000000);
	return GK_PRESENT;
}

SHOW(us)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64, v / (int64_t)GK_NS_PER_US);
	return GK_PRESENT;
}

SHOW(ms)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64, v / (int64_t)GK_NS_PER_MS);
	return GK_PRESENT;
}

SHOW(kilo)
{
	TAKE_VALUE;
	gk_buf_printf(out, "%" PRId64, v / 1000);
	return GK_PRESENT;
}

/*
 * Shows a number in hexadecimal: upper case with at least arg digits or, if arg
 * is 0, lower case without padding.
 */
SHOW(hex)
{
	TAKE_VALUE;
	if (arg)
		gk_buf_printf(out, "0x%0*" PRIX64, (int)arg, (uint64_t)v);
	else
		gk_buf_printf(out, "0x%" PRIx64, (uint64_t)v);
	return GK_PRESENT;
}

/* Shows one byte of a number; arg is its index, from the lowest. */
SHOW(byte)
{
	TAKE_VALUE;
	gk_buf_printf(out, "0x%X", (unsigned)(v >> 8 * arg & 0xff));
	return GK_PRESENT;
}

SHOW(word)
{
	TAKE_VALUE;
	if (v < 0 || v >= (int64_t)COUNT(words[arg]) || !words[arg][v])
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_puts(out, words[arg][v]);
	return GK_PRESENT;
}

SHOW(bit)
{
	TAKE_VALUE;
	gk_buf_puts(out, v & arg ? "Active" : "Not Active");
	return GK_PRESENT;
}

SHOW(none)
{
	return GK_ABSENT_NOT_SUPPORTED;
}

/* Shows a value that this driver no longer reports. */
SHOW(gone)
{
	gk_buf_puts(out, GK_SMI_DEPRECATED);
	return GK_PRESENT;
}

SHOW(supported)
{
	TAKE_VALUE;
	if (!v)
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_puts(out, "Supported");
	return GK_PRESENT;
}

/*
 * NVML reports this only since 550. With older drivers, a GPU that must be
 * reset answers all calls with an error, so a GPU that answers need not be
 * reset.
 */
SHOW(reset_required)
{
	struct gk_value value = at->device->m[what];
	bool broken = at->device->m[GK_M_TEMP].why == GK_ABSENT_RESET;

	if (value.why && !broken && at->device->health != GK_HEALTH_OK)
		return value.why;
	gk_buf_puts(out, (value.why ? broken : value.v != 0) ? "Yes" : "No");
	return GK_PRESENT;
}

/*
 * NVML reports this only since 550. Before, nvidia-smi showed No for an A100
 * and an H100, and no value for a GeForce.
 */
SHOW(drain_recommended)
{
	const struct gk_device *d = at->device;
	const struct gk_detail *detail = d->detail;

	if (gk_smi_level(at->snap) >= GK_SMI_LEVEL(550, 0) ||
	    d->health != GK_HEALTH_OK || d->compute_major < 8 || !detail ||
	    detail->facts[GK_T_BRAND].why ||
	    !strcmp(detail->facts[GK_T_BRAND].s, "GeForce"))
		return gk_smi_word(out, at, what, GK_SMI_YES);
	gk_buf_puts(out, "No");
	return GK_PRESENT;
}

/* NVML reports this only since 570. Before, nvidia-smi showed None. */
SHOW(recovery_action)
{
	const struct gk_device *d = at->device;

	if (gk_smi_level(at->snap) >= GK_SMI_LEVEL(570, 0) ||
	    d->health != GK_HEALTH_OK || d->m[GK_M_TEMP].why)
		return gk_smi_word(out, at, what, GK_SMI_RECOVERY);
	gk_buf_puts(out, "None");
	return GK_PRESENT;
}

/*
 * NVML reports this only since 610. With older drivers, if no row remapping
 * waits for a reset, all remappings are in effect.
 */
SHOW(rows_inactive)
{
	const struct gk_value pending = at->device->m[GK_M_ROWS_PENDING];

	if (!at->device->m[what].why || pending.why || pending.v)
		return gk_smi_number(out, at, what, arg);
	gk_buf_puts(out, "0");
	return GK_PRESENT;
}

/* In -q -x, a list without pages is left empty. */
SHOW(retired_list)
{
	TAKE_VALUE;
	(void)v;
	gk_buf_puts(out, "\n\t\t\t\t");
	return GK_PRESENT;
}

/* Returns the reason why a GPU's identity is unknown. */
static enum gk_absence unknown_reason(const struct gk_device *d)
{
	static const enum gk_absence whys[] = {
	    [GK_HEALTH_OK] = GK_ABSENT_NOT_SUPPORTED,
	    [GK_HEALTH_LOST] = GK_ABSENT_LOST,
	    [GK_HEALTH_STALE] = GK_ABSENT_TIMEOUT,
	    [GK_HEALTH_ERROR] = GK_ABSENT_ERROR,
	};

	return whys[d->health];
}

static enum gk_absence put_known_text(struct gk_buf *out, const char *text)
{
	gk_add_clean(out, text, strlen(text));
	return *text ? GK_PRESENT : GK_ABSENT_NOT_SUPPORTED;
}

static enum gk_absence put_told(struct gk_buf *out, const struct gk_device *d,
				const char *text)
{
	return put_known_text(out, text) ? unknown_reason(d) : GK_PRESENT;
}

void gk_smi_text(struct gk_buf *out, const struct gk_device *d,
		 const char *text)
{
	enum gk_absence why = put_told(out, d, text);

	if (why)
		gk_buf_puts(out, gk_smi_absent_bare(why));
}

SHOW(fact)
{
	const struct gk_detail *detail = at->device->detail;

	if (!detail)
		return GK_ABSENT_NOT_READ;
	if (!detail->facts[what].why)
		put_known_text(out, detail->facts[what].s);
	return detail->facts[what].why;
}

SHOW(timestamp)
{
	char text[32];

	gk_smi_time(text, at->snap->wall_ns);
	return put_known_text(out, text);
}

SHOW(driver)
{
	return put_known_text(out, at->snap->driver_version);
}

SHOW(count)
{
	gk_buf_printf(out, "%u", at->gpus);
	return GK_PRESENT;
}

SHOW(name)
{
	return put_told(out, at->device, at->device->name);
}

SHOW(serial)
{
	return put_told(out, at->device, at->device->serial);
}

SHOW(uuid)
{
	return put_told(out, at->device, at->device->uuid);
}

SHOW(bus_id)
{
	return put_told(out, at->device, at->device->bus_id);
}

/*
 * Shows one part of a PCI address 00000000:83:00.0; arg selects domain, bus or
 * device.
 */
SHOW(pci)
{
	static const struct {
		unsigned offset;
		int digits;
	} parts[] = {{0, 4}, {9, 2}, {12, 2}};
	const char *bus_id = at->device->bus_id;

	if (strlen(bus_id) != strlen("00000000:83:00.0"))
		return unknown_reason(at->device);
	gk_buf_printf(out, "0x%0*lX", parts[arg].digits,
		      strtoul(bus_id + parts[arg].offset, NULL, 16));
	return GK_PRESENT;
}

SHOW(index)
{
	gk_buf_printf(out, "%u", at->device->index);
	return GK_PRESENT;
}

SHOW(minor)
{
	if (at->device->minor < 0)
		return unknown_reason(at->device);
	gk_buf_printf(out, "%d", at->device->minor);
	return GK_PRESENT;
}

SHOW(vbios)
{
	return put_told(out, at->device, at->device->vbios);
}

SHOW(capability)
{
	const struct gk_device *d = at->device;

	if (d->compute_major < 0)
		return unknown_reason(d);
	gk_buf_printf(out, "%d.%d", d->compute_major, d->compute_minor);
	return GK_PRESENT;
}

/* Drivers report 32 for an unknown performance state. */
SHOW(pstate)
{
	TAKE_VALUE;
	if (v > 15)
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_printf(out, "P%" PRId64, v);
	return GK_PRESENT;
}

/* Shows whether the inforom passed its check: 1 means valid. */
SHOW(valid)
{
	TAKE_VALUE;
	gk_buf_puts(out, v ? "valid" : "invalid");
	return GK_PRESENT;
}

/*
 * For -q only: shows N/A if the GPU does not support ECC. --query-gpu instead
 * shows the number, which may then be 0.
 */
SHOW(ecc)
{
	if (at->device->m[GK_M_ECC_MODE].why)
		return at->device->m[GK_M_ECC_MODE].why;
	return arg < 0 ? gk_smi_number(out, at, what, 0)
		       : gk_smi_word(out, at, what, arg);
}

SHOW(egm)
{
	const struct gk_value capabilities = at->device->m[GK_M_CAPABILITIES];

	/* Drivers before 570 have no function that reports the capabilities. */
	if (capabilities.why && capabilities.why != GK_ABSENT_NO_FUNCTION)
		return capabilities.why;
	gk_buf_puts(out, !capabilities.why && capabilities.v & 1 ? "enabled"
								 : "disabled");
	return GK_PRESENT;
}
