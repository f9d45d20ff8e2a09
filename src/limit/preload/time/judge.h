/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - learns from measurements of launches how long work takes. Used by
 * throttle.c and turn.c.
 */
#ifndef GKL_PRELOAD_JUDGE_H
#define GKL_PRELOAD_JUDGE_H

#include "limit/preload/time/quota.h"
#include "limit/work.h"

extern struct gkl_work_table judge_works;

/*
 * True: the next launch must be measured singly, because a stretch of launches
 * took longer than was charged for it.
 */
bool judge_take_doubt(void);

/* Counts unmeasured work as the time that such work usually takes. */
void judge_count_unmeasured(struct quota *q, uint64_t ns);

/*
 * Like judge_count_unmeasured(), but where nothing is limited. The counted time
 * begins at *until_ns or later, because earlier launches of the thread, which
 * owns *until_ns, run first. The counted time is merged with other counted
 * time.
 */
void judge_count_observed(struct quota *q, uint64_t ns, uint64_t *until_ns);

#endif
