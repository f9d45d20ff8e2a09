/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - checks the Host header of requests. A web page can make its own host
 * name resolve to 127.0.0.1 and then read from local servers (DNS rebinding).
 * The browser sends that name in the Host header, so requests with unknown
 * names are refused.
 */
#include "cli/serve/serve.h"

#include <argz.h>
#include <arpa/inet.h>
#include <string.h>

/* A DNS name has at most 253 characters. */
#define NAME_MAX_LEN 255

static bool is_port_suffix(const char *text)
{
	return !*text ||
	       (*text == ':' && !text[1 + strspn(text + 1, "0123456789")]);
}

/* Extracts the name from "name", "name:port" or "[address]:port". */
static bool name_of_host(const char *host, char ret_name[NAME_MAX_LEN + 1])
{
	bool bracket = *host == '[';
	const char *name = host + bracket;
	size_t len = strcspn(name, bracket ? "]" : ":");

	if (!len || len > NAME_MAX_LEN || (bracket && name[len] != ']') ||
	    !is_port_suffix(name + len + bracket))
		return false;
	/* "localhost." is the same as "localhost". */
	if (!bracket && len > 1 && name[len - 1] == '.')
		len--;
	memcpy(ret_name, name, len);
	ret_name[len] = '\0';
	return true;
}

static bool is_here(const char *name)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, name, &four) == 1)
		return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
	if (inet_pton(AF_INET6, name, &six) == 1)
		return IN6_IS_ADDR_LOOPBACK(&six);
	return !strcasecmp(name, "localhost");
}

bool gk_serve_host_known(const struct gk_serve_options *options,
			 const char *host)
{
	char name[NAME_MAX_LEN + 1];
	const char *known = NULL;

	if (!name_of_host(host, name))
		return false;
	if (is_here(name) || !strcasecmp(name, options->address))
		return true;
	while ((known = argz_next(options->hosts, options->hosts_len, known)))
		if (!strcasecmp(name, known))
			return true;
	return false;
}

bool gk_serve_host_is_name(const char *text)
{
	char name[NAME_MAX_LEN + 1];
	struct in6_addr six;

	return inet_pton(AF_INET6, text, &six) == 1 ||
	       (name_of_host(text, name) && !strcmp(name, text) &&
		!strpbrk(text, "[]/ \t"));
}
