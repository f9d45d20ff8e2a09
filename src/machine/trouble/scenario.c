/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c - applies the steps of a scenario when they are due. */
#include "machine/trouble/scenario.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "machine/file/board.h"
#include "machine/file/ecc_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/model/ecc.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/model/model.h"
#include "machine/store/process/account.h"
#include "machine/store/clock.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/reset.h"
#include "machine/trouble/rule.h"

#include <stdlib.h>
#include <string.h>

unsigned gkf_scenario_count(const struct gkf_machine *m)
{
	return m->steps;
}

bool gkf_scenario_step(const struct gkf_machine *m, unsigned index,
		       struct gkf_step *ret_step)
{
	const struct gkf_step *from;
	struct gkf_step step;

	if (index >= m->steps)
		return false;
	from = &gkf_file_steps(m->file)[index];
	step.bin = __atomic_load_n(&from->bin, __ATOMIC_RELAXED);
	step.kind = __atomic_load_n(&from->kind, __ATOMIC_RELAXED);
	step.device = __atomic_load_n(&from->device, __ATOMIC_RELAXED);
	step.number = __atomic_load_n(&from->number, __ATOMIC_RELAXED);
	step.text = __atomic_load_n(&from->text, __ATOMIC_RELAXED);
	step.argument = __atomic_load_n(&from->argument, __ATOMIC_RELAXED);
	*ret_step = step;
	return step.kind < GKF_STEP_KINDS &&
	       step.bin <= UINT64_MAX / GKF_BIN_NS &&
	       (step.device < m->device_count ||
		step.device == GKF_STEP_NO_DEVICE);
}

void gkf_scenario_text(const struct gkf_machine *m, const struct gkf_step *step,
		       char ret_text[GKF_STEP_TEXT_MAX])
{
	const char *texts =
	    (const char *)(const void *)(gkf_file_steps(m->file) + m->steps);
	unsigned n = 0;

	for (uint64_t at = step->text;
	     at < m->texts && n < GKF_STEP_TEXT_MAX - 1; at++, n++) {
		ret_text[n] = __atomic_load_n(&texts[at], __ATOMIC_RELAXED);
		if (!ret_text[n])
			break;
	}
	ret_text[n] = '\0';
}

/* ---- one step ---- */

/*
 * Applies a step of one kind, under the writers' lock; the device exists and
 * its state is computed up to the bin of the step.
 */
typedef int step_fn(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text);

static int do_note(struct gkf_machine *m, const struct gkf_step *step,
		   const char *text)
{
	(void)m, (void)step, (void)text;
	return 0;
}

static int do_set(struct gkf_machine *m, const struct gkf_step *step,
		  const char *text)
{
	(void)text;
	return step->number < GKF_V_COUNT
		   ? gkf_value_set(m, step->device,
				   (enum gkf_value)step->number, step->argument)
		   : GK_ERR_RANGE;
}

static int do_fault(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text)
{
	(void)text;
	return step->number < GKF_FAULT_COUNT
		   ? gkf_fault_begin(m, step->device,
				     (enum gkf_fault)step->number,
				     (uint64_t)step->argument)
		   : GK_ERR_RANGE;
}

static int do_mend(struct gkf_machine *m, const struct gkf_step *step,
		   const char *text)
{
	(void)text;
	return gkf_fault_end(m, step->device, (uint64_t)step->argument);
}

static int do_xid(struct gkf_machine *m, const struct gkf_step *step,
		  const char *text)
{
	(void)text;
	return gkf_xid(m, step->device, step->number);
}

static int do_ecc(struct gkf_machine *m, const struct gkf_step *step,
		  const char *text)
{
	(void)text;
	return gkf_ecc_error(m, step->device,
			     (enum gkf_ecc_kind)(step->number >> 16),
			     (enum gkf_ecc_location)(step->number & 0xffff),
			     (uint64_t)step->argument);
}

static int do_reset(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text)
{
	int r = gkf_device_reset(m, step->device);

	(void)text;
	return r ? r : gkf_fault_reset(m, step->device);
}

