# SPDX-License-Identifier: Apache-2.0
# Libraries from the distribution. `./run deps` installs them all.
find_package(PkgConfig REQUIRED)

# Distributions require their shared libraries, so that a fix reaches all users
# of a library: packages, which are built for /usr, link those. Other builds
# link the static archive if there is one: a shared library costs each start of
# the command 0.1 ms.
set(static ON)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
	set(static OFF)
endif()
option(GPUKIT_STATIC_DEPS "Link archives of other libraries" ${static})

# gk_library(PREFIX MODULE): the imported target gk::PREFIX
function(gk_library prefix module)
	pkg_check_modules(${prefix} REQUIRED ${module})
	list(GET ${prefix}_LIBRARIES 0 name)
	set(names ${name})
	set(kind SHARED)
	if(GPUKIT_STATIC_DEPS)
		set(names lib${name}.a ${name})
		set(kind STATIC)
	endif()
	find_library(${prefix}_${kind} NAMES ${names}
		HINTS ${${prefix}_LIBRARY_DIRS} REQUIRED)
	add_library(gk::${prefix} INTERFACE IMPORTED GLOBAL)
	target_link_libraries(gk::${prefix} INTERFACE ${${prefix}_${kind}})
	target_include_directories(gk::${prefix} INTERFACE
		${${prefix}_INCLUDE_DIRS})
endfunction()

gk_library(yaml yaml-0.1)
gk_library(jansson jansson)
gk_library(pcre2 libpcre2-8)
gk_library(zstd libzstd)
gk_library(lz4 liblz4)
gk_library(curses ncursesw)
gk_library(tinfo tinfo)
target_link_libraries(gk::curses INTERFACE gk::tinfo)
if(GPUKIT_TESTS)
	pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
