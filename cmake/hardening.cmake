# SPDX-License-Identifier: Apache-2.0
# Flags that make bugs harder to exploit, in all optimised builds without a
# sanitizer: those that this compiler, linker and C library support.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

check_pie_supported(LANGUAGES C)

# hardening(CHECK FLAGS...): adds compile options if the compiler supports them
function(hardening check)
	list(JOIN ARGN " " flags)
	check_c_compiler_flag("${flags}" ${check})
	if(${check})
		target_compile_options(gk_flags INTERFACE
			"$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:${ARGN}>")
	endif()
endfunction()

# fortify(CHECK LEVEL): checks if the C library supports it with this compiler
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
	# Undefined first: some distributions' compilers define it themselves.
	hardening(GPUKIT_HAS_FORTIFY -U_FORTIFY_SOURCE
		-D_FORTIFY_SOURCE=${level})
endif()

# gk_link_hardening(CHECK FLAG): adds a link option if the linker supports it
function(gk_link_hardening check flag)
	check_linker_flag(C "${flag}" ${check})
	if(${check})
		target_link_options(gk_flags INTERFACE "${flag}")
	endif()
endfunction()

gk_link_hardening(GPUKIT_HAS_RELRO -Wl,-z,relro,-z,now)
gk_link_hardening(GPUKIT_HAS_NOEXECSTACK -Wl,-z,noexecstack)
# The linker drops the mark if any object lacks it, and the C library's start-up
# files lack it unless the distribution builds with it. It is forced here,
# because no code of ours returns to an address that it was not called from.
if(GPUKIT_HAS_CET)
	gk_link_hardening(GPUKIT_HAS_SHSTK -Wl,-z,shstk)
endif()
