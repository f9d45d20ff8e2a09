/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.h - passes a descriptor from a peer to its test. */
#ifndef TESTS_CUDA_DESCRIPTOR_H
#define TESTS_CUDA_DESCRIPTOR_H

#include "fronts/cuda/peer.h"

#include <sys/socket.h>

static int pair[2]; /* sockets of the test and of its peer */

static inline void send_descriptor(int fd)
{
	char room[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	assert_int_equal(sendmsg(pair[1], &m, 0), 1);
	close(fd);
}

static inline int receive_descriptor(void)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof room};
	int fd;

	assert_int_equal(recvmsg(pair[0], &m, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static inline struct peer start_sender(void (*serve)(struct orders *o))
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	return peer_start(serve);
}

#endif
