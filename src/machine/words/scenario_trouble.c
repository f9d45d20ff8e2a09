/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_trouble.c - reads steps of a scenario file that begin or end faults.
 */
#include "base/err.h"
#include "machine/file/ecc_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/model/ecc.h"
#include "machine/model/model.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/fault_text.h"
#include "machine/words/scenario_build.h"
#include "machine/words/scenario_keys.h"

#include <string.h>

static int machine_fault(struct gkf_build *b, const char *name, bool on)
{
	int fault = gkf_machine_fault_by_name(name);

	return fault < 0 ? GK_ERR_NOT_FOUND
			 : gkf_build_step(b, GKF_STEP_MACHINE_FAULT,
					  GKF_STEP_NO_DEVICE, (uint32_t)fault,
					  on, NULL);
}

int gkf_key_fail(struct gkf_build *b, const yaml_node_t *node)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	char allowed[GKF_FAULT_TEXT_MAX];
	struct gkf_breakage breakage;
	int err = machine_fault(b, text, true);

	if (err != GK_ERR_NOT_FOUND)
		return err;
	err = gkf_fault_parse(text, &breakage, allowed);
	if (err == GK_ERR_NOT_FOUND)
		return gkf_key_no_fault(b, node);
	if (err)
		return GKF_BUILD_FAIL(b, node, "fail: %.80s: must be %s", text,
				      allowed);
	if (breakage.is_xid && breakage.instance != GKF_NO_INSTANCE)
		return GKF_BUILD_FAIL(b, node,
				      "fail: %.80s: must be an Xid of the "
				      "whole GPU, such as xid=%u",
				      text, breakage.xid);
	if (breakage.is_xid)
		return gkf_key_step_all(b, node, "fail", GKF_STEP_XID,
					breakage.xid, 0, NULL);
	return gkf_key_step_all(b, node, "fail", GKF_STEP_FAULT, breakage.fault,
				(int64_t)breakage.argument, NULL);
}

int gkf_key_xid(struct gkf_build *b, const yaml_node_t *node)
{
	int64_t number;

	if (node->type != YAML_SCALAR_NODE || !gk_yaml_integer(node, &number) ||
	    number < 0 || number > 9999 || !gkf_xid_find((unsigned)number))
		return GKF_BUILD_FAIL(b, node,
				      "xid: must be the number of an Xid that "
				      "`gpukit fake ctl fail` knows, such as "
				      "79");
	return gkf_key_step_all(b, node, "xid", GKF_STEP_XID, (uint32_t)number,
				0, NULL);
}

static int clear_all(struct gkf_build *b)
{
	int err = gkf_key_rule_clear(b, NULL);

	GKF_FOR_GPUS(b, d)
	{
		err = gkf_build_step(b, GKF_STEP_MEND, d, 0, -1, NULL);
		for (int v = 0; !err && v < GKF_V_COUNT; v++)
			if (b->tracks[d][v].known)
				err = gkf_build_set(b, d, (enum gkf_value)v,
						    GKF_UNSET);
	}
	return err;
}

/*
 * The word names a fault of the machine, a function whose rules are removed, or
 * a value or fault of GPUs; if a value and a fault share the name, clears both.
 * `all` clears all values, faults and rules.
 */
int gkf_key_clear(struct gkf_build *b, const yaml_node_t *node)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	int value = gkf_value_by_name(text), fault = gkf_fault_by_name(text);
	int err = machine_fault(b, text, false);

	if (err == GK_ERR_NOT_FOUND)
		err = gkf_key_rule_clear(b, text);
	if (err != GK_ERR_NOT_FOUND)
		return err;
	err = gkf_key_gpus(b, node, "clear");
	if (!err && !strcmp(text, "all"))
		return clear_all(b);
	if (!err && value < 0 && fault < 0)
		return gkf_key_no_fault(b, node);
	if (!err && fault >= 0)
		err = gkf_key_step_all(b, node, "clear", GKF_STEP_MEND, 0,
				       (int64_t)GKF_FAULT_BIT(fault), NULL);
	GKF_FOR_GPUS(b, d)
	if (value >= 0 && b->tracks[d][value].known)
		err = gkf_build_set(b, d, (enum gkf_value)value, GKF_UNSET);
	return err;
}

int gkf_key_reset(struct gkf_build *b, const yaml_node_t *node)
{
	bool yes;
	int err = gkf_key_bool(b, "reset", node, &yes);

	return err || !yes ? err
			   : gkf_key_step_all(b, node, "reset", GKF_STEP_RESET,
					      0, 0, NULL);
}

/* ecc: { corrected: 3, location: dram }; "place" also means "location". */
int gkf_key_ecc(struct gkf_build *b, const yaml_node_t *node)
{
	static const struct gkf_key keys[] = {
	    {.name = "corrected"},
	    {.name = "uncorrected"},
	    {.name = "location"},
	    {.name = "place"},
	};
	const yaml_node_t *at[4], *count;
	unsigned location = GKF_ECC_DRAM;
	int64_t number;
	int err = gkf_keys_find(b, "ecc", node, keys, 4, at);

	if (err)
		return err;
	if (!at[0] == !at[1] || (at[2] && at[3]))
		return GKF_BUILD_FAIL(b, node,
				      "ecc: must be {corrected: COUNT} or "
				      "{uncorrected: COUNT}, with location: "
				      "dram, l2...");
	count = at[0] ? at[0] : at[1];
	err = gkf_key_integer(b, "ecc", count, 1, GKF_ECC_COUNT_MAX, &number);
	for (int i = 2; !err && i < 4; i++)
		if (at[i])
			err = gkf_key_word(b, keys[i].name, at[i],
					   gkf_ecc_location_name, &location);
	return err ? err
		   : gkf_key_step_all(
			 b, node, "ecc", GKF_STEP_ECC,
			 (at[0] ? GKF_ECC_CORRECTED : GKF_ECC_SECDED) << 16 |
			     location,
			 number, NULL);
}
