/*
 * export.h - `gpukit export`: what its options chose, and the run.
 */
#ifndef GK_CLI_EXPORT_H
#define GK_CLI_EXPORT_H

#include "format/prometheus.h"

#include <gpukit/gpukit.h>

struct gk_export {
	const char *address, *port;
	char *hosts; /* --allow-host, an argz vector */
	size_t hosts_len;
	const char *cert, *key, *client_ca, *auth; /* files, or NULL */
	uint64_t interval_ns;
	struct gk_prometheus show;
	struct gk_options machine;
};

/* Serves until a signal comes; a gk_exit, after a message when it is not 0. */
int gk_export_run(const struct gk_export *export);

/* One line for the user; GK_EXIT_FAILURE. */
int __attribute__((format(printf, 1, 2)))
gk_export_failure(const char *format, ...);

/* ---- listen.c ---- */

struct gk_export_listener {
	int fd;
	uint16_t port;
	bool loopback; /* nobody else can reach it */
};

/* Listens as --listen says. 0 or a gk_exit after a message with the cure. */
int gk_export_listen(const struct gk_export *export,
		     struct gk_export_listener *ret_listener);

/*
 * How many clients may be connected so that descriptors remain for reading,
 * after raising the soft limit where that helps. 0 or a gk_exit after a
 * message. For when the devices are open.
 */
int gk_export_room(unsigned *ret_connections);

/* ---- host.c ---- */

/*
 * May a request have this Host header? Allowed are names of this host's own
 * loopback, the address of --listen, and those of --allow-host.
 */
bool gk_export_host_known(const struct gk_export *export, const char *host);

/* Is it a name or an address, without a port? */
bool gk_export_host_is_name(const char *text);

/* ---- files.c ---- */

/* The users that may ask, one "user:password" a line of a private file. */
struct gk_export_users {
	char *text; /* the file, cut at line ends and colons */
	struct {
		char *name, *password;
	} * user;
	size_t count;
};

/*
 * Reads a whole file, at most a MiB, with a NUL behind it; NULL after a
 * message that names it. With secret it must be readable by its owner alone.
 */
char *gk_export_read(const char *path, bool secret);

/* Reads the file of users. 0 or a gk_exit after a message. */
int gk_export_users_read(const char *path, struct gk_export_users *ret_users);
void gk_export_users_free(struct gk_export_users *users);

/*
 * Is it the password of this user? Takes as long for a wrong password as for
 * the right one.
 */
bool gk_export_users_allow(const struct gk_export_users *users,
			   const char *name, const char *password);

/* Overwrites what is secret, then frees it. NULL is allowed. */
void gk_export_forget(char *text);

/* ---- feed.c ---- */

struct gk_http_request;
struct gk_http_page;

/* The newest snapshot, and the pages made of it when somebody asks. */
struct gk_feed;

/* NULL without memory. The feed refers to export. */
struct gk_feed *gk_feed_new(const struct gk_export *export);
void gk_feed_free(struct gk_feed *feed);

/* Takes a snapshot over. */
void gk_feed_put(struct gk_feed *feed, struct gk_snapshot *snap);

/* Makes a page, in another thread than the one of gk_feed_put(). See http.h. */
void gk_feed_page(struct gk_feed *feed, const struct gk_http_request *request,
		  struct gk_http_page *ret_page);

#endif
