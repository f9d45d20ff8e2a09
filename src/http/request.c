/* request.c - refuses what is no request, or of nobody who may ask. */
#include "http/request.h"

#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The most bytes that a request may bring along; they are read and dropped. */
#define MOST_BODY 65536

void gk_request_line(char *target)
{
	char *text = target, *arguments = strchr(text, '?');

	if (arguments)
		arguments[1] = '\0';
	/* It would end the path, and what is before it may be a page. */
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

/* The headers that say where a request goes and ends. */
enum framing { HOST, LENGTH, CODING, FRAMING };

static const char *const framing_names[FRAMING] = {
    [HOST] = MHD_HTTP_HEADER_HOST,
    [LENGTH] = MHD_HTTP_HEADER_CONTENT_LENGTH,
    [CODING] = MHD_HTTP_HEADER_TRANSFER_ENCODING,
};

struct counts {
	unsigned of[FRAMING];
	bool broken; /* one of them, or no header at all, by other readers */
};

/*
 * libmicrohttpd takes "Host :" for a name with a blank, and a value that goes
 * on in the next line for a part of the name: "Content-Length76".
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

/* ---- its form ---- */

/*
 * Who reads such a request otherwise, a proxy before us, takes it for another
 * one: RFC 9112, sections 3.2, 5 and 6.3. NULL: there is nothing wrong.
 */
static const char *ambiguity(const struct counts *c, const char *version)
{
	if (c->broken)
		return "headers are NAME: VALUE, each in a line\n";
	if (c->of[HOST] > 1)
		return "one Host, please\n";
	if (!c->of[HOST] && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
		return "HTTP/1.1 wants a Host\n";
	if (c->of[LENGTH] > 1)
		return "one Content-Length, please\n";
	if (c->of[LENGTH] && c->of[CODING])
		return "Content-Length or Transfer-Encoding, not both\n";
	return NULL;
}

enum MHD_Result gk_request_begin(struct MHD_Connection *connection,
				 const char *method, const char *version)
{
	struct counts counts = {0};
	const char *wrong, *length;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header,
				  &counts);
	wrong = ambiguity(&counts, version);
	if (wrong)
		return gk_answer_briefly(connection, 400, wrong, "Connection",
					 "close");
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return gk_answer_briefly(connection, 405, "only GET and HEAD\n",
					 "Allow", "GET, HEAD");
	if (counts.of[CODING])
		return gk_answer_briefly(connection, 411,
					 "no page needs a body; one of unknown "
					 "length is not read\n",
					 "Connection", "close");
	length = gk_request_text(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	if (strtoull(length, NULL, 10) > MOST_BODY)
		return gk_answer_briefly(connection, 413,
					 "no page needs a body; one of more "
					 "than 64 KiB is not read\n",
					 "Connection", "close");
	return MHD_YES;
}

/* ---- who asks ---- */

static enum MHD_Result ask_who(const struct gk_http_options *options,
			       struct MHD_Connection *connection)
{
	static const char text[] = "user and password, please\n";
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

/* Shows a certificate that the authority asked for has signed. */
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

/* Who asks without a Host header, by HTTP/1.0, is no browser. */
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
		*ret_result = gk_answer_briefly(
		    connection, 421,
		    "not served by this name (Host); if it is one of this "
		    "host, start it with --allow-host NAME\n",
		    NULL, NULL);
	else if (options->client_ca && !has_certificate(connection))
		*ret_result = gk_answer_briefly(
		    connection, 403, "a client certificate, please\n", NULL,
		    NULL);
	else if (!is_allowed(options, connection))
		*ret_result = ask_who(options, connection);
	else
		return false;
	return true;
}
