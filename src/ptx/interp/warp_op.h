/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp_op.h - values of op->imm for operations in which the lanes of a warp
 * cooperate.
 */
#ifndef GKF_PTX_WARP_OP_H
#define GKF_PTX_WARP_OP_H

#include "ptx/interp/op.h"

enum gkf_warp_how {
	GKF_SHUFFLE_UP,
	GKF_SHUFFLE_DOWN,
	GKF_SHUFFLE_XOR,
	GKF_SHUFFLE_INDEX,
	GKF_VOTE_BALLOT,
	GKF_VOTE_ALL,
	GKF_VOTE_ANY,
	GKF_VOTE_SAME,
	GKF_MATCH_ANY,
	GKF_MATCH_ALL,
	GKF_REDUCE_ADD,
	GKF_REDUCE_MIN_U,
	GKF_REDUCE_MAX_U,
	GKF_REDUCE_MIN_S,
	GKF_REDUCE_MAX_S,
	GKF_REDUCE_AND,
	GKF_REDUCE_OR,
	GKF_REDUCE_XOR,
};

#endif
