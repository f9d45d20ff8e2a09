/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.h - the list of connections. If there are too many, this file
 * decides which one to end. It knows only sockets, and is used by one thread.
 */
#ifndef GK_HTTP_CONNECTIONS_H
#define GK_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The activity of a connection. If there are too many connections, those with
 * the first of these states are ended first.
 */
enum gk_doing {
	GK_DOING_REQUEST, /* receiving or answering a request */
	GK_DOING_NOTHING, /* between two requests */
	GK_DOING_STREAM,  /* sending an endless page */
	GK_DOING_COUNT
};

/*
 * A connection. It is in one of the lists, which are ordered by last activity.
 */
struct gk_connection {
	struct gk_connection *before, *after;
	int fd;
	/*
	 * libmicrohttpd's connection. It is NULL while the connection is
	 * ending, when its headers must not be read any more.
	 */
	void *of;
	/* We have sent a refusal ourselves, directly on the socket. */
	bool refused;
	/*
	 * The client's address as IPv6; an IPv4 address is mapped. Only the
	 * network part of an IPv6 address is kept, because a client can have
	 * any number of addresses in its network. Zeros: unknown.
	 */
	unsigned char address[16];
	uint64_t since_ns;
	enum gk_doing doing;
	bool fresh; /* became idle after the last gk_connections_look() */
	/* The client has left, but libmicrohttpd does not know yet. */
	bool left;
};

struct gk_connections {
	struct gk_connection heads[GK_DOING_COUNT]; /* rings, oldest first */
	unsigned count, streams, left, most;
	/*
	 * A connection was shut down, because there were too many or because
	 * its client has left. Run libmicrohttpd at once, so that it closes the
	 * socket and accepts a waiting connection.
	 */
	bool made_room;
};

void gk_connections_init(struct gk_connections *all, unsigned most);

/*
 * Adds a connection in the state GK_DOING_REQUEST. If there are then more than
 * `most` connections, ends the least recently active one. Returns NULL when out
 * of memory.
 */
struct gk_connection *gk_connection_add(struct gk_connections *all, int fd);
void gk_connection_remove(struct gk_connections *all, struct gk_connection *c);

/* Records what a connection is doing from now on. */
void gk_connection_does(struct gk_connections *all, struct gk_connection *c,
			enum gk_doing what);

/*
 * Whether connection c may become a stream, if `others` connections must remain
 * for other requests. Streams whose clients have left do not count. One address
 * may have at most a quarter of the streams. c may be NULL.
 */
bool gk_connections_room(struct gk_connections *all,
			 const struct gk_connection *c, unsigned others);

/*
 * Shuts down connections that take too long. Also shuts down those whose client
 * closed its sending side right after its last request: libmicrohttpd, which
 * has read no further than that request, would not notice. libmicrohttpd closes
 * the sockets when it runs next.
 */
void gk_connections_look(struct gk_connections *all);

#endif
