/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the current state of a GPU in one word: lost, hot, busy, and so on.
 * All screens and pages use it.
 */
#ifndef GK_FORMAT_STATE_H
#define GK_FORMAT_STATE_H

#include "core/read/held.h"
#include "format/condition.h"
#include "format/identity.h"

#include <gpukit/gpukit.h>

#define GK_SEEN_GPUS 64 /* maximum number of GPUs to remember */

/*
 * When each state of a GPU began, by CLOCK_MONOTONIC; 0: the GPU is not in that
 * state. If the time equals first_ns, the state may have begun long before.
 */
struct gk_seen_gpu {
	struct gk_identity who;
	uint64_t first_ns; /* when the GPU was first seen */
	uint64_t idle_ns, ecc_ns, heat_ns, held_ns, condition_ns;
	/* the reason why its clocks are held back since held_ns */
	const char *held_by;
	const struct gk_condition *condition; /* the GPU's worst condition
					       * since condition_ns */
	int64_t ecc;
	bool whole; /* all tiers have been read at least once */
};

/* The facts remembered from earlier snapshots. Zero it to start. */
struct gk_seen {
	struct gk_seen_gpu gpus[GK_SEEN_GPUS];
	int count;
};

/* Remembers a snapshot; call it once for each, in order. */
void gk_seen_take(struct gk_seen *seen, const struct gk_snapshot *snap);

/* The states of a GPU. If several apply, the first one in this list counts. */
enum gk_state_kind {
	GK_STATE_LOST,
	GK_STATE_ERROR, /* the driver returns only errors */
	GK_STATE_HUNG,
	GK_STATE_STALE,
	GK_STATE_UNREAD, /* has not answered yet */
	GK_STATE_FAULT,  /* must be reset or replaced; see condition.h */
	GK_STATE_ALERT,  /* uncorrected ECC errors or an Xid in the last
			  * minutes */
	GK_STATE_HOT,
	/* works less well than it could, until it is repaired */
	GK_STATE_DEGRADED,
	/* clocks held back by a power cap, a power brake or the hardware */
	GK_STATE_HELD,
	GK_STATE_MIG,
	GK_STATE_BUSY,
	GK_STATE_UNKNOWN, /* a MIG device, whose load is unknown */
	GK_STATE_IDLE,
	GK_STATE_KINDS
};

struct gk_state {
	enum gk_state_kind kind;
	bool slight; /* the state is HELD, but clocks are less than 10 %
		      * lower */
	bool taken;  /* the state is IDLE, but memory is in use */
	char words[64];
};

/* How to describe a state. */
struct gk_state_options {
	int hot;   /* °C from which a GPU counts as hot; 0: never */
	int width; /* maximum columns of the text; from 24 and from 34 on, it
		    * has more facts */
};

/* Returns a state's name for use by programs: "lost", "held", and so on. */
const char *gk_state_name(enum gk_state_kind kind);

/* Returns the symbol of a state, such as "✕". */
const char *gk_state_glyph(enum gk_state_kind kind);

/*
 * Returns a device's state. snap must be the last snapshot passed to
 * gk_seen_take().
 */
struct gk_state gk_state_of(const struct gk_seen *seen,
			    const struct gk_snapshot *snap,
			    const struct gk_device *device,
			    struct gk_state_options options);

/* Whether a GPU no longer reports its values. */
bool gk_device_gone(const struct gk_device *device);

/* Whether the state needs attention. */
bool gk_state_is_trouble(const struct gk_state *state);

/*
 * Whether the state is a failure, not just reduced clocks or performance.
 */
bool gk_state_fails(enum gk_state_kind kind);

/* Returns the power limit that is in force. */
struct gk_value gk_power_limit(const struct gk_device *device);

/*
 * Formats why a GPU is in trouble: its condition and its last Xid ("Xid 79: GPU
 * has fallen off the bus"), or the text of gk_device_trouble(). Writes "" if
 * there is no trouble.
 */
#define GK_WHY_MAX 224
char *gk_state_why(char dst[GK_WHY_MAX], const struct gk_snapshot *snap,
		   const struct gk_device *device);

/* "3m", "42s". */
#define GK_AGE_MAX 16
char *gk_age_text(char dst[GK_AGE_MAX], uint64_t ns);

/*
 * How long something has lasted. If at_least is set, it had begun before it was
 * first seen, so the true duration may be longer.
 */
struct gk_lasting {
	uint64_t ns;
	bool at_least;
};

/* Writes "for 3m" or "for at least 3m"; if brief is set, "3m" or "3m+". */
#define GK_LASTING_MAX 32
char *gk_lasting_text(char dst[GK_LASTING_MAX], struct gk_lasting lasting,
		      bool brief);

#endif
