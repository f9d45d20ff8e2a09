/*
 * state.h - what a GPU is at a moment, in one word: lost, hot, busy... Every
 * screen and page that names a state has it from here.
 */
#ifndef GK_FORMAT_STATE_H
#define GK_FORMAT_STATE_H

#include "core/held.h"
#include "format/identity.h"

#include <gpukit/gpukit.h>

#define GK_SEEN_GPUS 64 /* GPUs that are remembered */

/* Since when a GPU is as it is; CLOCK_MONOTONIC, 0: it is not so. */
struct gk_seen_gpu {
	struct gk_identity who;
	uint64_t idle_ns, ecc_ns, heat_ns, held_ns;
	const char *held_by; /* the words of what holds it since held_ns */
	int64_t ecc;
};

/* What has to be remembered from snapshot to snapshot. Zero it to start. */
struct gk_seen {
	struct gk_seen_gpu gpus[GK_SEEN_GPUS];
	int count;
};

/* Takes a snapshot in; each once, in their order. */
void gk_seen_take(struct gk_seen *seen, const struct gk_snapshot *snap);

/* The first that holds is what a GPU is. */
enum gk_state_kind {
	GK_STATE_LOST,
	GK_STATE_HUNG,
	GK_STATE_STALE,
	GK_STATE_UNREAD, /* has not answered yet */
	GK_STATE_ALERT,  /* uncorrected ECC errors or an Xid, of late */
	GK_STATE_HOT,
	GK_STATE_HELD, /* back by power, a brake, the hardware */
	GK_STATE_MIG,
	GK_STATE_BUSY,
	GK_STATE_UNKNOWN, /* it does not tell what it does: a MIG device */
	GK_STATE_IDLE,
	GK_STATE_KINDS
};

struct gk_state {
	enum gk_state_kind kind;
	bool slight; /* held back, but by less than 10 % of its clock */
	bool taken;  /* idle, but its memory is held */
	char words[64];
};

/* How a state is told. */
struct gk_state_options {
	int hot;   /* degrees Celsius from which on a GPU is; 0: never */
	int width; /* columns of the words; more from 24 and from 34 on */
};

/* "lost", "held"...: a word for programs. */
const char *gk_state_name(enum gk_state_kind kind);

/* The sign of a state: "✕". */
const char *gk_state_glyph(enum gk_state_kind kind);

/* snap is the last one that seen has taken in, device one of its devices. */
struct gk_state gk_state_of(const struct gk_seen *seen,
			    const struct gk_snapshot *snap,
			    const struct gk_device *device,
			    struct gk_state_options options);

/* Whether a GPU does not tell its values any more. */
bool gk_device_gone(const struct gk_device *device);

/* The power limit in force. */
struct gk_value gk_power_limit(const struct gk_device *device);

/* Why it is in trouble: "Xid 79: GPU has fallen off the bus", else what
 * gk_device_trouble() says; "" where nothing is wrong. */
#define GK_WHY_MAX 160
char *gk_state_why(char dst[GK_WHY_MAX], const struct gk_snapshot *snap,
		   const struct gk_device *device);

/* "3m", "42s". */
#define GK_AGE_MAX 16
char *gk_age_text(char dst[GK_AGE_MAX], uint64_t ns);

#endif
