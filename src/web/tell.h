/*
 * tell.h - what a page is told of this machine: events as JSON objects of one
 * line. Values have the names of `gpukit stat --json`; those that are absent
 * are left out. docs/WEB.md describes them.
 */
#ifndef GK_WEB_TELL_H
#define GK_WEB_TELL_H

#include "base/str.h"
#include "format/owners.h"
#include "format/state.h"

/* Since when a GPU has been in trouble. */
struct gk_trouble {
	struct gk_identity who;
	enum gk_state_kind kind;
	uint64_t since_ns; /* CLOCK_MONOTONIC; 0: it is not */
	uint64_t since_wall_ns;
};

/* What is remembered from snapshot to snapshot. Zero it to start. */
struct gk_teller {
	struct gk_seen seen;
	struct gk_owners owners;
	struct gk_trouble troubles[GK_SEEN_GPUS];
	int trouble_count;
};

/* Takes a snapshot in; what follows is of this one. */
void gk_tell_take(struct gk_teller *teller, const struct gk_snapshot *snap);

/* Who the host and its GPUs are. */
void gk_tell_hello(struct gk_buf *out, const struct gk_snapshot *snap,
		   uint64_t interval_ns);

/* What changes all the time. */
void gk_tell_frame(struct gk_buf *out, const struct gk_teller *teller,
		   const struct gk_snapshot *snap);

/* The other values of the GPUs. */
void gk_tell_details(struct gk_buf *out, const struct gk_snapshot *snap);

/* Who uses the GPUs; commands: with their arguments and directories, which can
 * hold secrets. */
void gk_tell_processes(struct gk_buf *out, const struct gk_teller *teller,
		       const struct gk_snapshot *snap, bool commands);

/* GPUs in trouble, what failed first. */
void gk_tell_alerts(struct gk_buf *out, const struct gk_teller *teller,
		    const struct gk_snapshot *snap);

#endif
