# SPDX-License-Identifier: Apache-2.0
# Where files are installed: the directories of GNUInstallDirs, below the prefix
# if possible, so that the command finds its files relative to itself and the
# whole tree may be moved. The build tree has bin/, lib/ and share/, and links
# to them under the chosen names, so that the same command runs in it.
include(GNUInstallDirs)

# below_prefix(KIND): sets GPUKIT_KIND, relative if it is below the prefix
function(below_prefix kind)
	set(full ${CMAKE_INSTALL_FULL_${kind}})
	file(RELATIVE_PATH place ${CMAKE_INSTALL_PREFIX} ${full})
	if(place MATCHES "^\\.\\.(/|$)")
		set(place ${full})
	endif()
	set(GPUKIT_${kind} ${place} PARENT_SCOPE)
endfunction()

foreach(kind BINDIR LIBDIR DATADIR INCLUDEDIR MANDIR DOCDIR)
	below_prefix(${kind})
endforeach()
if(IS_ABSOLUTE "${GPUKIT_BINDIR}")
	message(FATAL_ERROR "CMAKE_INSTALL_BINDIR must lie below the prefix")
endif()
set(GPUKIT_LIBRARIES ${GPUKIT_LIBDIR}/gpukit)
set(GPUKIT_DATA ${GPUKIT_DATADIR}/gpukit)
set(GPUKIT_FAKE_INSTALL ${GPUKIT_LIBRARIES}/fake)

# below(VARIABLE DIRECTORY PREFIX): a directory as a path that starts with
# PREFIX
function(below variable directory prefix)
	if(NOT IS_ABSOLUTE "${directory}")
		set(directory ${prefix}/${directory})
	endif()
	set(${variable} ${directory} PARENT_SCOPE)
endfunction()

# way_to_prefix(VARIABLE DIRECTORY HERE): the path from a directory, written as
# HERE, to the prefix; a directory outside of the prefix cannot be moved with it
function(way_to_prefix variable directory here)
	string(REGEX REPLACE "[^/]+" ".." up "${directory}")
	set(way ${here}/${up})
	if(IS_ABSOLUTE "${directory}")
		set(way ${CMAKE_INSTALL_PREFIX})
	endif()
	set(${variable} ${way} PARENT_SCOPE)
endfunction()

# mirror(CHOSEN USUAL): links the chosen name to the usual one in the build tree
function(mirror chosen usual)
	set(link ${PROJECT_BINARY_DIR}/${chosen})
	if(IS_ABSOLUTE "${chosen}" OR chosen STREQUAL usual OR EXISTS ${link})
		return()
	endif()
	get_filename_component(above ${link} DIRECTORY)
	file(MAKE_DIRECTORY ${above} ${PROJECT_BINARY_DIR}/${usual})
	file(CREATE_LINK ${PROJECT_BINARY_DIR}/${usual} ${link} SYMBOLIC)
endfunction()

mirror("${GPUKIT_LIBDIR}" lib)
mirror("${GPUKIT_DATADIR}" share)
