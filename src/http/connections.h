/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.h - the list of connections. If there are too many, it decides
 * which one to end. It knows only sockets, and is used by one thread.
 */
#ifndef GK_HTTP_CONNECTIONS_H
#define GK_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a connection is doing. If there are too many, those that come first here
 * are ended first.
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
	 * The library's connection. NULL: it is ending, and its headers are no
	 * longer valid.
	 */
	void *of;
	bool refused; /* was answered directly on the socket */
	/*
	 * The client's address; IPv4 is mapped into IPv6. For IPv6 only the
	 * network, because within it a client can have any number of addresses.
	 * Zeros: unknown.
	 */
	unsigned char address[16];
	uint64_t since_ns;
	enum gk_doing doing;
	bool fresh; /* became idle after the last gk_connections_look() */
	bool left;  /* the client has left; the library does not know yet */
};

struct gk_connections {
	struct gk_connection heads[GK_DOING_COUNT]; /* rings, oldest first */
	unsigned count, streams, left, most;
	/*
	 * A surplus connection was ended or its client left. Run the library at
	 * once, so that it closes the connection and accepts a waiting one.
	 */
	bool made_room;
};

void gk_connections_init(struct gk_connections *all, unsigned most);

/*
 * Adds a connection, which begins with a request. If there are more than
 * `most`, ends the least recently active one. Returns NULL when out of memory.
 */
struct gk_connection *gk_connection_add(struct gk_connections *all, int fd);
void gk_connection_remove(struct gk_connections *all, struct gk_connection *c);

/* Records what a connection does from now on. */
void gk_connection_does(struct gk_connections *all, struct gk_connection *c,
			enum gk_doing what);

/*
 * Whether there may be one more stream, on connection c, if `others`
 * connections are reserved for other requests. Streams whose clients have left
 * do not count. One address may have at most a quarter of the streams. c may be
 * NULL.
 */
bool gk_connections_room(struct gk_connections *all,
			 const struct gk_connection *c, unsigned others);

/*
 * Ends connections that take too long, and those whose client has closed its
 * sending side right after its last request. The library does not notice such a
 * client, because it has read only the request. The library then closes the
 * sockets.
 */
void gk_connections_look(struct gk_connections *all);

#endif
