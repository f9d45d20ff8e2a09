# SPDX-License-Identifier: Apache-2.0
# The manual: the command writes it from its own tables of options, so it has to
# run here. A build for another machine gets it from a command of this one.
set(GPUKIT_MANUAL_FROM "" CACHE FILEPATH
	"A gpukit of this version that runs here and writes the manual")
set(manual_dir ${PROJECT_BINARY_DIR}/man)
set(manual_command gpukit-cli)
if(GPUKIT_MANUAL_FROM)
	set(manual_command ${GPUKIT_MANUAL_FROM})
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
	set(manual_command)
	message(STATUS "gpukit: no manual pages; set GPUKIT_MANUAL_FROM")
endif()
file(MAKE_DIRECTORY ${manual_dir})
if(manual_command)
	add_custom_command(OUTPUT ${manual_dir}/written
		COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_dir}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${manual_dir}
		COMMAND ${manual_command} --manual ${manual_dir}
		COMMAND ${CMAKE_COMMAND} -E touch ${manual_dir}/written
		DEPENDS ${manual_command} COMMENT "Writing the manual" VERBATIM)
	add_custom_target(manual ALL DEPENDS ${manual_dir}/written)
endif()
foreach(section 1 5)
	install(DIRECTORY ${manual_dir}/ DESTINATION ${GPUKIT_MANDIR}/man${section}
		FILES_MATCHING PATTERN "*.${section}")
endforeach()

set(completion packaging/completion)
install(FILES ${completion}/gpukit.bash RENAME gpukit
	DESTINATION ${GPUKIT_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_gpukit
	DESTINATION ${GPUKIT_DATADIR}/zsh/site-functions)
install(FILES ${completion}/gpukit.fish
	DESTINATION ${GPUKIT_DATADIR}/fish/vendor_completions.d)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${GPUKIT_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${GPUKIT_DOCDIR}/docs
	FILES_MATCHING PATTERN "*.md")

# notice(TARGET PACKAGE): the licence of a library that is linked as an archive,
# which has to come with it, from the documentation of its package. Those of the
# portable build are in THIRD-PARTY.txt (tools/sbom.py).
function(notice target package)
	if(GPUKIT_PORTABLE OR NOT ${target}_STATIC MATCHES "\\.a$")
		return()
	endif()
	file(GLOB found /usr/share/doc/${package}/copyright
		/usr/share/licenses/${package}/*)
	if(NOT found)
		message(WARNING "gpukit: the licence of ${package} was not found; "
			"add it before you give the command to others")
		return()
	endif()
	list(GET found 0 file)
	configure_file(${file} ${PROJECT_BINARY_DIR}/notices/${package}.txt
		COPYONLY)
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/notices)
notice(yaml libyaml-dev)
notice(jansson libjansson-dev)
notice(pcre2 libpcre2-dev)
notice(zstd libzstd-dev)
notice(lz4 liblz4-dev)
notice(curses libncurses-dev)
install(DIRECTORY ${PROJECT_BINARY_DIR}/notices/
	DESTINATION ${GPUKIT_DOCDIR}/notices)
