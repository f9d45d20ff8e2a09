# SPDX-License-Identifier: Apache-2.0
# A front (libnvidia-ml.so.1, libcuda.so.1) is one library per driver
# generation, made from the same objects. They are linked as objects, so that a
# function replaces the weak default of its row. Two objects are compiled for
# each library: generation.c says which driver it is, newer.c hides what is
# newer than that driver.
#
# Each generation has a complete directory of its own, named after it, with
# links to the files that are the same for all. The default generation is in the
# directory above, and its own directory links there.
set(default_generation 580)
set(generation_table ${PROJECT_SOURCE_DIR}/src/abi/nvml/nvml_generations.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
	${generation_table})
file(STRINGS ${generation_table} generation_rows REGEX "^GENERATION")

# Links in a generation's directory to the files above it.
function(links_above directory)
	file(MAKE_DIRECTORY ${directory})
	foreach(name ${ARGN})
		file(CREATE_LINK ../${name} ${directory}/${name} SYMBOLIC)
	endforeach()
endfunction()

# generation_front(TARGET OUTPUT MAP DIRECTORY LIBRARIES...); uses the caller's
# `id`, `level` and `cuda`
function(generation_front target output map directory)
	add_library(${target} SHARED generation.c newer.c)
	target_link_libraries(${target} PRIVATE ${ARGN} gk_flags)
	target_compile_definitions(${target} PRIVATE
		FRONT_GENERATION=${id} FRONT_LEVEL=${level} FRONT_CUDA=${cuda})
	target_link_options(${target} PRIVATE -Wl,--version-script=${map}
		-Wl,-soname,lib${output}.so.1 -Wl,-z,nodelete)
	set_target_properties(${target} PROPERTIES
		LIBRARY_OUTPUT_DIRECTORY ${directory} LINK_DEPENDS ${map}
		OUTPUT_NAME ${output} SUFFIX .so.1 NO_SONAME ON
		# Uses the install RPATH at once: CMake would pad a build path
		# with an empty entry, which means the current directory.
		INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# gk_fronts(NAME OUTPUT MAP LIBRARIES...): the targets NAME-front, of the
# default generation, and NAME-front-ID; the global property GPUKIT_FRONTS_NAME
# lists them all
function(gk_fronts name output map)
	foreach(row ${generation_rows})
		string(REGEX MATCH
			"\\((.+), \"(.+)\", ([0-9]+), ([0-9]+), \".+\", ([0-9]+)"
			_ ${row})
		set(id ${CMAKE_MATCH_1})
		set(directory ${GPUKIT_FAKE_DIR}/${CMAKE_MATCH_2})
		math(EXPR level "${CMAKE_MATCH_3} * 1000 + ${CMAKE_MATCH_4}")
		set(cuda ${CMAKE_MATCH_5})
		if(id STREQUAL default_generation)
			set(target ${name}-front)
			generation_front(${target} ${output} ${map}
				${GPUKIT_FAKE_DIR} ${ARGN})
			links_above(${directory} lib${output}.so.1)
		else()
			set(target ${name}-front-${id})
			generation_front(${target} ${output} ${map}
				${directory} ${ARGN})
			# The default generation has what a debugger needs to
			# know of the objects that they share. Sanitizers name
			# inlined functions by it, too.
			if(NOT GPUKIT_SANITIZE)
				target_link_options(${target} PRIVATE
					-Wl,--strip-debug)
			endif()
		endif()
		set_property(GLOBAL APPEND PROPERTY GPUKIT_FRONTS_${name}
			${target})
		links_above(${directory} libgpukit-fake.so libgpukit-audit.so)
		link_bare_names(${directory} ${cuda})
		if(id STREQUAL default_generation)
			link_bare_names(${GPUKIT_FAKE_DIR} ${cuda})
		endif()
		set_property(GLOBAL APPEND PROPERTY GPUKIT_GENERATION_DIRS
			${directory})
	endforeach()
	get_property(directories GLOBAL PROPERTY GPUKIT_GENERATION_DIRS)
	list(REMOVE_DUPLICATES directories)
	set_property(GLOBAL PROPERTY GPUKIT_GENERATION_DIRS ${directories})
endfunction()
