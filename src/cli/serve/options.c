/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - parses the options for where a verb listens and who may connect.
 */
#include "cli/serve/serve.h"

#include "cli/arg.h"

#include <argz.h>
#include <stdlib.h>
#include <string.h>

enum key {
	KEY_CERT = 0x7201,
	KEY_KEY,
	KEY_CLIENT_CA,
	KEY_AUTH,
	KEY_ALLOW_HOST,
};

static const struct argp_option options[] = {
    {.doc = "Where to listen:", .group = 1},
    {"listen", 'l', "ADDRESS[:PORT]", 0,
     "Address or name (127.0.0.1); 0.0.0.0 or [::] is all addresses", 1},
    {"port", 'p', "PORT", 0, "TCP port; 0: any", 1},
    {.doc = "Access:", .group = 2},
    {"tls-cert", KEY_CERT, "FILE", 0, "Certificate (PEM): HTTPS", 2},
    {"tls-key", KEY_KEY, "FILE", 0, "Private key of the certificate (PEM)", 2},
    {"tls-client-ca", KEY_CLIENT_CA, "FILE", 0,
     "Require client certificates of this authority (PEM)", 2},
    {"auth", KEY_AUTH, "FILE", 0,
     "Private file with a USER:PASSWORD per line, for basic authentication", 2},
    {"allow-host", KEY_ALLOW_HOST, "NAME", 0,
     "Also accept this host name; others, except localhost and ADDRESS, are "
     "refused. Always in force on 127.0.0.1; may be repeated",
     2},
    {0},
};

/*
 * Finds the colon before a port: the colon after a bracket, or the only colon.
 */
static char *port_colon(char *text)
{
	char *bracket = *text == '[' ? strchr(text, ']') : NULL;
	char *colon = strchr(text, ':');

	if (bracket)
		return bracket[1] == ':' ? bracket + 1 : NULL;
	return colon && colon == strrchr(text, ':') ? colon : NULL;
}

static void set_port(struct argp_state *state, struct gk_serve_options *o,
		     const char *option, const char *text)
{
	gk_arg_number(state, option, text, 0, 65535);
	o->port = text;
}

static error_t set_listen(struct argp_state *state, struct gk_serve_options *o,
			  const char *arg)
{
	char *text = strdup(arg), *colon, *end;

	if (!text)
		return ENOMEM;
	free(o->listen);
	o->address = o->listen = text;
	colon = port_colon(text);
	if (colon) {
		*colon = '\0';
		set_port(state, o, "--listen", colon + 1);
	}
	end = *text == '[' ? strchr(text, ']') : NULL;
	if (end) {
		*end = '\0';
		o->address = text + 1;
	}
	return 0;
}

static error_t allow_host(struct argp_state *state, struct gk_serve_options *o,
			  const char *name)
{
	if (!gk_serve_host_is_name(name))
		argp_error(state,
			   "--allow-host must be a name or an address without "
			   "a port, not '%s'",
			   name);
	return argz_add(&o->hosts, &o->hosts_len, name);
}

static void check_options(struct argp_state *state,
			  const struct gk_serve_options *o)
{
	if (!o->cert != !o->key)
		argp_error(state, "--tls-cert and --tls-key need each other");
	if (o->client_ca && !o->cert)
		argp_error(state, "--tls-client-ca needs --tls-cert");
}

static error_t parse_serve_option(int key, char *arg, struct argp_state *state)
{
	struct gk_serve_options *o = state->input;

	switch (key) {
	case 'l':
		return set_listen(state, o, arg);
	case 'p':
		set_port(state, o, "--port", arg);
		return 0;
	case KEY_CERT:
		o->cert = arg;
		return 0;
	case KEY_KEY:
		o->key = arg;
		return 0;
	case KEY_CLIENT_CA:
		o->client_ca = arg;
		return 0;
	case KEY_AUTH:
		o->auth = arg;
		return 0;
	case KEY_ALLOW_HOST:
		return allow_host(state, o, arg);
	case ARGP_KEY_END:
		check_options(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp gk_serve_argp = {.options = options,
				   .parser = parse_serve_option};

void gk_serve_options_free(struct gk_serve_options *o)
{
	free(o->hosts);
	free(o->listen);
}
