# SPDX-License-Identifier: Apache-2.0
# native_front(NAME SOURCES...): for each version of a computing library the
# target NAME-front-VERSION, libNAME.so.VERSION. It needs only libc, and has
# symbol versions like the original. It is the same for every driver.
function(native_front name)
	foreach(major ${versions_of_${name}})
		native_front_version(${name} ${major} ${ARGN})
	endforeach()
endfunction()

function(native_front_version name major)
	set(target ${name}-front-${major})
	set(soname lib${name}.so.${major})
	set(map ${CMAKE_CURRENT_BINARY_DIR}/${soname}.map)
	configure_file(front.map.in ${map} @ONLY)
	add_library(${target} SHARED ${ARGN})
	target_link_libraries(${target} PRIVATE
		gk_flags gk_native gk_base ${CMAKE_DL_LIBS})
	target_compile_definitions(${target} PRIVATE FRONT_MAJOR=${major})
	target_link_options(${target} PRIVATE -Wl,--gc-sections
		-Wl,--version-script=${map} -Wl,-soname,${soname})
	set_target_properties(${target} PROPERTIES
		LIBRARY_OUTPUT_DIRECTORY ${GPUKIT_FAKE_DIR}
		OUTPUT_NAME ${name} SUFFIX .so.${major} NO_SONAME ON
		LINK_DEPENDS ${map})
	set_property(GLOBAL APPEND PROPERTY GPUKIT_BLAS_TARGETS ${target})
	get_property(directories GLOBAL PROPERTY GPUKIT_GENERATION_DIRS)
	foreach(directory ${directories})
		links_above(${directory} ${soname})
	endforeach()
endfunction()
