/*
 * keep.h - the frames of the last five to ten minutes, one a second.
 */
#ifndef GK_CLI_TOP_KEEP_H
#define GK_CLI_TOP_KEEP_H

#include "tui/keep.h"

struct top_keep;

/* NULL without memory: nothing is kept then. */
struct top_keep *top_keep_new(void);
void top_keep_free(struct top_keep *keep);

/* What the viewer asks; NULL of NULL. */
const struct tui_keep *top_keep_frames(const struct top_keep *keep);

#endif
