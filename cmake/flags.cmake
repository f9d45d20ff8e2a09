# SPDX-License-Identifier: Apache-2.0
# Compiler and linker flags that every part of gpukit shares.
find_package(Threads REQUIRED)

add_library(gk_flags INTERFACE)
target_include_directories(gk_flags INTERFACE
	${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(gk_flags INTERFACE
	_GNU_SOURCE GPUKIT_VERSION="${PROJECT_VERSION}"
	$<$<CONFIG:Debug>:GK_ASSERTS>)
target_compile_options(gk_flags INTERFACE
	-Wall -Wextra -Wshadow -Wundef -Wvla -Wformat=2 -Wpointer-arith
	-Wcast-qual -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
	-Wswitch-enum -Wdouble-promotion -Wimplicit-fallthrough
	-fno-common -ffp-contract=off -fno-semantic-interposition
	$<$<BOOL:${GPUKIT_WERROR}>:-Werror>)
target_link_libraries(gk_flags INTERFACE Threads::Threads)
# What is shipped does not depend on the directory in which it was built, so that
# anybody can build the same bytes.
target_compile_options(gk_flags INTERFACE "$<$<CONFIG:Release>:\
-ffile-prefix-map=${PROJECT_BINARY_DIR}=build;\
-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>")

include(cmake/hardening.cmake)

if(GPUKIT_SANITIZE)
	target_compile_options(gk_flags INTERFACE
		-fsanitize=${GPUKIT_SANITIZE} -fno-omit-frame-pointer
		-fno-sanitize-recover=undefined)
	target_link_options(gk_flags INTERFACE -fsanitize=${GPUKIT_SANITIZE})
else()
	# A sanitizer's runtime is resolved at run time, so -z defs would reject
	# it.
	add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,-z,defs>)
endif()

# gk_pack_relocations(TARGET): writes addresses that the loader adjusts in the
# packed form, a hundredth of the size, if the C library knows it. Not for
# libraries: containers with an older C library load them, too.
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--fatal-warnings,-z,pack-relative-relocs)
check_c_source_compiles("
	#include <features.h>
	#if !__GLIBC_PREREQ(2, 36)
	#error not here
	#endif
	int main(void) { return 0; }" GPUKIT_HAS_RELR)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
function(gk_pack_relocations target)
	if(GPUKIT_HAS_RELR)
		target_link_options(${target} PRIVATE
			-Wl,-z,pack-relative-relocs)
	endif()
endfunction()

# Objects of one directory, linked as objects. In an archive a weak default
# would silently win over the function that replaces it.
function(gk_objects name)
	add_library(${name} OBJECT ${ARGN})
	target_link_libraries(${name} PUBLIC gk_flags)
endfunction()
