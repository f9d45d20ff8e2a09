/* Page-locked memory by cudaMallocHost: no limit of a GPU is for it. */
#include "limit/known/runtime.h"

int main(int argc, char **argv)
{
	size_t before;
	void *at;

	start();
	before = room_under(known_limit(argc, argv));
	OK(cudaMallocHost(&at, PIECE));
	room_is(before);
	check_host_memory(at, PIECE);
	OK(cudaFreeHost(at));
	room_is(before);
	return 0;
}
