/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - executes the sends and receives of a group, all at once. A small
 * message goes through the window of its pair of ranks. A large one is read by
 * the receiver from the sender's buffer; if the receiver cannot access this
 * buffer, the message goes through the window in pieces.
 */
#include "fronts/nccl/front.h"

#include <stdlib.h>
#include <string.h>

/* Bytes to copy at once, so that other messages make progress, too. */
#define PIECE (1u << 20)

enum state { WAITS, POSTED, COPIES, STREAMS, DONE };

struct progress {
	const struct message *m;
	struct pair *pair;
	char *window, *at;
	const char *from; /* the sender's buffer, if accessible */
	uint64_t number, copied;
	enum state state;
};

struct messages {
	struct work *w;
	struct progress *all;
	unsigned count;
};

static void take_message(struct work *w, struct progress *p)
{
	atomic_store(&p->pair->taken, p->number);
	meeting_ring(&w->c->seat, p->m->peer);
	p->state = DONE;
}

/* Sends or receives one piece through the window, which is a ring buffer. */
static bool stream_piece(struct work *w, struct progress *p)
{
	uint64_t size = w->c->seat.pair_window;
	uint64_t written = atomic_load(&p->pair->written),
		 read = atomic_load(&p->pair->read), used = written - read;
	uint64_t at = (p->m->sends ? written : read) % size;
	uint64_t some = p->m->sends ? size - used : used;

	if (used > size)
		return false;
	if (some > size - at)
		some = size - at;
	if (some > p->m->bytes - p->copied)
		some = p->m->bytes - p->copied;
	if (!some)
		return false;
	if (p->m->sends)
		memcpy(p->window + at, p->at + p->copied, some);
	else
		memcpy(p->at + p->copied, p->window + at, some);
	p->copied += some;
	atomic_fetch_add(p->m->sends ? &p->pair->written : &p->pair->read,
			 some);
	if (p->copied < p->m->bytes)
		meeting_ring(&w->c->seat, p->m->peer);
	else if (!p->m->sends)
		take_message(w, p);
	else
		p->state = DONE;
	if (p->state == DONE && p->m->sends)
		meeting_ring(&w->c->seat, p->m->peer);
	return true;
}

/* ---- the sender ---- */

static void post_message(struct work *w, struct progress *p)
{
	bool small = p->m->bytes <= w->c->seat.pair_window;

	p->pair->bytes = p->m->bytes;
	p->pair->from = p->m->at;
	p->pair->from.pointer = (uintptr_t)p->at;
	if (small)
		memcpy(p->window, p->at, p->m->bytes);
	atomic_store(&p->pair->posted, p->number);
	meeting_ring(&w->c->seat, p->m->peer);
	p->state = small ? DONE : POSTED;
}

/* Advances a send; returns whether there was progress. */
static bool advance_send(struct work *w, struct progress *p)
{
	switch (p->state) {
	case WAITS:
		if (atomic_load(&p->pair->taken) + 1 < p->number)
			return false;
		post_message(w, p);
		return true;
	case POSTED:
		if (atomic_load(&p->pair->taken) >= p->number)
			p->state = DONE;
		else if (atomic_load(&p->pair->way) ==
			 (p->number << 2 | WAY_WINDOW))
			p->state = STREAMS;
		return p->state != POSTED;
	case STREAMS:
		return stream_piece(w, p);
	case COPIES:
	case DONE:
		break;
	}
	return false;
}

/* ---- the receiver ---- */

/*
 * When PyTorch's pipelines begin, they send an int64 to a rank that receives a
 * float32, and NCCL accepts that. Therefore, for small messages, the receiver
 * may take fewer bytes than were sent.
 */
#define NUMBER_BYTES 8

static bool fits_receiver(uint64_t sent, uint64_t wanted)
{
	return sent == wanted || (sent > wanted && sent <= NUMBER_BYTES);
}

static bool begin_receive(struct work *w, struct progress *p)
{
	struct place from = p->pair->from;
	uint64_t bytes = p->pair->bytes;

	if (!fits_receiver(bytes, p->m->bytes)) {
		comm_fail(w->c, ncclInvalidUsage,
			  "message %llu from rank %u to rank %u: rank %u sends "
			  "%llu bytes, rank %u receives %llu",
			  (unsigned long long)p->number, p->m->peer, w->c->rank,
			  p->m->peer, (unsigned long long)bytes, w->c->rank,
			  (unsigned long long)p->m->bytes);
		return false;
	}
	if (bytes <= w->c->seat.pair_window) {
		memcpy(p->at, p->window, p->m->bytes);
		take_message(w, p);
		return true;
	}
	p->from = work_reach(w, p->m->peer, &from, GPUKIT_READS, bytes);
	p->state = p->from ? COPIES : STREAMS;
	if (p->state == STREAMS) {
		atomic_store(&p->pair->way, p->number << 2 | WAY_WINDOW);
		meeting_ring(&w->c->seat, p->m->peer);
	}
	return true;
}

