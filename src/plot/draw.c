/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.c - runs gnuplot. The script, the picture and gnuplot's messages are
 * files in memory, so that neither process ever waits for the other one to
 * read.
 */
#include "plot/draw.h"

#include "base/assert.h"
#include "base/calls.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct files {
	int script, picture, complaint; /* picture: -1 means standard output */
};

static void close_files(const struct files *files)
{
	close(files->script);
	close(files->complaint);
	if (files->picture >= 0)
		close(files->picture);
}

static int put_bytes(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return gk_err_from_errno(errno);
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? gk_err_from_errno(errno) : 0;
}

static int read_plot(int fd, struct gk_buf *to)
{
	char block[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, block, sizeof block, at)) > 0) {
		gk_buf_add(to, block, (size_t)n);
		at += n;
	}
	return n < 0 ? gk_err_from_errno(errno) : to->failed ? GK_ERR_NOMEM : 0;
}

static int spawn_gnuplot(const struct files *files, pid_t *ret_pid)
{
	char name[] = "gnuplot", persist[] = "-persist", from[] = "-";
	char *argv[] = {name, persist, from, NULL};
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, files->script, 0);
	if (files->picture >= 0)
		posix_spawn_file_actions_adddup2(&actions, files->picture, 1);
	posix_spawn_file_actions_adddup2(&actions, files->complaint, 2);
	error = posix_spawnp(ret_pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error == ENOENT ? GK_ERR_NOT_FOUND
	       : error         ? gk_err_from_errno(error)
			       : 0;
}

static int run_gnuplot(const struct files *files)
{
	int status = 0, r;
	pid_t pid;

	r = spawn_gnuplot(files, &pid);
	if (r)
		return r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return gk_err_from_errno(errno);
	return status ? GK_ERR_CORRUPT : 0;
}

int gk_plot_draw(const struct gk_buf *script, struct gk_buf *picture,
		 struct gk_buf *complaint)
{
	struct files files = {
	    .script = gk_memfd("script", MFD_CLOEXEC),
	    .complaint = gk_memfd("complaint", MFD_CLOEXEC),
	    .picture = picture ? gk_memfd("picture", MFD_CLOEXEC) : -1,
	};
	int r = 0;

	GK_ASSERT(complaint);
	if (files.script < 0 || files.complaint < 0 ||
	    (picture && files.picture < 0))
		r = gk_err_from_errno(errno);
	if (!r)
		r = put_bytes(files.script, script->data, script->len);
	if (!r)
		r = run_gnuplot(&files);
	if (!r && picture)
		r = read_plot(files.picture, picture);
	if (r == GK_ERR_CORRUPT)
		read_plot(files.complaint, complaint);
	close_files(&files);
	return r;
}