static int do_machine_fault(struct gkf_machine *m, const struct gkf_step *step,
			    const char *text)
{
	(void)text;
	return step->number < GKF_MACHINE_FAULT_COUNT
		   ? gkf_machine_fault_set(m,
					   (enum gkf_machine_fault)step->number,
					   step->argument != 0)
		   : GK_ERR_RANGE;
}

/*
 * Parses the text of a rule's step: the GPUs as a hexadecimal mask, the calls
 * that succeed first, the most calls that fail, and the failures per million.
 */
static void read_rule_text(const char *text, struct gkf_rule_spec *spec)
{
	char *at;

	spec->gpus = strtoull(text, &at, 16);
	spec->after = strtoull(at, &at, 10);
	spec->times = strtoull(at, &at, 10);
	spec->per_million = (unsigned)strtoul(at, &at, 10);
}

static int do_rule(struct gkf_machine *m, const struct gkf_step *step,
		   const char *text)
{
	struct gkf_rule_spec spec = {.function = step->number,
				     .answer = (int)step->argument,
				     .seed = m->file->seed};

	read_rule_text(text, &spec);
	return gkf_rule_add(m, &spec);
}

static int do_rule_drop(struct gkf_machine *m, const struct gkf_step *step,
			const char *text)
{
	struct gkf_rule_spec spec;

	read_rule_text(text, &spec);
	return gkf_rules_drop(
	    m, step->number == UINT32_MAX ? -1 : (int)step->number, spec.gpus);
}

static int do_mig_mode(struct gkf_machine *m, const struct gkf_step *step,
		       const char *text)
{
	(void)text;
	return gkf_mig_mode_set(m, step->device, step->argument != 0);
}

static int do_mig_create(struct gkf_machine *m, const struct gkf_step *step,
			 const char *text)
{
	const char *part;

	return gkf_mig_board(&m->boards[step->device].profile)
		   ? gkf_mig_layout(m, step->device, text, &part)
		   : GK_ERR_NOT_SUPPORTED;
}

/* Destroys a compute instance, and its GPU instance if that is empty then. */
static int destroy_mig(struct gkf_machine *m, unsigned device, unsigned index)
{
	struct gkf_mig_ci ci;
	int r = gkf_mig_by_index(m, device, index, &ci);

	if (!r)
		r = gkf_mig_ci_destroy(m, device, ci.gi, ci.id, ci.life);
	if (r)
		return r;
	r = gkf_mig_gi_destroy(m, device, ci.gi, GKF_MIG_ANY_LIFE);
	return r == GK_ERR_IN_USE ? 0 : r;
}

static int do_mig_destroy(struct gkf_machine *m, const struct gkf_step *step,
			  const char *text)
{
	struct gkf_mig_ci ci;
	int r = 0;

	(void)text;
	if (step->number != UINT32_MAX)
		return destroy_mig(m, step->device, step->number);
	for (unsigned i = 0; !r && i < GKF_MIG_MAX; i++)
		if (!gkf_mig_by_index(m, step->device, i, &ci))
			r = destroy_mig(m, step->device, i);
	for (unsigned gi = 0; !r && gi < GKF_MIG_GIS; gi++) {
		r = gkf_mig_gi_destroy(m, step->device, gi, GKF_MIG_ANY_LIFE);
		r = r == GK_ERR_NOT_FOUND ? 0 : r;
	}
	return r;
}

/* The instance of the MIG device given for a load, or GKF_NO_INSTANCE. */
static uint32_t find_mig_device(struct gkf_machine *m,
				const struct gkf_step *step)
{
	struct gkf_mig_ci ci;

	if (step->argument < 0 || step->argument >= GKF_MIG_MAX ||
	    gkf_mig_by_index(m, step->device, (unsigned)step->argument, &ci))
		return GKF_NO_INSTANCE;
	return GKF_INSTANCE(ci.gi, ci.id);
}

static int do_place(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text)
{
	unsigned high = gkf_slots_high(m);
	uint32_t place = find_mig_device(m, step);
	struct gkf_slot slot;

	(void)text;
	for (unsigned i = 0; i < high; i++)
		if (gkf_slot_read_on(m, i, step->device, &slot, NULL) &&
		    slot.wave.load == step->number)
			__atomic_store_n(&m->file->slot[i].instance, place,
					 __ATOMIC_RELAXED);
	return place == GKF_NO_INSTANCE ? GK_ERR_NOT_FOUND : 0;
}

