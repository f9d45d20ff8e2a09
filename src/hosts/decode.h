/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - converts the JSON of `gpukit stat --json --why` back to a
 * snapshot.
 */
#ifndef GK_HOSTS_DECODE_H
#define GK_HOSTS_DECODE_H

#include "core/snapshot.h"

#include <gpukit/gpukit.h>
#include <jansson.h>

/* Limits for one machine. */
#define GK_DECODE_DEVICES   GK_SNAPSHOT_DEVICES
#define GK_DECODE_PROCESSES GK_SNAPSHOT_PROCESSES

/*
 * Makes a snapshot from the JSON of another machine, which is not trusted:
 * texts become printable, impossible numbers become absent. Unknown keys are
 * ignored; values whose keys are missing become GK_ABSENT_NOT_READ. now_ns
 * (CLOCK_MONOTONIC) is the snapshot's time on this machine, from which ages are
 * subtracted. Returns GK_ERR_CORRUPT if the JSON is not a snapshot,
 * GK_ERR_VERSION if it has the schema of another version, or GK_ERR_TOO_MANY
 * (only from gk_decode_text()) if it would need more memory than any machine's
 * snapshot.
 */
int gk_decode_snapshot(const json_t *root, uint64_t now_ns,
		       struct gk_snapshot **ret_snap);

/* Like gk_decode_snapshot(), but parses the text first. */
int gk_decode_text(const char *text, size_t len, uint64_t now_ns,
		   struct gk_snapshot **ret_snap);

#endif
