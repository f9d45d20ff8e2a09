/*
 * pick.h - a part of a snapshot: the GPUs that --id names.
 */
#ifndef GK_CLI_PICK_H
#define GK_CLI_PICK_H

#include <gpukit/gpukit.h>

/*
 * Keeps the GPUs whose indices are in list ("0,3"), their MIG devices and
 * their processes. *ret_part shares its strings with snap: free it first,
 * with gk_pick_free(). The list must be gk_pick_valid(). GK_ERR_NOT_FOUND:
 * *ret_missing (may be NULL) is an index that no GPU has.
 */
int gk_pick(const struct gk_snapshot *snap, const char *list, long *ret_missing,
	    struct gk_snapshot *ret_part);
void gk_pick_free(struct gk_snapshot *part);

/* Whether list is numbers with commas between them. */
bool gk_pick_valid(const char *list);

#endif
