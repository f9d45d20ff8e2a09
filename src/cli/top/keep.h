/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h - keeps the frames of the last five to ten minutes, one per second. */
#ifndef GK_CLI_TOP_KEEP_H
#define GK_CLI_TOP_KEEP_H

#include "tui/model/keep.h"

struct top_keep;

/*
 * Returns NULL if out of memory. The other functions accept NULL, and keep
 * nothing.
 */
struct top_keep *top_keep_new(void);
void top_keep_free(struct top_keep *keep);

/*
 * Returns the interface through which the viewer reads the frames, or NULL if
 * keep is NULL.
 */
const struct tui_keep *top_keep_frames(const struct top_keep *keep);

#endif
