/*
 * decode.h - the JSON of `gpukit stat --json --why` as a snapshot again.
 */
#ifndef GK_HOSTS_DECODE_H
#define GK_HOSTS_DECODE_H

#include <gpukit/gpukit.h>
#include <jansson.h>

/* The most that a machine may have. */
#define GK_DECODE_DEVICES   1024
#define GK_DECODE_PROCESSES 65536

/*
 * Makes a snapshot of what another machine says, which is not believed: texts
 * become printable, numbers that cannot be are absent. Keys that are not known
 * are passed over, values without a key are GK_ABSENT_NOT_READ. now_ns
 * (CLOCK_MONOTONIC) is the moment of the snapshot on this machine; ages are
 * counted back from there. GK_ERR_CORRUPT: it is no snapshot;
 * GK_ERR_VERSION: of a later version with other keys.
 */
int gk_decode_snapshot(const json_t *root, uint64_t now_ns,
		       struct gk_snapshot **ret_snap);

/* The same of its text. */
int gk_decode_text(const char *text, size_t len, uint64_t now_ns,
		   struct gk_snapshot **ret_snap);

#endif
