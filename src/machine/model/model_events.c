/* SPDX-License-Identifier: Apache-2.0 */
/* model_events.c - sends events about changed values; see model_events.h. */
#include "machine/model/model_events.h"
#include "abi/nvml/nvml_abi.h"
#include "base/assert.h"
#include "machine/file/event_state.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/physics.h"
#include "machine/store/event.h"
#include "machine/store/writers_lock.h"

#include <stddef.h>

/* Values whose change is an event, and the state words they come from. */
static const struct {
	enum gkf_value value;
	uint64_t type;
	bool only_more;
	size_t word; /* the word's index in struct gkf_state + 1; 0: none */
} noticed[] = {
#define WORD(member) (offsetof(struct gkf_state, member) / sizeof(int64_t) + 1)
    {GKF_V_PSTATE, nvmlEventTypePState, false, WORD(pstate)},
    {GKF_V_SM_CLOCK, nvmlEventTypeClock, false, WORD(sm_clock_mhz)},
    {GKF_V_MEM_CLOCK, nvmlEventTypeClock, false, WORD(mem_clock_mhz)},
    {GKF_V_POWER_SOURCE, nvmlEventTypePowerSourceChange, false, 0},
    {GKF_V_ECC_CORRECTED, nvmlEventTypeSingleBitEccError, true, 0},
    {GKF_V_ECC_UNCORRECTED, nvmlEventTypeDoubleBitEccError, true, 0},
#undef WORD
};
#define NOTICED (sizeof noticed / sizeof *noticed)

/* Sends one event of each type, however many of its values have changed. */
static void push_types(struct gkf_machine *m, unsigned device, uint64_t types)
{
	for (; types; types &= types - 1)
		gkf_event_push(m, device, types & -types, 0, GKF_NO_INSTANCE);
}

static void push_system(struct gkf_machine *m, unsigned device, uint64_t type)
{
	gkf_event_push(m, device, GKF_EVENT_SYSTEM | type, 0, GKF_NO_INSTANCE);
}

void gkf_model_events_step(struct gkf_machine *m, unsigned device,
			   const struct gkf_drive *drive,
			   const struct gkf_state *before,
			   const struct gkf_state *after)
{
	const int64_t *was = (const int64_t *)before;
	const int64_t *is = (const int64_t *)after;
	uint64_t types = 0;

	GK_ASSERT(gkf_lock_held(m));
	for (size_t i = 0; i < NOTICED; i++) {
		size_t word = noticed[i].word;

		if (word && drive->set[noticed[i].value] == GKF_UNSET &&
		    was[word - 1] != is[word - 1])
			types |= noticed[i].type;
	}
	push_types(m, device, types);
}

void gkf_model_events_set(struct gkf_machine *m, unsigned device,
			  enum gkf_value value, int64_t before, int64_t now)
{
	GK_ASSERT(gkf_lock_held(m));
	if (now == before)
		return;
	for (size_t i = 0; i < NOTICED; i++)
		if (noticed[i].value == value &&
		    (now > before || !noticed[i].only_more))
			push_types(m, device, noticed[i].type);
	/* The driver unbinds from a GPU that is removed. */
	if (value == GKF_V_REMOVED)
		push_system(m, device,
			    now ? nvmlSystemEventTypeGpuDriverUnbind
				: nvmlSystemEventTypeGpuDriverBind);
}
