/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - the owners of values: a GPU in a file, a process on a GPU, or the
 * host. A subject has lines, events, and sums over time.
 */
#ifndef GK_PLOT_SUBJECT_H
#define GK_PLOT_SUBJECT_H

#include "plot/sheet.h"
#include "plot/track.h"

enum gk_plot_kind { GK_PLOT_GPU, GK_PLOT_PROCESS, GK_PLOT_HOST };

/* Events; each has its own symbol. */
enum gk_plot_event {
	GK_PLOT_BY_POWER, /* clocks held back by the power limit or a brake */
	GK_PLOT_BY_HEAT,
	GK_PLOT_LOST,
	GK_PLOT_XID_CAME,
	GK_PLOT_ECC_CAME,
	GK_PLOT_EVENTS
};

struct gk_plot_run {
	enum gk_plot_event event;
	int64_t from_ms, to_ms;
	int number; /* number of the Xid */
};

/* Reasons why clocks are held back: bits of nvmlClocksEventReasons. */
struct gk_plot_reason {
	unsigned bit;
	const char *name, *words;
};

#define GK_PLOT_REASON_COUNT 5
extern const struct gk_plot_reason gk_plot_reasons[GK_PLOT_REASON_COUNT];

/* An allocated GPU with a utilisation below this percentage counts as idle. */
#define GK_PLOT_BUSY_LEAST 5

/* Zero it to start. */
struct gk_plot_subject {
	uint64_t hash;
	enum gk_plot_kind kind;
	unsigned file; /* index */
	char *label;   /* "GPU 0", or a pid and a command; any bytes */
	char *model;   /* NULL: unknown */
	struct gk_plot_subject *gpu; /* the GPU of a process; else NULL */
	struct gk_plot_track *tracks[GK_PLOT_QUANTITIES]; /* or NULL */
	struct gk_plot_run *runs;
	size_t run_count, run_cap;
	bool seen;   /* has had values */
	bool lost;   /* lost at the end */
	bool chosen; /* runs a process that the user has selected */
	int64_t first_ms, last_ms;
	/*
	 * Sums in seconds, except watt_seconds. They cover only times at which
	 * the GPU answered.
	 */
	double seconds, idle, throttled, by_reason[GK_PLOT_REASON_COUNT];
	double watt_seconds; /* energy used; for a process, estimated from
			      * its SM time */
	/* The next fields belong to the current moment. */
	bool touched, lost_now, silent_now;
	uint32_t filled; /* set of quantities that have a value */
	double now[GK_PLOT_QUANTITIES];
	int xids[GK_PLOT_XIDS_MAX]; /* the last Xids, in order */
	unsigned xid_count;
	double busy_of_processes;
	bool allocated;
};

void gk_plot_subject_free(struct gk_plot_subject *subject);

/* Returns the track of a quantity, or NULL. */
static inline const struct gk_plot_track *
gk_plot_track_of(const struct gk_plot_subject *subject,
		 enum gk_plot_quantity quantity)
{
	return subject->tracks[quantity];
}

/*
 * The part of a moment that all subjects share: its time, its weight, and the
 * width of bins.
 */
struct gk_plot_moment {
	/* Times of this moment and of the previous one. */
	int64_t ms, before_ms;
	double seconds;
	unsigned shift;
	bool processes_known; /* the file lists processes */
	bool process_lines;   /* keep lines of processes */
};

/*
 * Ends a moment: adds its values to the lines and sums of a subject. Call it
 * first for all processes, then for their GPUs; after that call
 * gk_plot_subject_share() for the processes. Returns 0 or GK_ERR_NOMEM.
 */
int gk_plot_subject_end(struct gk_plot_subject *subject,
			const struct gk_plot_moment *moment);
void gk_plot_subject_share(struct gk_plot_subject *process,
			   const struct gk_plot_moment *moment);
void gk_plot_subject_clear(struct gk_plot_subject *subject);

/* Returns watt-hours, or NaN if unknown. */
double gk_plot_subject_energy(const struct gk_plot_subject *subject);

#endif
