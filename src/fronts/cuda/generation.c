/*
 * generation.c - which driver this library is: the one object that every
 * generation has of its own. -DFRONT_GENERATION is the id of its row,
 * -DFRONT_CUDA the newest CUDA that it runs.
 *
 * What came with a newer CUDA is hidden here and so not exported, in the way
 * that fake/nvml/generation.c tells.
 */
#include "fronts/cuda/generation.h"
#include "abi/cuda_abi.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define CUDA(symbol, base, since, stream, params)                              \
	__asm__(".if " #since                                                  \
		" > " TEXT(FRONT_CUDA) "\n"                                    \
				       ".hidden " #symbol "\n"                 \
				       ".pushsection .gpukit.newer, \"e\"\n"   \
				       ".8byte " #symbol "\n"                  \
				       ".popsection\n"                         \
				       ".endif");
#include "abi/cuda.def"
#undef CUDA

#define ROW_(id) &gkf_generations[GKF_GENERATION_##id]
#define ROW(id)  ROW_(id)

const struct gkf_generation *const front_generation = ROW(FRONT_GENERATION);
