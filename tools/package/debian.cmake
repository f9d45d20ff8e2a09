# SPDX-License-Identifier: Apache-2.0
# cpack runs this on the staged files of each Debian package, before it packs
# them: strips, compresses manual pages, and adds the copyright and changelog
# that Debian wants. Nothing here depends on the present time.
set(templates ${CMAKE_CURRENT_LIST_DIR}/debian)
string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH
file(READ "${templates}/../../../src/fronts/curand/joe_kuo.txt" table)
string(REGEX REPLACE "^.*Its\nlicence:\n\n|^.*Its licence:\n\n" "" table "${table}")
string(REGEX REPLACE "\n\n" "\n.\n" table "${table}")
string(REGEX REPLACE "\n([^\n])" "\n \\1" JOE_KUO " ${table}")

function(run)
	execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# shrink(TREE): strips what is linked; archives and links stay as they are
function(shrink tree)
	file(GLOB_RECURSE files LIST_DIRECTORIES false
		"${tree}/usr/bin/*" "${tree}/usr/lib/*.so" "${tree}/usr/lib/*.so.*")
	foreach(file ${files})
		if(NOT IS_SYMLINK "${file}")
			run(strip --strip-unneeded --remove-section=.comment "${file}")
		endif()
	endforeach()
	file(GLOB_RECURSE pages "${tree}/usr/share/man/*.[1-9]")
	foreach(page ${pages})
		if(IS_SYMLINK "${page}")
			file(READ_SYMLINK "${page}" to)
			file(REMOVE "${page}")
			file(CREATE_LINK "${to}.gz" "${page}.gz" SYMBOLIC)
		else()
			run(gzip -9n "${page}")
		endif()
	endforeach()
endfunction()

# describe(TREE PACKAGE): what Debian wants in /usr/share/doc
function(describe tree package)
	set(doc "${tree}/usr/share/doc/${package}")
	# Debian has the licence elsewhere, and links no archives.
	file(REMOVE_RECURSE "${doc}/LICENSE" "${doc}/notices")
	configure_file(${templates}/copyright.in "${doc}/copyright" @ONLY)
	configure_file(${templates}/changelog.in "${doc}/changelog" @ONLY)
	run(gzip -9nf "${doc}/changelog")
	if(EXISTS ${templates}/${package}.overrides)
		file(MAKE_DIRECTORY "${tree}/usr/share/lintian/overrides")
		configure_file(${templates}/${package}.overrides
			"${tree}/usr/share/lintian/overrides/${package}" COPYONLY)
	endif()
	run(chmod -R u=rwX,go=rX "${tree}/usr")
endfunction()

foreach(package ${CPACK_COMPONENTS_ALL})
	set(tree "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${package}")
	if(NOT IS_DIRECTORY "${tree}/usr")
		message(FATAL_ERROR "no files of ${package} in ${tree}")
	endif()
	shrink("${tree}")
	describe("${tree}" ${package})
endforeach()
