/*
 * request.h - what a request must be before a page answers it: in its form, and
 * by who asks. Called by the one thread of the server.
 */
#ifndef GK_HTTP_REQUEST_H
#define GK_HTTP_REQUEST_H

#include "http/http.h"

#include <microhttpd.h>

/*
 * Changes the target of a request in the library's own buffer, before the
 * library reads on: no page has arguments, and it would make a record of each,
 * in the memory that it needs to answer.
 */
void gk_request_line(char *target);

/* A header's value, "" where there is none. */
const char *gk_request_text(struct MHD_Connection *connection,
			    const char *name);

/* Answers with a line of text; header, of which the value is: NULL for none. */
enum MHD_Result gk_answer_briefly(struct MHD_Connection *connection,
				  unsigned status, const char *text,
				  const char *header, const char *value);

/*
 * Called when the headers are there, before the body, if there is one: MHD_YES,
 * or what became of answering that this is no request for a page.
 */
enum MHD_Result gk_request_begin(struct MHD_Connection *connection,
				 const char *method, const char *version);

/*
 * Whether the name that is asked for or who asks bars the answer; then that was
 * answered, with *ret_result.
 */
bool gk_request_barred(const struct gk_http_options *options,
		       struct MHD_Connection *connection,
		       enum MHD_Result *ret_result);

#endif
