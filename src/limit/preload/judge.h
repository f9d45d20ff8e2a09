/*
 * judge.h - what measures of launches tell. Used by throttle.c and turn.c.
 */
#ifndef GKL_PRELOAD_JUDGE_H
#define GKL_PRELOAD_JUDGE_H

#include "limit/preload/place.h"
#include "limit/work.h"

extern struct gkl_work_table judge_works;

/* True: the next launch is to be measured by itself, since a stretch of them
 * told more than was paid for it. */
bool judge_take_doubt(void);

/* What is not measured counts as what such work usually takes. */
void judge_count_unmeasured(struct place *p, uint64_t ns);

#endif
