# Flags that make faults harder to use, in every optimised build that no
# sanitizer watches: all those that this compiler, linker and C library know.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

check_pie_supported(LANGUAGES C)

# hardening(CHECK FLAGS...): compile options, if the compiler takes them
function(hardening check)
	list(JOIN ARGN " " flags)
	check_c_compiler_flag("${flags}" ${check})
	if(${check})
		target_compile_options(gk_flags INTERFACE
			"$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:${ARGN}>")
	endif()
endfunction()

# fortify(CHECK LEVEL): does the C library know it for this compiler?
function(fortify check level)
	set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level} -Werror")
	check_c_source_compiles("
		#include <string.h>
		#if __USE_FORTIFY_LEVEL < ${level}
		#error not here
		#endif
		int main(void) { return 0; }" ${check})
endfunction()

if(NOT GPUKIT_SANITIZE)
	hardening(GPUKIT_HAS_STACK_PROTECTOR -fstack-protector-strong)
	hardening(GPUKIT_HAS_STACK_CLASH -fstack-clash-protection)
	if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
		hardening(GPUKIT_HAS_CET -fcf-protection=full)
	elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
		hardening(GPUKIT_HAS_BTI -mbranch-protection=standard)
	endif()
	fortify(GPUKIT_HAS_FORTIFY_3 3)
	set(level 2)
	if(GPUKIT_HAS_FORTIFY_3)
		set(level 3)
	endif()
	# Not twice: some distributions' compilers define it themselves.
	hardening(GPUKIT_HAS_FORTIFY -U_FORTIFY_SOURCE
		-D_FORTIFY_SOURCE=${level})
endif()

# gk_link_hardening(CHECK FLAG): a link option, if the linker takes it
function(gk_link_hardening check flag)
	check_linker_flag(C "${flag}" ${check})
	if(${check})
		target_link_options(gk_flags INTERFACE "${flag}")
	endif()
endfunction()

gk_link_hardening(GPUKIT_HAS_RELRO -Wl,-z,relro,-z,now)
gk_link_hardening(GPUKIT_HAS_NOEXECSTACK -Wl,-z,noexecstack)
# A mark that one object lacks is lost, and the C library's own start-up files
# lack it where the distribution is not built with it. Nothing that is linked
# here returns to where it was not called from.
if(GPUKIT_HAS_CET)
	gk_link_hardening(GPUKIT_HAS_SHSTK -Wl,-z,shstk)
endif()
