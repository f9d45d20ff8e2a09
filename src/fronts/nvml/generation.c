/*
 * generation.c - which driver this library is: the one object that every
 * generation has of its own. -DFRONT_GENERATION is the id of its row,
 * -DFRONT_LEVEL the GKF_LEVEL() of its driver.
 *
 * The linker gives a symbol the narrowest visibility that any object asks
 * for: what is newer than the driver is hidden here and so not exported. The
 * section, which makes the assembler keep the symbol, is dropped by the
 * linker (SHF_EXCLUDE).
 */
#include "fronts/nvml/front.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define SINCE(symbol, major, minor)                                            \
	__asm__(".if " #major " * 1000 + " #minor                              \
		" > " TEXT(FRONT_LEVEL) "\n"                                   \
					".hidden " #symbol "\n"                \
					".pushsection .gpukit.newer, \"e\"\n"  \
					".8byte " #symbol "\n"                 \
					".popsection\n"                        \
					".endif");
#include "abi/nvml_since.def"
#undef SINCE

#define ROW_(id) &gkf_generations[GKF_GENERATION_##id]
#define ROW(id)  ROW_(id)

const struct gkf_generation *const front_generation = ROW(FRONT_GENERATION);
