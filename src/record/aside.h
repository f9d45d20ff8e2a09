/*
 * aside.h - where a file goes when another one takes its place.
 */
#ifndef GK_RECORD_ASIDE_H
#define GK_RECORD_ASIDE_H

/*
 * Renames a file NAME.EXT of a directory that is held open to NAME.N.EXT, N
 * above all that are there, so that numbers are in the order of time; never
 * over another file. *number is that of the last one, 0: not known. 0, or -1
 * with errno.
 */
int gk_aside(int dir, const char *name, unsigned *number);

#endif
