/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - the common part of verbs that serve over HTTP: the listening
 * address, access control (TLS, passwords, allowed Host names), the web server,
 * and the loop that feeds it snapshots.
 */
#ifndef GK_CLI_SERVE_H
#define GK_CLI_SERVE_H

#include "http/http.h"

#include <argp.h>
#include <gpukit/gpukit.h>

/*
 * Where to listen and who may connect. Free hosts with gk_serve_options_free().
 */
struct gk_serve_options {
	const char *verb; /* such as "export", for messages */
	const char *address, *port;
	char *hosts; /* --allow-host, an argz vector */
	size_t hosts_len;
	const char *cert, *key, *client_ca, *auth; /* file names, or NULL */
	char *listen; /* storage that address and port may point to */
};

/*
 * The options --listen ADDRESS[:PORT] and --port, and those for access control:
 * an argp child whose input is a struct gk_serve_options that holds the
 * defaults. Its groups are 1 and 2.
 */
extern const struct argp gk_serve_argp;
void gk_serve_options_free(struct gk_serve_options *options);

/* Prints one line on stderr; returns GK_EXIT_FAILURE. */
int __attribute__((format(printf, 2, 3)))
gk_serve_failure(const char *verb, const char *format, ...);

/* ---- listen.c ---- */

struct gk_serve_listener {
	int fd;
	uint16_t port;
	bool loopback; /* reachable only from this host */
};

/*
 * Listens at the address of --listen. Returns 0, or a gk_exit after a message
 * that says what to do.
 */
int gk_serve_listen(const struct gk_serve_options *options,
		    struct gk_serve_listener *ret_listener);

/*
 * Computes how many clients may connect, so that enough descriptors remain for
 * reading. Raises the soft limit if needed. Returns 0, or a gk_exit after a
 * message. Call it when the devices are open.
 */
int gk_serve_room(const char *verb, unsigned *ret_connections);

/* ---- host.c ---- */

/*
 * Whether a request with this Host header is allowed. Allowed are the names of
 * this host's loopback address, the address of --listen, and those of
 * --allow-host.
 */
bool gk_serve_host_known(const struct gk_serve_options *options,
			 const char *host);

/* Whether the text is a host name or an address, without a port. */
bool gk_serve_host_is_name(const char *text);

/* ---- files.c ---- */

/*
 * The users that may connect. They are read from a private file with one
 * "user:password" per line.
 */
struct gk_serve_users {
	char *text; /* the file's contents, cut at line ends and colons */
	struct {
		char *name, *password;
	} * user;
	size_t count;
};

/*
 * Reads a whole file of at most 1 MiB and appends a NUL. Returns NULL after a
 * message that names the file. secret: refuse the file if others than its owner
 * have access.
 */
char *gk_serve_read(const char *verb, const char *path, bool secret);

/* Reads the file of users. Returns 0, or a gk_exit after a message. */
int gk_serve_users_read(const char *verb, const char *path,
			struct gk_serve_users *ret_users);
void gk_serve_users_free(struct gk_serve_users *users);

/*
 * Whether the password is the user's. Takes the same time for every wrong
 * password.
 */
bool gk_serve_users_allow(const struct gk_serve_users *users, const char *name,
			  const char *password);

/* Overwrites a secret, then frees it. NULL is allowed. */
void gk_serve_forget(char *text);

/* ---- serve.c ---- */

/* A running server. Initialise it with zeros. */
struct gk_server {
	const struct gk_serve_options *options;
	const struct gk_http_module *module;
	struct gk_http *http;
	struct gk_serve_listener listener;
	struct gk_serve_users users;
	char *cert, *key, *client_ca; /* PEM */
};

/*
 * A shared library of ours: its file name, the name of the table of functions
 * that it exports, and the packages needed to build it. In portable builds it
 * is not linked with the library needed for `purpose`, such as TLS. That
 * library is loaded under one of the names in `needs`.
 */
struct gk_serve_module {
	const char *file, *symbol, *packages;
	const char *purpose;
	const char *needs[2];
};

/* Loads a module and returns its table, or NULL after a message. */
const void *gk_serve_open(const char *verb,
			  const struct gk_serve_module *module);

/*
 * Loads the web server, certificates and passwords. Does not listen yet.
 * Returns 0, or a gk_exit after a message.
 */
int gk_serve_load(struct gk_server *server,
		  const struct gk_serve_options *options);

/*
 * Starts to serve requests. The caller sets the members page, more, stream_end,
 * headers and owner of `how`; this function sets the others. Returns 0, or a
 * gk_exit after a message.
 */
int gk_serve_begin(struct gk_server *server, struct gk_http_options how);

/*
 * Prints the URL of a path for the user. Notifies the service manager, if there
 * is one, that the server is ready.
 */
void gk_serve_tell(const struct gk_server *server, const char *path);

/*
 * Makes a page of plain text. The text must stay valid and unchanged. The slot
 * must not be used for other pages.
 */
void gk_serve_message(struct gk_http_page *ret_page, unsigned slot,
		      unsigned status, const char *text);

/* Notifies the service manager that the server stops, and stops it. */
void gk_serve_end(struct gk_server *server);

/* Removes the command lines, which may contain secrets, from a snapshot. */
void gk_serve_hide_commands(struct gk_snapshot *snap);

/* ---- machine.c ---- */

/* A machine that a verb reads for as long as the verb runs. */
struct gk_serve_machine {
	const char *verb;
	const struct gk_options *options;
	uint64_t interval_ns;
	/* Receives a frame and takes ownership of it. */
	void (*put)(void *owner, struct gk_snapshot *snap);
	/*
	 * Called after each failed attempt to open the driver, with the reason.
	 */
	void (*away)(void *owner, const char *why);
	/* Called every second while there is no driver; may be NULL. */
	void (*tick)(void *owner);
	void *owner;
	struct gk *gk;  /* NULL: no driver */
	bool stuck;     /* a thread is inside an attempt to open the driver */
	bool abandoned; /* a thread may be inside a driver that was closed */
};

/*
 * Waits for a driver and passes frames on, until a signal arrives. If all GPUs
 * are gone, opens the driver again. Prints on stderr why there is no driver.
 * Returns a gk_exit, after a message unless it is 0.
 */
int gk_serve_machine(struct gk_serve_machine *machine);

/*
 * Closes what gk_serve_machine() left open, at the end of the verb. Returns
 * status, or a failure as gk_cli_close() does. Does not return if a thread is
 * inside the driver, because exit() may wait for that thread.
 */
int gk_serve_machine_end(struct gk_serve_machine *machine, int status);

#endif
