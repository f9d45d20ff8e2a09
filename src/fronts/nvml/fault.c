/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c - makes calls fail, hang or time out, as required by the faults of
 * GPUs and machines (fault.def) and by the rules that users have set for calls.
 */
#include "base/array.h"
#include "base/clock.h"
#include "fronts/nvml/front.h"
#include "machine/file/fault_kinds.h"
#include "machine/store/clock.h"
#include "machine/file/fault_state.h"
#include "machine/store/event.h"
#include "machine/store/gate.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/rule.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Used in addition to NVML's return codes: the fault does not affect the call,
 * makes it hang, or makes it return late. */
enum {
	ANSWER_NONE = 0,
	ANSWER_HANGS = -1,
	ANSWER_LATE = -2,
};

#define NVML_ERROR_NONE  ANSWER_NONE
#define NVML_ERROR_HANGS ANSWER_HANGS
#define NVML_ERROR_LATE  ANSWER_LATE
static const struct {
	int answer, lookup;
} answers[GKF_FAULT_COUNT] = {
#define FAULT(id, name, argument, least, most, usual, answer_, lookup_,        \
	      mended, xid, events, recovery, help)                             \
	[GKF_FAULT_##                                                          \
	    id] = {(int)NVML_ERROR_##answer_, (int)NVML_ERROR_##lookup_},
#include "machine/file/fault.def"
#undef FAULT
};
#undef NVML_ERROR_NONE
#undef NVML_ERROR_HANGS
#undef NVML_ERROR_LATE

enum when { AT_INIT, AT_LOOKUP };

static const struct {
	enum when when;
	nvmlReturn_t answer;
} machine_answers[GKF_MACHINE_FAULT_COUNT] = {
#define MACHINE_FAULT(id, name, when, answer, help)                            \
	[GKF_MACHINE_FAULT_##id] = {when, NVML_ERROR_##answer},
#include "machine/file/fault.def"
#undef MACHINE_FAULT
};

void front_sleep(struct gkf_machine *machine, uint32_t word, uint64_t ns)
{
	uint64_t next = gkf_scenario_next_ns(machine), step;

	if (next != UINT64_MAX) {
		step = gkf_real_until(machine, next);
		ns = step < ns ? step : ns;
	}
	gkf_event_sleep(machine, word, ns);
}

/*
 * Reads the futex word before applying the steps of scenarios, so that a later
 * change wakes any thread that sleeps on the word.
 */
uint32_t front_look(struct gkf_machine *machine)
{
	uint32_t word = gkf_event_word(machine);

	gkf_scenario_poll(machine);
	return word;
}

static void hang_on(struct gkf_machine *m, uint32_t word)
{
	front_sleep(m, word, UINT64_MAX);
}

/* Sleeps until the fault is cleared; then the call succeeds. */
static nvmlReturn_t hang_until_cleared(struct gkf_machine *m, unsigned index)
{
	for (;;) {
		uint32_t word = front_look(m);

		if (!gkf_fault_active(m, index, GKF_FAULT_HANG))
			return NVML_SUCCESS;
		hang_on(m, word);
	}
}

/* Returns a timeout after the fault's argument has passed, unless the fault is
 * cleared earlier. */
static nvmlReturn_t wait_for_timeout(struct gkf_machine *m, unsigned index)
{
	uint64_t began = gk_mono_ns();

	for (;;) {
		uint32_t word = front_look(m);
		uint64_t ns = gkf_fault_argument(m, index, GKF_FAULT_TIMEOUT);
		uint64_t passed = gk_mono_ns() - began;

		if (!gkf_fault_active(m, index, GKF_FAULT_TIMEOUT))
			return NVML_SUCCESS;
		if (passed >= ns)
			return NVML_ERROR_TIMEOUT;
		front_sleep(m, word, ns - passed);
	}
}

/*
 * The error of the first fault that causes one. If a fault is cleared while it
 * delays the call, the next fault decides.
 */
static nvmlReturn_t first_answer(const struct call *c, unsigned index,
				 bool lookup)
{
	nvmlReturn_t r = NVML_SUCCESS;

	for (int i = 0; !r && i < GKF_FAULT_COUNT; i++) {
		int answer = lookup ? answers[i].lookup : answers[i].answer;

		if (!answer ||
		    !gkf_fault_active(c->machine, index, (enum gkf_fault)i))
			continue;
		if (answer == ANSWER_HANGS)
			r = hang_until_cleared(c->machine, index);
		else if (answer == ANSWER_LATE)
			r = wait_for_timeout(c->machine, index);
		else
			r = (nvmlReturn_t)answer;
	}
	return r;
}

/* Calls that identify a GPU succeed even if the GPU must be reset. */
static bool tells_identity(enum nvml_row row)
{
	static const enum nvml_row rows[] = {
	    ROW_nvmlDeviceGetBoardId,    ROW_nvmlDeviceGetBrand,
	    ROW_nvmlDeviceGetIndex,      ROW_nvmlDeviceGetMinorNumber,
	    ROW_nvmlDeviceGetName,       ROW_nvmlDeviceGetPciInfo,
	    ROW_nvmlDeviceGetPciInfoExt, ROW_nvmlDeviceGetPciInfo_v2,
	    ROW_nvmlDeviceGetPciInfo_v3, ROW_nvmlDeviceGetSerial,
	    ROW_nvmlDeviceGetUUID,
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i] == row)
			return true;
	return false;
}

nvmlReturn_t front_broken(const struct call *c, enum nvml_row row)
{
	nvmlReturn_t r = first_answer(c, c->index, false);

	return r == NVML_ERROR_RESET_REQUIRED && tells_identity(row)
		   ? NVML_SUCCESS
		   : r;
}

static nvmlReturn_t machine_answer(struct gkf_machine *m, enum when when)
{
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		if (machine_answers[i].when == when &&
		    gkf_machine_fault_active(m, (enum gkf_machine_fault)i))
			return machine_answers[i].answer;
	return NVML_SUCCESS;
}

nvmlReturn_t front_machine_fault(struct gkf_machine *machine)
{
	return machine_answer(machine, AT_INIT);
}

nvmlReturn_t front_lookup(const struct call *c, unsigned index, bool by_pci)
{
	nvmlReturn_t r = machine_answer(c->machine, AT_LOOKUP);

	GK_ASSERT(index < c->device_count);
	if (r)
		return r;
	if (by_pci && gkf_fault_active(c->machine, index, GKF_FAULT_FALLEN))
		return NVML_ERROR_NOT_FOUND;
	return first_answer(c, index, true);
}

/* Sleeps until the rules no longer make the call hang. */
static nvmlReturn_t hang_by_rule(const struct call *c, enum nvml_row row,
				 int device)
{
	int answer = GKF_RULE_HANGS;

	while (answer == GKF_RULE_HANGS) {
		uint32_t word = front_look(c->machine);

		hang_on(c->machine, word);
		if (!gkf_rule_holds(c->machine, row, device, &answer))
			return NVML_SUCCESS;
	}
	return (nvmlReturn_t)answer;
}

nvmlReturn_t front_disturb(const struct call *c, enum nvml_row row)
{
	int device = c->index == FRONT_NO_DEVICE ? -1 : (int)c->index;
	int answer;

	front_hold(c->gate, row);
	if (!gkf_gate_word(c->gate->rules) ||
	    !gkf_rule_applies(c->machine, row, device, &answer))
		return NVML_SUCCESS;
	if (answer == GKF_RULE_HANGS)
		return hang_by_rule(c, row, device);
	return (nvmlReturn_t)answer;
}
