/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newer.c - hides the functions that are newer than the driver, in the same way
 * as fronts/nvml/newer.c. It is compiled once per generation; -DFRONT_CUDA is
 * the newest CUDA version that the driver supports.
 */
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define HIDE(symbol, since)                                                    \
	__asm__(".if " #since                                                  \
		" > " TEXT(FRONT_CUDA) "\n"                                    \
				       ".hidden " #symbol "\n"                 \
				       ".pushsection .gpukit.newer, \"e\"\n"   \
				       ".8byte " #symbol "\n"                  \
				       ".popsection\n"                         \
				       ".endif");

/*
 * The per-thread variants (_ptds, _ptsz) came with CUDA 7.0, so every driver
 * that gpukit imitates has them.
 */
#define HIDE_ALONE HIDE
#define HIDE_PTDS(symbol, since)                                               \
	HIDE(symbol, since)                                                    \
	HIDE(symbol##_ptds, since)
#define HIDE_PTSZ(symbol, since)                                               \
	HIDE(symbol, since)                                                    \
	HIDE(symbol##_ptsz, since)

#define CUDA(symbol, base, since, twin, ...) HIDE_##twin(symbol, since)
#include "abi/cuda/cuda.def"
#undef CUDA
