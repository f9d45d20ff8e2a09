/*
 * trust.h - where a path leads to, and whether whoever made it lead there may.
 *
 * Where everyone may write (/tmp), anybody can put a link under a name that a
 * recorder is going to use. The kernel can be told not to follow such links
 * (fs.protected_symlinks), but need not be, and does not keep root from
 * replacing them. Who owns a directory can do so there, whoever else may write.
 */
#ifndef GK_RECORD_TRUST_H
#define GK_RECORD_TRUST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* A name in a directory that is held open: nobody can exchange the way. */
struct gk_spot {
	int dir; /* O_PATH; -1: none */
	char name[NAME_MAX + 1];
	bool there;     /* something has that name */
	bool magic;     /* a link of /proc that only open() can follow */
	struct stat st; /* of what is there, behind a magic link */
};

/*
 * Follows the links of the user and of root; those of others only where the
 * user or root has let them write, and not everyone. What there is at the end
 * must be theirs too when everyone may write beside it (with the sticky bit,
 * where shared files are not the purpose). 0, or a gk_err with the reason in
 * ret_why; close it with gk_spot_close().
 */
int gk_spot_find(const char *path, struct gk_spot *ret_spot, char *ret_why,
		 size_t cap);
void gk_spot_close(struct gk_spot *spot);

/* Looks again at what is there now; it must not have become a link. As above.
 */
int gk_spot_look(struct gk_spot *spot, char *ret_why, size_t cap);

#endif
