/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - checks a request before a page answers it: its form, and whether
 * the client is allowed to make it. Called only by the server's thread.
 */
#ifndef GK_HTTP_REQUEST_H
#define GK_HTTP_REQUEST_H

#include "http/http.h"

#include <microhttpd.h>

/*
 * Removes the arguments from a request's target, in the library's own buffer
 * and before the library parses it. No page has arguments, and the library
 * would store them in the memory that it needs for the answer.
 */
void gk_request_line(char *target);

/* Returns a header's value, or "". */
const char *gk_request_text(struct MHD_Connection *connection,
			    const char *name);

/* Answers with one line of text and, if value is not NULL, with a header. */
enum MHD_Result gk_answer_briefly(struct MHD_Connection *connection,
				  unsigned status, const char *text,
				  const char *header, const char *value);

/*
 * Checks a request; called when its headers are complete, before any body.
 * Returns MHD_YES if a page may answer. Otherwise refuses the request and
 * returns the result of sending the refusal.
 */
enum MHD_Result gk_request_begin(struct MHD_Connection *connection,
				 const char *method, const char *version);

/*
 * If the request's length is invalid, refuses the request directly on the
 * socket and returns true. Needed because libmicrohttpd would refuse such a
 * request before gk_request_begin() is called.
 */
bool gk_request_refuse_length(struct MHD_Connection *connection, int fd);

/*
 * Whether the host name or the client's identity forbids an answer. If so, a
 * refusal has been sent, and *ret_result is its result.
 */
bool gk_request_barred(const struct gk_http_options *options,
		       struct MHD_Connection *connection,
		       enum MHD_Result *ret_result);

#endif
