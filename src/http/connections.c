/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.c - owns the list of connections and ends those that take too
 * long.
 */
#include "http/connections.h"

#include "base/clock.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * How long a connection may stay in each state. A request may take this long
 * from its first byte to its end; the first request is timed from the start of
 * the connection. The pause between two requests is long enough for two scrapes
 * a minute. A stream may go without sending a byte for this long.
 */
static const uint64_t patience_ns[GK_DOING_COUNT] = {
    [GK_DOING_REQUEST] = 10 * GK_NS_PER_S,
    [GK_DOING_NOTHING] = 150 * GK_NS_PER_S,
    [GK_DOING_STREAM] = 60 * GK_NS_PER_S,
};

void gk_connections_init(struct gk_connections *all, unsigned most)
{
	*all = (struct gk_connections){.most = most};
	for (int i = 0; i < GK_DOING_COUNT; i++)
		all->heads[i].before = all->heads[i].after = &all->heads[i];
}

static void take_out(struct gk_connections *all, struct gk_connection *c)
{
	c->before->after = c->after;
	c->after->before = c->before;
	all->streams -= c->doing == GK_DOING_STREAM;
}

/*
 * Appends a connection to the list of its state. Each list is ordered by age.
 */
static void put_in(struct gk_connections *all, struct gk_connection *c,
		   enum gk_doing what)
{
	struct gk_connection *head = &all->heads[what];

	c->doing = what;
	c->fresh = what == GK_DOING_NOTHING;
	c->since_ns = gk_mono_ns();
	c->before = head->before;
	c->after = head;
	head->before->after = c;
	head->before = c;
	all->streams += what == GK_DOING_STREAM;
}

void gk_connection_does(struct gk_connections *all, struct gk_connection *c,
			enum gk_doing what)
{
	take_out(all, c);
	put_in(all, c, what);
}

/* Shuts the socket down. libmicrohttpd notices that and closes it. */
static void end_connection(struct gk_connections *all, struct gk_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	gk_connection_does(all, c, c->doing);
	c->fresh = false;
}

static void end_oldest(struct gk_connections *all)
{
	for (int i = 0; i < GK_DOING_COUNT; i++)
		if (all->heads[i].after != &all->heads[i]) {
			end_connection(all, all->heads[i].after);
			return;
		}
}

/* ---- clients that have left ---- */

static bool has_left(const struct gk_connection *c)
{
	struct pollfd fd = {.fd = c->fd, .events = POLLRDHUP};

	return poll(&fd, 1, 0) > 0 &&
	       fd.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/*
 * libmicrohttpd looks at a stream's socket only when there is something to
 * send. Without this function, a stream whose client has left would occupy its
 * slot until then.
 */
static void find_those_who_left(struct gk_connections *all)
{
	struct gk_connection *head = &all->heads[GK_DOING_STREAM], *c, *next;

	for (c = head->after; c != head; c = next) {
		next = c->after;
		if (c->left || !has_left(c))
			continue;
		c->left = true;
		all->left++;
		all->made_room = true;
		gk_connection_does(all, c, GK_DOING_REQUEST);
	}
}

/* ---- clients ---- */

static void read_address(struct gk_connection *c)
{
	static const unsigned char mapped[12] = {[10] = 0xff, 0xff};
	struct sockaddr_storage peer = {0};
	const struct sockaddr_in *four = (const struct sockaddr_in *)&peer;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&peer;
	socklen_t len = sizeof peer;

	if (getpeername(c->fd, (struct sockaddr *)&peer, &len))
		return;
	if (peer.ss_family == AF_INET) {
		memcpy(c->address, mapped, sizeof mapped);
		memcpy(c->address + 12, &four->sin_addr, 4);
	} else if (peer.ss_family == AF_INET6) {
		bool all = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);

		memcpy(c->address, &six->sin6_addr, all ? 16 : 8);
	}
}

static unsigned streams_of(const struct gk_connections *all,
			   const struct gk_connection *client)
{
	static const unsigned char none[16];
	const struct gk_connection *head = &all->heads[GK_DOING_STREAM];
	unsigned count = 0;

	if (!client || !memcmp(client->address, none, sizeof none))
		return 0;
	for (const struct gk_connection *c = head->after; c != head;
	     c = c->after)
		count += !memcmp(c->address, client->address, sizeof none);
	return count;
}

static bool has_stream_room(const struct gk_connections *all,
			    const struct gk_connection *c, unsigned others)
{
	unsigned streams = all->most > others ? all->most - others : 0;

	return all->streams < streams && streams_of(all, c) < (streams + 3) / 4;
}

bool gk_connections_room(struct gk_connections *all,
			 const struct gk_connection *c, unsigned others)
{
	if (!has_stream_room(all, c, others))
		find_those_who_left(all);
	return has_stream_room(all, c, others);
}

/* ---- the lists ---- */

static void make_room(struct gk_connections *all)
{
	find_those_who_left(all);
	if (all->count - all->left > all->most)
		end_oldest(all);
}

struct gk_connection *gk_connection_add(struct gk_connections *all, int fd)
{
	struct gk_connection *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->fd = fd;
	read_address(c);
	if (++all->count - all->left > all->most)
		make_room(all);
	put_in(all, c, GK_DOING_REQUEST);
	return c;
}

void gk_connection_remove(struct gk_connections *all, struct gk_connection *c)
{
	take_out(all, c);
	all->left -= c->left;
	all->made_room |= all->count-- > all->most;
	free(c);
}

static void end_half_closed(struct gk_connections *all)
{
	struct gk_connection *head = &all->heads[GK_DOING_NOTHING], *c, *before;
	char byte;

	for (c = head->before; c != head && c->fresh; c = before) {
		before = c->before;
		c->fresh = false;
		if (!recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT))
			end_connection(all, c);
	}
}

void gk_connections_look(struct gk_connections *all)
{
	uint64_t now = gk_mono_ns();

	end_half_closed(all);
	for (int i = 0; i < GK_DOING_COUNT; i++) {
		struct gk_connection *head = &all->heads[i], *c;

		while ((c = head->after) != head &&
		       now > c->since_ns + patience_ns[i])
			end_connection(all, c);
	}
}
