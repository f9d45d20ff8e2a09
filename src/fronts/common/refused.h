/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused.h - the reasons of refused.def, by number. For a row of nvml.def,
 * cuda.def or cudart.def, WHY_##refused is the number of its reason.
 */
#ifndef GKF_REFUSED_H
#define GKF_REFUSED_H

enum refusal {
	NO_REASON,
#define REASON(id, text) REASON_##id,
#include "fronts/common/refused.def"
#undef REASON
	REASONS
};

#define WHY_DONE        NO_REASON
#define WHY_REFUSED(id) REASON_##id

static const char refusal_reasons[REASONS][64] = {
    "a made-up GPU does not do this",
#define REASON(id, text) text,
#include "fronts/common/refused.def"
#undef REASON
};

#endif
