/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - a made-up /proc in a fresh directory.
 */
#ifndef TESTS_CORE_TREE_H
#define TESTS_CORE_TREE_H

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct tree {
	char path[64];
	int fd; /* passed to the core as /proc */
};

static inline void tree_make(struct tree *t)
{
	strcpy(t->path, "/tmp/gpukit-proc-XXXXXX");
	assert_non_null(mkdtemp(t->path));
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->fd >= 0);
}

static inline void tree_remove(struct tree *t)
{
	char command[128];

	close(t->fd);
	snprintf(command, sizeof command, "rm -rf '%s'", t->path);
	assert_int_equal(system(command), 0);
}

/* Writes a file, and makes its directory if there is none. */
static inline void tree_write(struct tree *t, const char *name,
			      const void *bytes, size_t len)
{
	char dir[64];
	int fd;

	snprintf(dir, sizeof dir, "%.*s", (int)strcspn(name, "/"), name);
	if (strchr(name, '/'))
		mkdirat(t->fd, dir, 0755);
	fd = openat(t->fd, name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static inline void tree_text(struct tree *t, const char *name, const char *text)
{
	tree_write(t, name, text, strlen(text));
}

/* <pid>/stat of a process; times in ticks, rss in pages. */
struct tree_stat {
	int pid;
	const char *comm;
	char state;
	int ppid;
	unsigned long utime, stime, start, rss;
};

static inline void tree_stat(struct tree *t, struct tree_stat st)
{
	char name[32], line[512];

	snprintf(name, sizeof name, "%d/stat", st.pid);
	snprintf(line, sizeof line,
		 "%d (%s) %c %d 1 1 0 -1 4194304 0 0 0 0 %lu %lu 0 0 20 0 1 0 "
		 "%lu 1000 %lu 18446744073709551615 0 0 0\n",
		 st.pid, st.comm, st.state, st.ppid, st.utime, st.stime,
		 st.start, st.rss);
	tree_text(t, name, line);
}

#endif
