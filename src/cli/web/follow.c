/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - `gpukit web --follow`: prints snapshots of another machine as
 * lines.
 */
#include "cli/web/peers.h"

#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/output.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PAGE      "/api/v1/snapshot"
#define PAGE_MOST ((size_t)16 << 20)

struct follower {
	const struct gk_web *web;
	int end; /* eventfd: the follower has ended */
	/*
	 * Used only by the thread that follows. After its end, other threads
	 * may read `why`.
	 */
	struct gk_buf page, last;
	char why[200];
};

static const char *page_begins(void *owner, size_t at)
{
	struct follower *f = owner;

	(void)at;
	f->page.len = 0;
	return "";
}

/*
 * Drops line ends. They occur only between JSON values, so the meaning stays
 * the same.
 */
static bool take_page(void *owner, size_t at, const char *bytes, size_t len)
{
	struct follower *f = owner;

	(void)at;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != '\n')
			gk_buf_putc(&f->page, bytes[i]);
	return !f->page.failed && f->page.len < PAGE_MOST;
}

static void end_following(struct follower *f, const char *why)
{
	gk_str_copy(f->why, sizeof f->why, why);
	eventfd_write(f->end, 1);
}

/*
 * Skips a page that equals the previous one: its server has read nothing new.
 */
static bool is_news(const struct follower *f)
{
	return f->page.len != f->last.len ||
	       memcmp(f->page.data, f->last.data, f->page.len) != 0;
}

static void page_ended(void *owner, size_t at, const char *why)
{
	struct follower *f = owner;
	struct gk_buf page = f->page;

	(void)at;
	if (why) {
		end_following(f, why);
		return;
	}
	if (!page.len || !is_news(f))
		return;
	f->page = f->last;
	f->last = page;
	gk_buf_putc(&f->last, '\n');
	if (gk_write_out(&f->last, "web") != GK_OUTPUT_OK)
		end_following(f, "");
	f->last.len--;
}

static int follow_until_end(struct follower *f, const char *url)
{
	const struct gk_follow_module *module = gk_peer_module();
	struct gk_follow_options options = {
	    .urls = &url,
	    .count = 1,
	    .ca = f->web->peer_ca,
	    .type = "application/json",
	    .again_ns = f->web->interval_ns,
	    .owner = f,
	    .begins = page_begins,
	    .bytes = take_page,
	    .ended = page_ended,
	};
	struct gk_follow *follow;
	char *login = NULL;
	int status = module ? gk_peer_login(f->web, &login) : GK_EXIT_FAILURE;

	options.login = login;
	if (!status && !(follow = module->start(&options)))
		status = gk_serve_failure("web", "no thread");
	gk_interrupt_ready();
	if (!status) {
		gk_interrupt_wait(f->end, POLLIN);
		module->stop(follow);
	}
	gk_serve_forget(login);
	return status;
}

int gk_web_follow(const struct gk_web *web)
{
	struct follower f = {.web = web};
	char url[1024];
	size_t len = strlen(web->follow);
	int status;

	while (len && web->follow[len - 1] == '/')
		len--;
	snprintf(url, sizeof url, "%.*s" PAGE, (int)len, web->follow);
	f.end = eventfd(0, EFD_CLOEXEC);
	if (f.end < 0 || gk_interrupt_catch())
		return gk_serve_failure("web", "cannot wait");
	status = follow_until_end(&f, url);
	if (!status && *f.why)
		status = gk_serve_failure("web", "%s: %s", web->follow, f.why);
	close(f.end);
	gk_buf_free(&f.page);
	gk_buf_free(&f.last);
	return status;
}
