# Libraries from the distribution. `./run deps` installs them all.
find_package(PkgConfig REQUIRED)

# gk_library(PREFIX MODULE): the imported target gk::PREFIX. The archive where
# there is one: a shared library costs every start of the command 0.1 ms.
function(gk_library prefix module)
	pkg_check_modules(${prefix} REQUIRED ${module})
	list(GET ${prefix}_LIBRARIES 0 name)
	find_library(${prefix}_FILE NAMES lib${name}.a ${name}
		HINTS ${${prefix}_LIBRARY_DIRS})
	add_library(gk::${prefix} INTERFACE IMPORTED GLOBAL)
	target_link_libraries(gk::${prefix} INTERFACE ${${prefix}_FILE})
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