static int do_memory(struct gkf_machine *m, const struct gkf_step *step,
		     const char *text)
{
	unsigned high = gkf_slots_high(m);
	struct gkf_slot slot;

	(void)text;
	for (unsigned i = 0; i < high; i++) {
		if (!gkf_slot_read_on(m, i, step->device, &slot, NULL) ||
		    slot.wave.load != step->number)
			continue;
		atomic_store(&m->file->slot[i].bytes, (uint64_t)step->argument);
		gkf_account_holds(m, i, (uint64_t)step->argument);
	}
	return 0;
}

static step_fn *const kinds[GKF_STEP_KINDS] = {
    [GKF_STEP_NOTE] = do_note,
    [GKF_STEP_SET] = do_set,
    [GKF_STEP_FAULT] = do_fault,
    [GKF_STEP_MEND] = do_mend,
    [GKF_STEP_XID] = do_xid,
    [GKF_STEP_ECC] = do_ecc,
    [GKF_STEP_RESET] = do_reset,
    [GKF_STEP_MACHINE_FAULT] = do_machine_fault,
    [GKF_STEP_RULE] = do_rule,
    [GKF_STEP_RULE_DROP] = do_rule_drop,
    [GKF_STEP_MIG_MODE] = do_mig_mode,
    [GKF_STEP_MIG_CREATE] = do_mig_create,
    [GKF_STEP_MIG_DESTROY] = do_mig_destroy,
    [GKF_STEP_PLACE] = do_place,
    [GKF_STEP_MEMORY] = do_memory,
};

int gkf_scenario_do(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text)
{
	bool of_machine = step->kind == GKF_STEP_NOTE ||
			  step->kind == GKF_STEP_MACHINE_FAULT ||
			  step->kind == GKF_STEP_RULE ||
			  step->kind == GKF_STEP_RULE_DROP;

	GK_ASSERT(gkf_lock_held(m));
	if (step->kind >= GKF_STEP_KINDS ||
	    (!of_machine && step->device >= m->device_count))
		return GK_ERR_RANGE;
	if (!of_machine)
		gkf_state_advance(m, step->device);
	return kinds[step->kind](m, step, text);
}

/* ---- due steps ---- */

static void apply_step(struct gkf_machine *m, unsigned index,
		       const struct gkf_step *step)
{
	struct gkf_scenario_head *head = &m->file->scenario;
	char text[GKF_STEP_TEXT_MAX];
	int r;

	gkf_scenario_text(m, step, text);
	r = gkf_scenario_do(m, step, text);
	if (step->kind == GKF_STEP_NOTE)
		atomic_store(&head->note, index + 1);
	if (!r)
		return;
	atomic_fetch_add(&head->failed, 1);
	gk_log(GK_LOG_WARN, "step %u of the scenario: %s", index,
	       gk_strerror(r));
}

/*
 * While a step is applied, this thread's clock shows the time of the step, and
 * gkf_lock() knows that this thread holds the lock.
 */
void gkf_scenario_apply(struct gkf_machine *m, uint64_t bin)
{
	struct gkf_scenario_head *head = &m->file->scenario;
	uint64_t done = atomic_load(&head->done), next = UINT64_MAX;
	struct gkf_step step;

	GK_ASSERT(gkf_lock_held(m));
	if (done >= m->steps || gkf_applying(m))
		return;
	for (; done < m->steps; done++) {
		bool sound = gkf_scenario_step(m, (unsigned)done, &step);

		if (sound && step.bin > bin) {
			next = step.bin * GKF_BIN_NS;
			break;
		}
		if (sound) {
			gkf_apply_at(m, step.bin * GKF_BIN_NS);
			apply_step(m, (unsigned)done, &step);
			gkf_apply_end(m);
		}
		atomic_store(&head->done, done + 1);
	}
	atomic_store(&head->next_ns, next);
}
