/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.h - formats this machine's state as events for a page: JSON objects of
 * one line each. Values have the same names as in `gpukit stat --json`; absent
 * ones are left out. docs/WEB.md describes the events.
 */
#ifndef GK_WEB_TELL_H
#define GK_WEB_TELL_H

#include "base/str.h"
#include "format/owners.h"
#include "format/state.h"

/* A GPU's trouble, and when it began. */
struct gk_trouble {
	struct gk_identity who;
	enum gk_state_kind kind;
	uint64_t since_ns; /* CLOCK_MONOTONIC; 0: not in trouble */
	uint64_t since_wall_ns;
	bool seen;
	bool from_start; /* already in trouble when we first saw the GPU */
};

/* State kept between snapshots. Zero it to start. */
struct gk_teller {
	struct gk_seen seen;
	struct gk_owners owners;
	struct gk_trouble troubles[GK_SEEN_GPUS];
	int trouble_count;
};

/*
 * Records a snapshot. The functions below must be called with the same
 * snapshot.
 */
void gk_tell_take(struct gk_teller *teller, const struct gk_snapshot *snap);

/* Formats the identity of the host and its GPUs. */
void gk_tell_hello(struct gk_buf *out, const struct gk_snapshot *snap,
		   uint64_t interval_ns);

/* Formats the values that change constantly. */
void gk_tell_frame(struct gk_buf *out, const struct gk_teller *teller,
		   const struct gk_snapshot *snap);

/* Formats all metrics of the GPUs, including those that a frame leaves out. */
void gk_tell_details(struct gk_buf *out, const struct gk_snapshot *snap);

/*
 * Formats the processes on the GPUs. If `commands` is set, includes their
 * arguments and working directories, which may contain secrets.
 */
void gk_tell_processes(struct gk_buf *out, const struct gk_teller *teller,
		       const struct gk_snapshot *snap, bool commands);

/* Formats the alerts of GPUs in trouble, failures first. */
void gk_tell_alerts(struct gk_buf *out, const struct gk_teller *teller,
		    const struct gk_snapshot *snap);

#endif
