/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - a second process for tests of what processes share: it starts before
 * this one initialises CUDA, and acts on request.
 */
#ifndef TESTS_CUDA_PEER_H
#define TESTS_CUDA_PEER_H

#include "fronts/cuda/alone.h"

struct peer {
	pid_t pid;
	int to, from; /* pipes */
};

/* A peer's ends of the pipes. */
struct orders {
	int in, out;
};

static inline void peer_write(int fd, const void *at, size_t size)
{
	assert_int_equal(write(fd, at, size), size);
}

static inline void peer_read(int fd, void *at, size_t size)
{
	size_t got = 0;
	ssize_t n;

	while (got < size && (n = read(fd, (char *)at + got, size - got)) > 0)
		got += (size_t)n;
	assert_int_equal(got, size);
}

/* Runs body(orders) in the new process. */
static inline struct peer peer_start(void (*body)(struct orders *orders))
{
	int to[2], from[2];
	struct peer p;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	p.pid = fork();
	if (!p.pid) {
		struct orders orders = {to[0], from[1]};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		body(&orders);
		_exit(0);
	}
	assert_true(p.pid > 0);
	close(to[0]);
	close(from[1]);
	p.to = to[1];
	p.from = from[0];
	return p;
}

/* Sends it a request and waits until it is done. */
static inline void peer_tell(const struct peer *p, char what, void *ret,
			     size_t size)
{
	peer_write(p->to, &what, 1);
	peer_read(p->from, ret, size);
}

static inline void peer_do(const struct peer *p, char what)
{
	char done;

	peer_tell(p, what, &done, 1);
	assert_int_equal(done, what);
}

/* It ends in its own time, or at once. */
static inline void peer_end(struct peer *p)
{
	close(p->to);
	fixture_await(p->pid, 0);
	close(p->from);
}

static inline void peer_kill(struct peer *p)
{
	kill(p->pid, SIGKILL);
	assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
	close(p->to);
	close(p->from);
}

static inline CUcontext begin_cuda(CUdevice device)
{
	CUcontext ctx;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, device), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(ctx), SUCCESS);
	return ctx;
}

#endif
