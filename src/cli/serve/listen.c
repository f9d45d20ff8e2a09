/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - resolves the address on which a verb listens, opens its socket,
 * and computes how many clients the file descriptor limit allows.
 */
#include "cli/cmd.h"
#include "cli/serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LISTEN_BACKLOG 511

/*
 * The maximum number of simultaneous connections, and the minimum when
 * descriptors are scarce.
 */
#define MOST_CONNECTIONS  128
#define LEAST_CONNECTIONS 4
/*
 * Descriptors that must remain for files in /proc and for those that a driver
 * opens when it is first used.
 */
#define READING_FILES 32

/* ---- the socket ---- */

static const char *find_cure(int error)
{
	switch (error) {
	case EADDRINUSE:
		return "another program uses it; choose another with --port, "
		       "or find the program: ss -ltnp";
	case EACCES:
		return "ports below 1024 are for root; choose one with --port";
	case EADDRNOTAVAIL:
		return "this host has no such address; choose one of `ip "
		       "address` with --listen";
	default:
		return "choose others with --listen and --port";
	}
}

static void set_socket_option(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof value);
}

/*
 * Opens a socket at the address. Returns -1 with errno on failure. SO_REUSEADDR
 * lets a new server use the port of one that has just ended. SO_REUSEPORT is
 * not set: with it, two servers could share the port, each with some of the
 * clients.
 */
static int listen_at(const struct addrinfo *where)
{
	int fd = socket(where->ai_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -1;
	set_socket_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (where->ai_family == AF_INET6)
		set_socket_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (!bind(fd, where->ai_addr, where->ai_addrlen) &&
	    !listen(fd, LISTEN_BACKLOG))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/*
 * Listens at the first address that this host has: a name may also resolve to
 * an address that this host lacks, such as an IPv6 one. Fails at once if the
 * address is in use.
 */
static int listen_at_first(const struct addrinfo *where)
{
	int fd;

	for (; where; where = where->ai_next) {
		fd = listen_at(where);
		if (fd >= 0 ||
		    (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT))
			return fd;
	}
	return -1;
}

/* The port has the same offset in both kinds of address. */
union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static bool is_loopback(const union address *address)
{
	const struct in6_addr *six = &address->six.sin6_addr;

	if (address->any.sa_family == AF_INET)
		return ntohl(address->four.sin_addr.s_addr) >> 24 ==
		       IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(six) ||
	       (IN6_IS_ADDR_V4MAPPED(six) &&
		six->s6_addr[12] == IN_LOOPBACKNET);
}

int gk_serve_listen(const struct gk_serve_options *options,
		    struct gk_serve_listener *ret_listener)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	union address address = {.six = {0}};
	socklen_t len = sizeof address;
	struct addrinfo *where;
	int fd,
	    r = getaddrinfo(options->address, options->port, &hints, &where);

	if (r)
		return gk_serve_failure(options->verb, "%s: %s",
					options->address, gai_strerror(r));
	fd = listen_at_first(where);
	freeaddrinfo(where);
	if (fd < 0)
		return gk_serve_failure(options->verb,
					"cannot listen at %s port %s: %s: %s",
					options->address, options->port,
					strerror(errno), find_cure(errno));
	getsockname(fd, &address.any, &len);
	*ret_listener = (struct gk_serve_listener){
	    .fd = fd,
	    .port = ntohs(address.four.sin_port),
	    .loopback = is_loopback(&address),
	};
	return 0;
}

/* ---- descriptors ---- */

static rlim_t count_open(void)
{
	DIR *directory = opendir("/proc/self/fd");
	rlim_t count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

/*
 * Raises the soft limit up to `wanted`, as far as the hard limit allows.
 * Returns the result.
 */
static rlim_t raise_limit(rlim_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
		struct rlimit more = limit;

		more.rlim_cur =
		    wanted < limit.rlim_max ? wanted : limit.rlim_max;
		if (!setrlimit(RLIMIT_NOFILE, &more))
			limit = more;
	}
	return limit.rlim_cur;
}

int gk_serve_room(const char *verb, unsigned *ret_connections)
{
	rlim_t taken = count_open() + READING_FILES + GK_HTTP_SURPLUS;
	rlim_t limit = raise_limit(taken + MOST_CONNECTIONS);

	if (limit < taken + LEAST_CONNECTIONS)
		return gk_serve_failure(
		    verb,
		    "only %llu files may be open at once, and clients need "
		    "more; raise that to %llu (ulimit -n, LimitNOFILE=)",
		    (unsigned long long)limit,
		    (unsigned long long)taken + MOST_CONNECTIONS);
	*ret_connections = limit - taken < MOST_CONNECTIONS
			       ? (unsigned)(limit - taken)
			       : MOST_CONNECTIONS;
	return 0;
}
