/* connections.c - keeps the book of connections. */
#include "http/connections.h"

#include "base/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

/* How long each may last without anything being done. A request: from the
 * connection, or its beginning, to its end. Between two requests: two scrapes a
 * minute and less. A stream: nothing could be sent. */
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

/* As the youngest of its list. */
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

/* Its end is then noticed by the library, which closes it. */
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
 * The library looks at a stream only when there is something to send: until
 * then one whose client has left keeps its place.
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

bool gk_connections_room(struct gk_connections *all, unsigned others)
{
	if (all->streams + others >= all->most)
		find_those_who_left(all);
	return all->streams + others < all->most;
}

/* ---- the book ---- */

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
