/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.c - owns the table of the conditions that are looked for in GPUs
 * that answer.
 */
#include "format/condition.h"

#include "abi/nvml/nvml_abi.h"
#include "base/array.h"

#include <stdio.h>

/*
 * Some fans stop while a GPU is cool, but start again at 60 degrees at the
 * latest. A fan that stands still at this temperature or above is broken.
 */
#define FANS_TURN_C 65

/*
 * P-states from 0 to this one count as working, the others as idle: many boards
 * compute in P2.
 */
#define PSTATE_AT_WORK 2

static bool has_value(const struct gk_device *d, enum gk_metric metric,
		      int64_t value)
{
	return d->m[metric].why == GK_PRESENT && d->m[metric].v == value;
}

/*
 * Whether a link's lanes or generation are below the maximum. 0 means unknown,
 * because a working link has at least one lane and generation 1.
 */
static bool is_less(const struct gk_device *d, enum gk_metric metric,
		    enum gk_metric most)
{
	return d->m[metric].why == GK_PRESENT && d->m[most].why == GK_PRESENT &&
	       d->m[metric].v > 0 && d->m[metric].v < d->m[most].v;
}

static bool is_fan_stuck(const struct gk_device *d)
{
	return has_value(d, GK_M_FAN, 0) && d->m[GK_M_TEMP].why == GK_PRESENT &&
	       d->m[GK_M_TEMP].v >= FANS_TURN_C;
}

/*
 * Whether an active GPU uses fewer PCIe lanes than it could. Idle GPUs (see
 * their P-state) reduce their links to save power.
 */
static bool is_link_narrow(const struct gk_device *d)
{
	bool rests = d->m[GK_M_PSTATE].why == GK_PRESENT &&
		     d->m[GK_M_PSTATE].v > PSTATE_AT_WORK;

	return !rests && is_less(d, GK_M_PCIE_WIDTH, GK_M_PCIE_WIDTH_MAX);
}

static bool is_link_slow(const struct gk_device *d)
{
	return has_value(d, GK_M_PSTATE, 0) &&
	       is_less(d, GK_M_PCIE_GEN, GK_M_PCIE_GEN_MAX);
}

#define IS(metric, value, brief, words, why)                                   \
	{                                                                      \
		GK_M_##metric, value, NULL,                                    \
		{                                                              \
			true, brief, words, why, 0, 0                          \
		}                                                              \
	}
#define ACTION(action, brief, words, why)                                      \
	IS(RECOVERY_ACTION, NVML_GPU_RECOVERY_ACTION_##action, brief, words,   \
	   why)

/*
 * A condition holds if its function says so or, without a function, if its
 * metric has the given value. The worst condition comes first.
 */
static const struct {
	enum gk_metric metric;
	int64_t value;
	bool (*holds)(const struct gk_device *d);
	struct gk_condition is;
} rows[] = {
    ACTION(NODE_REBOOT, "reboot due", "node must be rebooted",
	   "the driver asks for a reboot of the node"),
    IS(ROWS_FAILED, 1, "bad memory", "memory row not replaced",
       "a bad memory row could not be replaced: have the GPU replaced"),
    IS(INFOROM_VALID, 0, "bad ROM", "infoROM is corrupted",
       "the infoROM is corrupted: have the GPU replaced"),
    ACTION(DRAIN_AND_RESET, "reset due", "must drain, then reset",
	   "the driver asks for a reset once all work has ended"),
    IS(ROWS_PENDING, 1, "reset due", "reset due: memory row",
       "a bad memory row is replaced at the next reset"),
    IS(RETIRED_PENDING, 1, "reset due", "reset due: memory pages",
       "bad memory pages are retired at the next reset"),
    IS(REPAIR_CHANNEL, 1, "reset due", "reset due: repair",
       "a memory channel is repaired at the next reset"),
    IS(REPAIR_TPC, 1, "reset due", "reset due: repair",
       "a TPC is repaired at the next reset"),
    ACTION(GPU_RESET, "reset due", "must be reset",
	   "the driver asks for a reset"),
    ACTION(DRAIN_P2P, "drain P2P", "peer-to-peer must end",
	   "the driver asks that peer-to-peer work ends"),
    ACTION(RECOVER_IMEX_DOMAIN, "IMEX down", "IMEX domain is down",
	   "the driver asks that the IMEX domain is recovered"),
    {.holds = is_fan_stuck,
     .is = {true, "fan stuck", "fans stand still",
	    "no fan turns, and it is warm: have it looked at", 0, 0}},
    {.holds = is_link_narrow,
     .is = {false, "PCIe slow", "PCIe lanes",
	    "PCIe runs with fewer lanes than it could: reseat the GPU, "
	    "unless its slot has no more",
	    GK_M_PCIE_WIDTH, GK_M_PCIE_WIDTH_MAX}},
    {.holds = is_link_slow,
     .is = {false, "PCIe slow", "PCIe generation",
	    "PCIe runs at a lower generation than it could", GK_M_PCIE_GEN,
	    GK_M_PCIE_GEN_MAX}},
};

const struct gk_condition *gk_condition_of(const struct gk_device *d)
{
	if (d->mig_index >= 0 || d->health != GK_HEALTH_OK)
		return NULL;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].holds ? rows[i].holds(d)
				  : has_value(d, rows[i].metric, rows[i].value))
			return &rows[i].is;
	return NULL;
}

char *gk_condition_text(char dst[GK_CONDITION_MAX],
			const struct gk_condition *c, const struct gk_device *d)
{
	if (c->most)
		snprintf(dst, GK_CONDITION_MAX, "%s %lld of %lld", c->words,
			 (long long)d->m[c->now].v, (long long)d->m[c->most].v);
	else
		snprintf(dst, GK_CONDITION_MAX, "%s", c->words);
	return dst;
}

void gk_condition_metrics(struct gk_metric_set *set)
{
	static const enum gk_metric others[] = {
	    GK_M_FAN,    GK_M_TEMP,     GK_M_PCIE_WIDTH,  GK_M_PCIE_WIDTH_MAX,
	    GK_M_PSTATE, GK_M_PCIE_GEN, GK_M_PCIE_GEN_MAX};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!rows[i].holds)
			gk_metric_set_add(set, rows[i].metric);
	gk_metric_set_add_all(set, others, COUNT(others));
}
