/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - refuses malformed requests, and clients that are not allowed to
 * make requests.
 */
#include "http/request.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/*
 * A portable build's module without TLS is not linked with GnuTLS. It has no
 * TLS sessions, so these functions are never called there.
 */
#pragma weak gnutls_record_send
#pragma weak gnutls_certificate_verify_peers2

/* The largest accepted body, in bytes; it is read and discarded. */
#define MOST_BODY 65536

void gk_request_line(char *target)
{
	char *text = target, *arguments = strchr(text, '?');

	if (arguments)
		arguments[1] = '\0';
	/*
	 * A decoded NUL would end the path early. The request would then get
	 * the page of the shorter path.
	 */
	while ((text = strstr(text, "%00")))
		text[2] = '1';
}

enum MHD_Result gk_answer_briefly(struct MHD_Connection *connection,
				  unsigned status, const char *text,
				  const char *header, const char *value)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
	    strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result r = MHD_NO;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; charset=utf-8");
	if (header)
		MHD_add_response_header(response, header, value);
	r = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return r;
}

/* ---- headers ---- */

static const char *request_header(struct MHD_Connection *connection,
				  const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

const char *gk_request_text(struct MHD_Connection *connection, const char *name)
{
	const char *text = request_header(connection, name);

	return text ? text : "";
}

/* The headers that determine to which host a request goes and where it ends. */
enum framing { HOST, LENGTH, CODING, FRAMING };

static const char *const framing_names[FRAMING] = {
    [HOST] = MHD_HTTP_HEADER_HOST,
    [LENGTH] = MHD_HTTP_HEADER_CONTENT_LENGTH,
    [CODING] = MHD_HTTP_HEADER_TRANSFER_ENCODING,
};

struct counts {
	unsigned of[FRAMING];
	bool broken; /* a proxy may read one of these headers differently */
};

/*
 * libmicrohttpd reads "Host :" as a header whose name includes a blank. If a
 * value continues on the next line, it appends the continuation to the name:
 * "Content-Length76".
 */
static enum MHD_Result count_header(void *counts, enum MHD_ValueKind kind,
				    const char *name, const char *value)
{
	struct counts *c = counts;

	(void)kind;
	(void)value;
	c->broken |= !*name || strpbrk(name, " \t");
	for (int i = 0; i < FRAMING; i++) {
		size_t n = strlen(framing_names[i]);

		if (strncasecmp(name, framing_names[i], n) != 0)
			continue;
		c->of[i] += !name[n];
		c->broken |= name[n] != '\0';
	}
	return MHD_YES;
}

/*
 * libmicrohttpd ignores the length "+3" and takes the body for the next
 * request; a proxy may read the length differently.
 */
static bool is_length(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	errno = 0;
	return digits && !text[digits] &&
	       strtoull(text, NULL, 10) < UINT64_MAX && !errno;
}

static const char bad_length[] = "Content-Length must be a number\n";

/* Sends a text bypassing the library, then shuts the socket down. */
static void send_past(struct MHD_Connection *connection, int fd,
		      const char *text, size_t len)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (info && info->tls_session)
		gnutls_record_send(info->tls_session, text, len);
	else
		send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(fd, SHUT_RDWR);
}

