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

enum {
	GKL_SHARE_BINS = 1872,
	GKL_SHARE_SEEN = 128,
	GKL_SHARE_WAITS = 16,
	GKL_SHARE_PARTNERS = 16
};

struct gkl_share {
	/* When the time that was taken will have accrued, and the percentage
	 * that this was worked out with: 57 and 7 bits. */
	_Atomic uint64_t due;
	_Atomic uint64_t wanted_ns;   /* somebody last launched, or waited */
	_Atomic uint64_t far_ns;      /* the end of the last interval
				    longer than the ring */
	_Atomic uint64_t launched_ns; /* somebody last launched */
	_Atomic uint64_t waited;      /* the next of `wait` */
	/* The number of a bin above, its nanoseconds below: 40 and 24 bits. */
	_Atomic uint64_t bin[GKL_SHARE_BINS];
	_Atomic uint64_t seen[GKL_SHARE_SEEN];
	/* How long the last launches waited: see gkl_share_meet(). */
	_Atomic uint64_t wait[GKL_SHARE_WAITS];
	/* With devices of higher numbers. */
	_Atomic uint64_t bond[GKL_SHARE_PARTNERS];
	/* Of pace.h: the last launch that is measured, what is over of them,
	 * when all should be; launches since partners were let in. */
	_Atomic uint64_t begun_ns, over_ns, expected_ns, bout;
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

/* Says that a launch is let in now that asked for it at since_ns. */
void gkl_share_let_in(struct gkl_share *share, uint64_t since_ns,
		      uint64_t now_ns);
/* Says that launches were let in before without being told. */
void gkl_share_were_let_in(struct gkl_share *share, uint64_t now_ns);
uint64_t gkl_share_launched(const struct gkl_share *share);

/*
 * Kernels on several devices may wait for each other inside. Who is let in
 * first waits, busy, for the last, has to wait the longer for that here, and is
 * the last the next time, by more than the other was: each time longer. So such
 * devices are found, and who launches on one waits for the others' time, too.
 *
 * meet: notes that a kernel on device `mine` of `count` shares took longer than
 * it needs by itself (least_ns): whether it ended when a launch on another
 * device had just been let in that had waited all that while. By chance that is
 * rare, so three such kernels must have found the same, unless it waited
 * for so long that chance is rare enough. Answers 0: it waited for nobody, 1:
 * it seems to have waited, 2: it has.
 */
unsigned int gkl_share_meet(struct gkl_share *const share[], unsigned int count,
			    unsigned int mine, uint64_t begin_ns,
			    uint64_t end_ns, uint64_t least_ns);

/*
 * Who goes together is not seen to wait any more. So now and then they go by
 * themselves, and what they do is to be watched.
 */
enum gkl_partners { GKL_NO_PARTNERS, GKL_WERE_PARTNERS, GKL_PARTNERS };
enum gkl_partners gkl_share_partners(struct gkl_share *const share[],
				     unsigned int a, unsigned int b,
				     uint64_t now_ns);

#endif
