/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - a group's share of one GPU's time: plain arithmetic on a few words
 * that all processes of the group map (gkl_ledger_share()), without locks. The
 * words stay usable if a process is killed between changes of two of them.
 *
 * Time accrues to the group at `percent` of the clock. A launch takes some in
 * advance, as much as such work took before, and the rest once it has been
 * measured. While the balance is below zero, launches wait: for time to pass,
 * never for other work to end, so kernels that wait for each other still make
 * progress.
 *
 * Measurements are intervals of CLOCK_MONOTONIC in which a stream of some
 * process had work. The device's busy time is their union: processes that share
 * the device by time slices wait within each other's intervals.
 *
 * percent 0: no limit. GKL_SHARE_ALONE: a share that cannot be used up.
 */
#ifndef GKL_SHARE_H
#define GKL_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GKL_SHARE_ALONE 127

/*
 * For how long an idle group accrues time. This bounds the time that a group
 * can save.
 */
#define GKL_SHARE_SAVED_NS 20000000ULL

/* Busy time is summed in a ring of bins, each of this length. */
#define GKL_SHARE_BIN_NS 250000ULL

/*
 * Reports use a second ring, which also counts time that was not measured. This
 * is the length of its bins.
 */
#define GKL_SHARE_SEEN_NS 16000000ULL

enum {
	GKL_SHARE_BINS = 1872,
	GKL_SHARE_SEEN = 128,
	GKL_SHARE_WAITS = 16,
	GKL_SHARE_PARTNERS = 16
};

struct gkl_share {
	/*
	 * The time at which enough time will have accrued to pay for all that
	 * was taken, and the percentage used to compute it: 57 and 7 bits.
	 */
	_Atomic uint64_t due;
	_Atomic uint64_t wanted_ns; /* time of the last launch or wait */
	/*
	 * The latest end of an interval that began before the ring's oldest
	 * bin.
	 */
	_Atomic uint64_t far_ns;
	_Atomic uint64_t launched_ns; /* time of the last launch */
	_Atomic uint64_t waited;      /* index of the next entry of `wait` */
	/* A bin's number and its busy nanoseconds: 40 and 24 bits. */
	_Atomic uint64_t bin[GKL_SHARE_BINS];
	_Atomic uint64_t seen[GKL_SHARE_SEEN];
	/* How long the last launches waited: see gkl_share_meet(). */
	_Atomic uint64_t wait[GKL_SHARE_WAITS];
	/*
	 * bond[d], for a device d whose number is higher than this device's:
	 * whether kernels of the two devices wait for each other (see share.c).
	 */
	_Atomic uint64_t bond[GKL_SHARE_PARTNERS];
	/*
	 * For pace.h. begun_ns: when the last measured launch proceeded.
	 * over_ns: the greatest begun_ns of the launches that have ended.
	 * expected_ns: when all launches should have ended. bout: the latest
	 * bout, and its number of launches.
	 */
	_Atomic uint64_t begun_ns, over_ns, expected_ns, bout;
};

/*
 * Nanoseconds of device time that may be taken now, at most what accrues in
 * GKL_SHARE_SAVED_NS; negative: overdrawn.
 */
int64_t gkl_share_level(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns);

/*
 * The time until the balance is as large as what accrues in saved_ns; 0: it
 * already is.
 */
uint64_t gkl_share_wait(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns, uint64_t saved_ns);

/* Takes ns of time from the share or, if ns is negative, gives it back. */
void gkl_share_take(struct gkl_share *share, unsigned int percent,
		    uint64_t now_ns, int64_t ns);

/* Counts an interval as busy. Returns the part not counted before. */
uint64_t gkl_share_cover(struct gkl_share *share, uint64_t begin_ns,
			 uint64_t end_ns);

/*
 * Adds an interval, measured or estimated, to the busy time that reports show.
 */
void gkl_share_show(struct gkl_share *share, uint64_t begin_ns,
		    uint64_t end_ns);

/* How much of [now - window, now) was busy; the ring covers two seconds. */
uint64_t gkl_share_busy(const struct gkl_share *share, uint64_t now_ns,
			uint64_t window_ns);

/*
 * gkl_share_want() records that the group wants the device now;
 * gkl_share_wanted() returns when it last did.
 */
void gkl_share_want(struct gkl_share *share, uint64_t now_ns);
uint64_t gkl_share_wanted(const struct gkl_share *share);

/* Records that a launch which has waited since since_ns proceeds now. */
void gkl_share_let_in(struct gkl_share *share, uint64_t since_ns,
		      uint64_t now_ns);
/* Records that launches proceeded up to now without gkl_share_let_in(). */
void gkl_share_were_let_in(struct gkl_share *share, uint64_t now_ns);
uint64_t gkl_share_launched(const struct gkl_share *share);

/*
 * Finds out which devices have kernels that wait for each other, as those of
 * collective operations do.
 *
 * Of such kernels, the one that proceeds first busy-waits for the last one. Its
 * group is charged for that wait, so the group's next launch on that device
 * waits longer and proceeds last. The waits grow each time. They reveal such
 * devices; from then on, a launch on one of them also waits until the other
 * devices have time left.
 *
 * gkl_share_meet() is called when a kernel on device `mine` of `count` shares
 * took longer than it needs by itself (least_ns). It looks for a launch on
 * another device that waited all that time and proceeded just before the kernel
 * ended. That is rarely chance: three such kernels count as proof, and so does
 * a single one whose wait was too long to be chance. Returns 0 if the kernel
 * waited for nobody, 1 if it seems to have waited, 2 if it has waited.
 */
unsigned int gkl_share_meet(struct gkl_share *const share[], unsigned int count,
			    unsigned int mine, uint64_t begin_ns,
			    uint64_t end_ns, uint64_t least_ns);

/*
 * Devices found to be partners proceed together, so their waits for each other
 * no longer show. Now and then (GKL_WERE_PARTNERS) they proceed alone and are
 * watched.
 */
enum gkl_partners { GKL_NO_PARTNERS, GKL_WERE_PARTNERS, GKL_PARTNERS };
enum gkl_partners gkl_share_partners(struct gkl_share *const share[],
				     unsigned int a, unsigned int b,
				     uint64_t now_ns);

#endif
