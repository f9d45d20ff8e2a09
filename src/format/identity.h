/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - recognises a GPU from snapshot to snapshot by its UUID. If a GPU
 * was lost or hung from the start, its UUID is unknown; its index then
 * identifies it until it reports its UUID.
 */
#ifndef GK_FORMAT_IDENTITY_H
#define GK_FORMAT_IDENTITY_H

#include <gpukit/gpukit.h>

/* A zeroed identity is GPU 0. */
struct gk_identity {
	char uuid[GK_NAME_MAX]; /* "" while it is unknown */
	unsigned index;         /* NVML index of the GPU */
};

struct gk_identity gk_identity_of(const struct gk_device *gpu);

/* Whether a device is the identified GPU; false for MIG devices. */
bool gk_identity_is(const struct gk_identity *who,
		    const struct gk_device *device);

/* Updates an identity with the UUID and index that the GPU reports now. */
void gk_identity_follow(struct gk_identity *who, const struct gk_device *gpu);

/* Returns the identified GPU in a snapshot, or NULL if it is missing. */
const struct gk_device *gk_identity_find(const struct gk_identity *who,
					 const struct gk_snapshot *snap);

/*
 * Formats a device's identity: its UUID or, if that is unknown, "GPU 3".
 * Accepts MIG devices. dst must have GK_NAME_MAX bytes.
 */
char *gk_identity_text(char *dst, const struct gk_device *device);

#endif
