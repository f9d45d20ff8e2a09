/*
 * connections.h - the book of connections, by which those that hold others up
 * make room. It knows sockets only, and belongs to one thread.
 */
#ifndef GK_HTTP_CONNECTIONS_H
#define GK_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What a connection is doing, the first to go first. */
enum gk_doing {
	GK_DOING_REQUEST, /* a request is to come to an end */
	GK_DOING_NOTHING, /* between two requests */
	GK_DOING_STREAM,  /* a page that goes on */
	GK_DOING_COUNT
};

/* In one of the lists, by the time since which it has not done anything. */
struct gk_connection {
	struct gk_connection *before, *after;
	int fd;
	uint64_t since_ns;
	enum gk_doing doing;
	bool fresh; /* idle since the last look */
	bool left;  /* its client has, and the library is to notice */
};

struct gk_connections {
	struct gk_connection heads[GK_DOING_COUNT]; /* rings, oldest first */
	unsigned count, streams, left, most;
	bool made_room; /* one of too many has gone or left: the library has to
			   look at once, for that and for whom it left waiting
			   */
};

void gk_connections_init(struct gk_connections *all, unsigned most);

/* A connection that begins with a request; beyond most the oldest one goes.
 * NULL without memory. */
struct gk_connection *gk_connection_add(struct gk_connections *all, int fd);
void gk_connection_remove(struct gk_connections *all, struct gk_connection *c);

/* It does something, from now on. */
void gk_connection_does(struct gk_connections *all, struct gk_connection *c,
			enum gk_doing what);

/* Whether there is room for a stream, with so many places for others; those
 * whose clients have left make room. */
bool gk_connections_room(struct gk_connections *all, unsigned others);

/*
 * Ends those that take too long, and those whose client has sent its last
 * request and the end of its sending at once, which the library does not
 * notice: it has read the request alone. The library closes them.
 */
void gk_connections_look(struct gk_connections *all);

#endif
