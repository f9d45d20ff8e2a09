/*
 * share.h - a group's share of one GPU's time: plain arithmetic on a few words
 * that all processes of the group map (gkl_ledger_share()). Nobody locks them,
 * and whoever is killed between two of them leaves them usable.
 *
 * Time that the group may use accrues, `percent` of what goes by, and is taken
 * by launches: in advance what such work took before, the rest when it has been
 * measured. Below zero launches wait; they wait for time to go by, never for
 * another's work to end, so kernels that wait for each other get on.
 *
 * What is measured are intervals of CLOCK_MONOTONIC in which a stream of some
 * process had work. The device's time is their union: processes that share it
 * by slices wait within each other's intervals.
 *
 * percent 0: no limit. GKL_SHARE_ALONE: above anything that can be used.
 */
#ifndef GKL_SHARE_H
#define GKL_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GKL_SHARE_ALONE 127

/* So much time goes by until a group that rests has all that it may save. */
#define GKL_SHARE_SAVED_NS 20000000ULL

/* Within bins of this length what is busy is added up; the ring of them. */
#define GKL_SHARE_BIN_NS 250000ULL

/* The same for reports, which count what was not measured, too. */
#define GKL_SHARE_SEEN_NS 16000000ULL

enum { GKL_SHARE_BINS = 1890, GKL_SHARE_SEEN = 128, GKL_SHARE_LAST = 16 };

struct gkl_share {
	/* When the time that was taken will have accrued, and the percentage
	 * that this was worked out with: 57 and 7 bits. */
	_Atomic uint64_t due;
	_Atomic uint64_t wanted_ns; /* somebody last launched, or waited */
	_Atomic uint64_t far_ns;    /* the end of the last interval
				  longer than the ring */
	_Atomic uint64_t met;       /* the next of `last` */
	/* The number of a bin above, its nanoseconds below: 40 and 24 bits. */
	_Atomic uint64_t bin[GKL_SHARE_BINS];
	_Atomic uint64_t seen[GKL_SHARE_SEEN];
	/* The last long intervals: see gkl_share_meet(). */
	_Atomic uint64_t last[GKL_SHARE_LAST];
};

/*
 * Nanoseconds of the device's time that may be taken now; below zero: taken
 * already. It is at most what accrues in GKL_SHARE_SAVED_NS.
 */
int64_t gkl_share_level(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns);

/*
 * How long until the level is not below what accrues in saved_ns; 0: it is not.
 */
uint64_t gkl_share_wait(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns, uint64_t saved_ns);

/* Takes time, or gives it back (negative). */
void gkl_share_take(struct gkl_share *share, unsigned int percent,
		    uint64_t now_ns, int64_t ns);

/* Counts an interval as busy; answers how much of it nobody had counted. */
uint64_t gkl_share_cover(struct gkl_share *share, uint64_t begin_ns,
			 uint64_t end_ns);

/* Shows an interval in reports: what was covered, or what is thought to be. */
void gkl_share_show(struct gkl_share *share, uint64_t begin_ns,
		    uint64_t end_ns);

/* How much of [now - window, now) was busy; the ring has two seconds. */
uint64_t gkl_share_busy(const struct gkl_share *share, uint64_t now_ns,
			uint64_t window_ns);

/* Says that the group wants the device; when it last did. */
void gkl_share_want(struct gkl_share *share, uint64_t now_ns);
uint64_t gkl_share_wanted(const struct gkl_share *share);

/*
 * Kernels on several devices that wait for each other inside end together. The
 * one that was let in first waited for the last, and its group had to wait
 * the longer for it there, and so on: each time a larger part of the time.
 * Therefore what the first waited is taken from the shares of both.
 *
 * Notes a long interval on device `mine` of `count` shares, and takes what is
 * to be taken where another ended with it. By chance that is rare.
 */
void gkl_share_meet(struct gkl_share *const share[], unsigned int count,
		    unsigned int mine, const unsigned int percent[],
		    uint64_t begin_ns, uint64_t end_ns);

#endif
