/* SPDX-License-Identifier: Apache-2.0 */
/* aside.h - renames a file to make way for its successor. */
#ifndef GK_RECORD_ASIDE_H
#define GK_RECORD_ASIDE_H

/*
 * Renames a file NAME.EXT in an open directory to NAME.N.EXT, without replacing
 * another file. N is higher than all numbers in use, so that numbers are in
 * order of time. *number is the last number used, or 0 if unknown. Returns 0,
 * or -1 with errno set.
 */
int gk_aside(int dir, const char *name, unsigned *number);

#endif