static void copy_piece(struct work *w, struct progress *p)
{
	uint64_t left = p->m->bytes - p->copied;
	uint64_t some = left < PIECE ? left : PIECE;

	memmove(p->at + p->copied, p->from + p->copied, some);
	p->copied += some;
	if (p->copied == p->m->bytes)
		take_message(w, p);
}

static bool advance_receive(struct work *w, struct progress *p)
{
	switch (p->state) {
	case WAITS:
		if (atomic_load(&p->pair->posted) < p->number ||
		    atomic_load(&p->pair->taken) + 1 < p->number)
			return false;
		return begin_receive(w, p);
	case COPIES:
		copy_piece(w, p);
		return true;
	case STREAMS:
		return stream_piece(w, p);
	case POSTED:
	case DONE:
		break;
	}
	return false;
}

/* ---- all messages ---- */

static bool awaits_peer(const struct work *w, unsigned rank, void *what)
{
	const struct messages *ms = what;

	(void)w;
	for (unsigned i = 0; i < ms->count; i++) {
		const struct progress *p = &ms->all[i];

		if (p->m->peer != rank || p->state == DONE)
			continue;
		/* Do not wait for a peer that has already done its part. */
		if (p->state == WAITS && !p->m->sends &&
		    atomic_load(&p->pair->posted) >= p->number)
			continue;
		if (p->state == POSTED &&
		    atomic_load(&p->pair->taken) >= p->number)
			continue;
		return true;
	}
	return false;
}

/*
 * Detects a deadlock: the peer is in a later collective and waits there for
 * this rank. This rank begins that collective only after its messages with the
 * peer.
 */
static bool check_order(struct messages *ms)
{
	struct ncclComm *c = ms->w->c;

	for (unsigned i = 0; i < ms->count; i++) {
		const struct message *m = ms->all[i].m;
		uint64_t theirs =
		    atomic_load(&meeting_member(&c->seat, m->peer)->doing);

		if (theirs <= c->number || m->peer == c->rank ||
		    !awaits_peer(ms->w, m->peer, ms))
			continue;
		comm_fail(c, ncclInvalidUsage,
			  "rank %u waits in a %s rank %u, which waits for all "
			  "in collective %llu of the communicator",
			  c->rank, m->sends ? "Send to" : "Recv from", m->peer,
			  (unsigned long long)theirs);
		return false;
	}
	return true;
}

/* Advances each message by one step. False: all messages are done. */
static bool advance_all(struct messages *ms, bool *ret_moved)
{
	bool all_done = true;

	*ret_moved = false;
	for (unsigned i = 0; i < ms->count; i++) {
		struct progress *p = &ms->all[i];

		if (p->state == DONE)
			continue;
		if (p->m->sends ? advance_send(ms->w, p)
				: advance_receive(ms->w, p))
			*ret_moved = true;
		all_done &= p->state == DONE;
	}
	return !all_done;
}

static bool begin_messages(struct messages *ms, const struct plan *plan)
{
	struct work *w = ms->w;
	struct ncclComm *c = w->c;

	for (unsigned i = 0; i < plan->messages; i++) {
		const struct message *m = &plan->message[i];
		unsigned from = m->sends ? c->rank : m->peer,
			 to = m->sends ? m->peer : c->rank;
		struct progress *p = &ms->all[i];

		p->m = m;
		p->pair = meeting_pair(&c->seat, from, to);
		p->window = meeting_pair_window(&c->seat, from, to);
		p->number = m->sends ? ++c->sent[to] : ++c->received[from];
		p->at = work_memory(w, m->sends ? GPUKIT_READS : GPUKIT_WRITES,
				    m->address, m->bytes);
		if (!p->at)
			return false;
		if (m->peer != c->rank)
			*(m->sends ? &w->run->link_out : &w->run->link_in) +=
			    m->bytes;
	}
	return true;
}

bool messages_run(struct work *w, struct plan *plan)
{
	struct messages ms = {.w = w, .count = plan->messages};
	bool moved, ok;

	ms.all = calloc(ms.count, sizeof *ms.all);
	if (!ms.all) {
		comm_fail(w->c, ncclSystemError, "out of memory");
		return false;
	}
	ok = begin_messages(&ms, plan);
	while (ok) {
		uint32_t seen = atomic_load(&w->self->bell);

		if (!advance_all(&ms, &moved))
			break;
		ok = moved ? work_goes_on(w)
			   : check_order(&ms) &&
				 work_rest(w, seen, awaits_peer, &ms);
	}
	free(ms.all);
	return ok;
}
