/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_of_two.cu - checks events of two GPUs: who may record them, wait for
 * them, compare them.
 */
#include "spin.h"

struct side {
	cudaStream_t stream;
	cudaEvent_t event;
	unsigned *word, rounds;
};

static struct side side_of(int device)
{
	struct side s;

	OK(cudaSetDevice(device));
	OK(cudaStreamCreate(&s.stream));
	OK(cudaEventCreate(&s.event));
	OK(cudaMalloc(&s.word, sizeof *s.word));
	return s;
}

static void refused(cudaError_t error)
{
	EXPECT(error, cudaErrorInvalidResourceHandle);
	EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

/* Whichever GPU is current. */
static void only_its_own_stream_takes_it(struct side *a, struct side *b)
{
	float ms;

	refused(cudaEventRecord(a->event, b->stream));
	refused(cudaEventRecord(a->event, 0));
	OK(cudaEventRecord(a->event, a->stream));
	OK(cudaEventRecord(b->event, b->stream));
	OK(cudaEventSynchronize(a->event));
	OK(cudaEventSynchronize(b->event));
	refused(cudaEventElapsedTime(&ms, a->event, b->event));
}

static void a_stream_waits_for_the_other_gpu(struct side *a, struct side *b)
{
	OK(cudaSetDevice(0));
	spin<<<1, 1, 0, a->stream>>>(a->word, a->rounds);
	LAUNCHED();
	OK(cudaEventRecord(a->event, a->stream));
	OK(cudaSetDevice(1));
	OK(cudaStreamWaitEvent(b->stream, a->event, 0));
	OK(cudaEventRecord(b->event, b->stream));
	EXPECT(cudaEventQuery(b->event), cudaErrorNotReady);
	EXPECT(cudaGetLastError(), cudaErrorNotReady);
	OK(cudaEventSynchronize(b->event));
	OK(cudaEventQuery(a->event));
}

/* What they were recorded for is still done. */
static void they_may_go_before_their_time(struct side *a, struct side *b)
{
	OK(cudaSetDevice(0));
	spin<<<1, 1, 0, a->stream>>>(a->word, a->rounds);
	LAUNCHED();
	OK(cudaEventRecord(a->event, a->stream));
	OK(cudaStreamWaitEvent(b->stream, a->event, 0));
	OK(cudaEventDestroy(a->event));
	OK(cudaStreamDestroy(a->stream));
	EXPECT(cudaStreamQuery(b->stream), cudaErrorNotReady);
	EXPECT(cudaGetLastError(), cudaErrorNotReady);
	OK(cudaStreamSynchronize(b->stream));
	OK(cudaDeviceSynchronize());
}

int main(void)
{
	struct side a, b;

	if (devices() < 2)
		skip("one GPU");
	a = side_of(0);
	a.rounds = spin_rounds(a.word);
	b = side_of(1);
	only_its_own_stream_takes_it(&a, &b);
	a_stream_waits_for_the_other_gpu(&a, &b);
	they_may_go_before_their_time(&a, &b);
	OK(cudaFree(a.word));
	OK(cudaFree(b.word));
	OK(cudaStreamDestroy(b.stream));
	OK(cudaEventDestroy(b.event));
	return 0;
}