bool gk_request_refuse_length(struct MHD_Connection *connection, int fd)
{
	const char *length =
	    request_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	char answer[256];
	int len;

	if (!length || is_length(length))
		return false;
	len = snprintf(answer, sizeof answer,
		       "HTTP/1.1 400 Bad Request\r\n"
		       "Content-Type: text/plain; charset=utf-8\r\n"
		       "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		       sizeof bad_length - 1, bad_length);
	send_past(connection, fd, answer, (size_t)len);
	return true;
}

/* ---- syntax ---- */

/*
 * Looks for anything that a proxy in front of us could parse differently than
 * we do: RFC 9112, sections 3.2, 5 and 6.3. Returns a refusal, or NULL if there
 * is nothing.
 */
static const char *find_ambiguity(const struct counts *c, const char *version)
{
	if (c->broken)
		return "each header must be one line, NAME: VALUE\n";
	if (c->of[HOST] > 1)
		return "only one Host header is allowed\n";
	if (!c->of[HOST] && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
		return "HTTP/1.1 requires a Host header\n";
	if (c->of[LENGTH] > 1)
		return "only one Content-Length header is allowed\n";
	if (c->of[LENGTH] && c->of[CODING])
		return "Content-Length and Transfer-Encoding "
		       "exclude each other\n";
	return NULL;
}

enum MHD_Result gk_request_begin(struct MHD_Connection *connection,
				 const char *method, const char *version)
{
	struct counts counts = {0};
	const char *wrong, *length;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header,
				  &counts);
	wrong = find_ambiguity(&counts, version);
	if (wrong)
		return gk_answer_briefly(connection, 400, wrong, "Connection",
					 "close");
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return gk_answer_briefly(connection, 405, "only GET and HEAD\n",
					 "Allow", "GET, HEAD");
	if (counts.of[CODING])
		return gk_answer_briefly(
		    connection, 411,
		    "no page needs a body; a body of unknown "
		    "length is refused\n",
		    "Connection", "close");
	length = gk_request_text(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	if (counts.of[LENGTH] && !is_length(length))
		return gk_answer_briefly(connection, 400, bad_length,
					 "Connection", "close");
	if (strtoull(length, NULL, 10) > MOST_BODY)
		return gk_answer_briefly(connection, 413,
					 "no page needs a body; a body over 64 "
					 "KiB is refused\n",
					 "Connection", "close");
	return MHD_YES;
}

/* ---- who may make requests ---- */

static enum MHD_Result ask_who(const struct gk_http_options *options,
			       struct MHD_Connection *connection)
{
	static const char text[] = "user and password required\n";
	struct MHD_Response *response = MHD_create_response_from_buffer(
	    sizeof text - 1, (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result r = MHD_NO;

	if (response)
		r = MHD_queue_basic_auth_fail_response(
		    connection, options->realm, response);
	if (response)
		MHD_destroy_response(response);
	return r;
}

/* Whether the client has shown a certificate that the authority signed. */
static bool has_certificate(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	unsigned status = 1;

	return info && info->tls_session &&
	       !gnutls_certificate_verify_peers2(info->tls_session, &status) &&
	       !status;
}

static bool is_allowed(const struct gk_http_options *options,
		       struct MHD_Connection *connection)
{
	char *password = NULL, *user;
	bool allowed;

	if (!options->allowed)
		return true;
	user = MHD_basic_auth_get_username_password(connection, &password);
	allowed = user && password &&
		  options->allowed(options->guard, user, password);
	MHD_free(user);
	MHD_free(password);
	return allowed;
}

/*
 * A request without a Host header (HTTP/1.0) is accepted, since it does not
 * come from a browser.
 */
static bool is_known(const struct gk_http_options *options,
		     struct MHD_Connection *connection)
{
	const char *host = request_header(connection, MHD_HTTP_HEADER_HOST);

	return !options->known || !host || options->known(options->guard, host);
}

bool gk_request_barred(const struct gk_http_options *options,
		       struct MHD_Connection *connection,
		       enum MHD_Result *ret_result)
{
	if (!is_known(options, connection))
		*ret_result =
		    gk_answer_briefly(connection, 421,
				      "host name (Host) not accepted; if it is "
				      "this machine's, start the server with "
				      "--allow-host NAME\n",
				      NULL, NULL);
	else if (options->client_ca && !has_certificate(connection))
		*ret_result = gk_answer_briefly(connection, 403,
						"client certificate required\n",
						NULL, NULL);
	else if (!is_allowed(options, connection))
		*ret_result = ask_who(options, connection);
	else
		return false;
	return true;
}
