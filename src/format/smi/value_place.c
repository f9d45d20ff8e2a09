/* SPDX-License-Identifier: Apache-2.0 */
/* value_place.c - formats where a GPU is: in which fabric, and in which rack.
 */
#include "format/smi/value.h"
#include "base/array.h"
#include "format/names.h"
#include "format/smi/value_show.h"

/*
 * A GPU that is in no fabric reports state 0. Its other values then mean
 * nothing.
 */
static bool in_fabric(const struct gk_smi_at *at)
{
	const struct gk_value state = at->device->m[GK_M_FABRIC_STATE];

	return state.why == GK_PRESENT && state.v > 0;
}

SHOW(fabric)
{
	return in_fabric(at) ? gk_smi_number(out, at, what, arg)
			     : GK_ABSENT_NOT_SUPPORTED;
}

SHOW(fabric_uuid)
{
	return in_fabric(at) ? gk_smi_fact(out, at, what, arg)
			     : GK_ABSENT_NOT_SUPPORTED;
}

SHOW(fabric_status)
{
	TAKE_VALUE;
	if (!in_fabric(at))
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_puts(out, v ? gk_nvml_text((int)v) : "Success");
	return GK_PRESENT;
}

/* The parts of the health mask: lowest bit, mask, words for its values. */
static const struct {
	unsigned shift, mask;
	const char *words[9];
} healths[] = {
    {0, 0xff, {NULL, "Healthy", "Unhealthy", "Limited Capacity"}},
    {0, 3, {NULL, "Degraded", "Full"}},
    {2, 3, {NULL, "True", "False"}},
    {4, 3, {NULL, "True", "False"}},
    {6, 3, {NULL, "True", "False"}},
    {8,
     15,
     {NULL, "None", "Incorrect SysGuid", "Incorrect Chassis SN", "No Partition",
      "Insufficient NVLinks", "Incompatible GPU Firmware", "Invalid Location",
      "GPU State Invalid"}},
    {12, 3, {NULL, "True", "False"}},
};

SHOW(fabric_health)
{
	TAKE_VALUE;
	unsigned field =
	    (unsigned)(v >> healths[arg].shift) & healths[arg].mask;

	if (!in_fabric(at) || field >= COUNT(healths[arg].words) ||
	    !healths[arg].words[field])
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_puts(out, healths[arg].words[field]);
	return GK_PRESENT;
}

/* An empty serial number of a chassis is shown as empty, not as absent. */
SHOW(chassis)
{
	enum gk_absence why = gk_smi_fact(out, at, GK_T_CHASSIS_SERIAL, 0);

	return why == GK_ABSENT_NONE ? GK_PRESENT : why;
}

static bool has_chassis(const struct gk_smi_at *at)
{
	const struct gk_detail *detail = at->device->detail;

	return detail && !detail->facts[GK_T_CHASSIS_SERIAL].why &&
	       *detail->facts[GK_T_CHASSIS_SERIAL].s;
}

/*
 * Whether -q shows where a board is: for boards since Blackwell, even those
 * without a chassis, and for older boards that have one.
 */
static bool is_placed(const struct gk_smi_at *at)
{
	return at->device->compute_major >= 10 || has_chassis(at);
}

/* A module behind a switch but in no chassis has no slot. */
static bool is_in_no_slot(const struct gk_smi_at *at, int what)
{
	const struct gk_value peer = at->device->m[GK_M_PLATFORM_PEER];

	return (what == GK_M_PLATFORM_SLOT || what == GK_M_PLATFORM_TRAY) &&
	       peer.why == GK_PRESENT && peer.v && !has_chassis(at);
}

SHOW(placed)
{
	if (!is_placed(at) || is_in_no_slot(at, what))
		return GK_ABSENT_NOT_SUPPORTED;
	return arg < 0 ? gk_smi_number(out, at, what, 0)
		       : gk_smi_word(out, at, what, arg);
}

SHOW(placed_fact)
{
	if (!is_placed(at))
		return GK_ABSENT_NOT_SUPPORTED;
	return what == GK_T_CHASSIS_SERIAL ? gk_smi_chassis(out, at, what, arg)
					   : gk_smi_fact(out, at, what, arg);
}
