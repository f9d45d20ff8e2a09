/*
 * mark.c - tells a program with this runtime inside from one with NVIDIA's: an
 * ELF note, which stripping leaves. `gpukit fake doctor` reads it.
 */
#include <stdint.h>

static const struct {
	uint32_t name_size, size, type;
	char name[8];
	uint32_t major;
} mark __attribute__((used, section(".note.gpukit.cudart"), aligned(4))) = {
    sizeof "gpukit", sizeof(uint32_t), 1, "gpukit", CUDART_MAJOR};
