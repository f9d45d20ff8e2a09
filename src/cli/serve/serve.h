/*
 * serve.h - what verbs that serve over HTTP share: where they listen, who may
 * ask (TLS, passwords, names of this host), the web server, and the loop that
 * feeds it with snapshots.
 */
#ifndef GK_CLI_SERVE_H
#define GK_CLI_SERVE_H

#include "http/http.h"

#include <argp.h>
#include <gpukit/gpukit.h>

/* What the options say. hosts is freed by gk_serve_options_free(). */
struct gk_serve_options {
	const char *verb; /* "export", for messages */
	const char *address, *port;
	char *hosts; /* --allow-host, an argz vector */
	size_t hosts_len;
	const char *cert, *key, *client_ca, *auth; /* files, or NULL */
	char *listen; /* the text that address and port may lie in */
};

/*
 * --listen ADDRESS[:PORT], --port and who may ask: an argp child whose input is
 * a struct gk_serve_options with its defaults. Its groups are 1 and 2.
 */
extern const struct argp gk_serve_argp;
void gk_serve_options_free(struct gk_serve_options *options);

/* One line for the user; GK_EXIT_FAILURE. */
int __attribute__((format(printf, 2, 3)))
gk_serve_failure(const char *verb, const char *format, ...);

/* ---- listen.c ---- */

struct gk_serve_listener {
	int fd;
	uint16_t port;
	bool loopback; /* nobody else can reach it */
};

/* Listens as --listen says. 0 or a gk_exit after a message with the cure. */
int gk_serve_listen(const struct gk_serve_options *options,
		    struct gk_serve_listener *ret_listener);

/*
 * How many clients may be connected so that descriptors remain for reading,
 * after raising the soft limit where that helps. 0 or a gk_exit after a
 * message. For when the devices are open.
 */
int gk_serve_room(const char *verb, unsigned *ret_connections);

/* ---- host.c ---- */

/*
 * May a request have this Host header? Allowed are names of this host's own
 * loopback, the address of --listen, and those of --allow-host.
 */
bool gk_serve_host_known(const struct gk_serve_options *options,
			 const char *host);

/* Is it a name or an address, without a port? */
bool gk_serve_host_is_name(const char *text);

/* ---- files.c ---- */

/* The users that may ask, one "user:password" a line of a private file. */
struct gk_serve_users {
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
char *gk_serve_read(const char *verb, const char *path, bool secret);

/* Reads the file of users. 0 or a gk_exit after a message. */
int gk_serve_users_read(const char *verb, const char *path,
			struct gk_serve_users *ret_users);
void gk_serve_users_free(struct gk_serve_users *users);

/*
 * Is it the password of this user? Takes as long for a wrong password as for
 * the right one.
 */
bool gk_serve_users_allow(const struct gk_serve_users *users, const char *name,
			  const char *password);

/* Overwrites what is secret, then frees it. NULL is allowed. */
void gk_serve_forget(char *text);

/* ---- serve.c ---- */

/* Zero it to start. */
struct gk_server {
	const struct gk_serve_options *options;
	const struct gk_http_module *module;
	struct gk_http *http;
	struct gk_serve_listener listener;
	struct gk_serve_users users;
	char *cert, *key, *client_ca; /* PEM */
};

/*
 * The table of functions that a module of ours (its path below the prefix)
 * exports by a name; NULL after a message that names the packages it is built
 * with.
 */
const void *gk_serve_module(const char *verb, const char *file,
			    const char *symbol, const char *packages);

/*
 * Loads the web server and reads certificates and passwords; nobody is listened
 * to yet. 0 or a gk_exit after a message.
 */
int gk_serve_load(struct gk_server *server,
		  const struct gk_serve_options *options);

/*
 * Begins to answer: page, more, stream_end, headers and owner are the caller's,
 * the rest is filled in here. 0 or a gk_exit after a message.
 */
int gk_serve_begin(struct gk_server *server, struct gk_http_options how);

/* Tells the user the address of a path, and the service manager (if there is
 * one) that we are ready. */
void gk_serve_tell(const struct gk_server *server, const char *path);

/* Tells the manager that this is the end, and ends the web server. */
void gk_serve_end(struct gk_server *server);

/*
 * Gives every frame of a watch that has begun to put(), which owns it then,
 * until a signal comes. A gk_exit, after a message if it is no 0.
 */
int gk_serve_frames(const char *verb, struct gk *gk,
		    void (*put)(void *owner, struct gk_snapshot *snap),
		    void *owner);

/*
 * Command lines may hold secrets: hides them from who is not to see them.
 */
void gk_serve_hide_commands(struct gk_snapshot *snap);

#endif
