/*
 * identity.h - which GPU something is of, from snapshot to snapshot: the one
 * with a UUID. A GPU that was lost or hung from the start has told none: until
 * it does, it is known by its index.
 */
#ifndef GK_FORMAT_IDENTITY_H
#define GK_FORMAT_IDENTITY_H

#include <gpukit/gpukit.h>

/* Zeroed: GPU 0. */
struct gk_identity {
	char uuid[GK_NAME_MAX]; /* "": it has told none yet */
	unsigned index;         /* NVML index of the GPU */
};

struct gk_identity gk_identity_of(const struct gk_device *gpu);

/* Whether a device is that GPU; a MIG device is none. */
bool gk_identity_is(const struct gk_identity *who,
		    const struct gk_device *device);

/* Takes in what that GPU tells of itself by now. */
void gk_identity_follow(struct gk_identity *who, const struct gk_device *gpu);

/* That GPU in a snapshot; NULL: it is not there. */
const struct gk_device *gk_identity_find(const struct gk_identity *who,
					 const struct gk_snapshot *snap);

/* The same as a text, of MIG devices too: the UUID, else "GPU 3". Room for
 * GK_NAME_MAX bytes. */
char *gk_identity_text(char *dst, const struct gk_device *device);

#endif
