/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_host_register.c - page-locks the program's own memory by
 * cudaHostRegister.
 */
#include "limit/known/runtime.h"

int main(int argc, char **argv)
{
	unsigned char *at = aligned_alloc(4096, PIECE);
	size_t before;

	REQUIRE(at);
	start();
	before = room_under(known_limit(argc, argv));
	OK(cudaHostRegister(at, PIECE, cudaHostRegisterDefault));
	room_is(before);
	check_host_memory(at, PIECE);
	OK(cudaHostUnregister(at));
	free(at);
	room_is(before);
	return 0;
}
