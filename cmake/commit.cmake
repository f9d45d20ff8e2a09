# SPDX-License-Identifier: Apache-2.0
# `cmake -P commit.cmake` writes OUT, a header with the commit of SOURCE and the
# day of the manual, if they have changed. In a checkout both are git's; in an
# archive that git made they are in cmake/commit.txt. SOURCE_DATE_EPOCH comes
# before the commit's time. The present time is never used, so that two builds
# of one commit are the same.
file(STRINGS "${SOURCE}/cmake/commit.txt" lines REGEX "^[^#]")
string(REGEX MATCH "^([0-9a-f]+) ([0-9]+)$" archived "${lines}")
set(commit "${CMAKE_MATCH_1}")
set(seconds "${CMAKE_MATCH_2}")
if(NOT archived)
	set(git git -C "${SOURCE}")
	execute_process(COMMAND ${git} rev-parse --show-toplevel
		OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
	# The sources may lie, without history, in a checkout of others.
	get_filename_component(here "${SOURCE}" REALPATH)
	if("${top}" STREQUAL "${here}")
		execute_process(
			COMMAND ${git} describe --always --dirty --abbrev=12 --exclude *
			OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
			ERROR_QUIET)
		execute_process(COMMAND ${git} log -1 --format=%ct
			OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE
			ERROR_QUIET)
	endif()
endif()
string(REGEX REPLACE "^([0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f])[0-9a-f]+$"
	"\\1" commit "${commit}")

if(NOT "$ENV{SOURCE_DATE_EPOCH}" MATCHES "^[0-9]+$")
	set(ENV{SOURCE_DATE_EPOCH} "${seconds}")
endif()
if("$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
	file(TIMESTAMP "${SOURCE}/CHANGELOG.md" day "%Y-%m-%d" UTC)
else()
	string(TIMESTAMP day "%Y-%m-%d" UTC)
endif()

set(told "")
if(commit)
	set(told " (${commit})")
endif()
set(text "/* Made by cmake/commit.cmake. */
#define GPUKIT_COMMIT_TOLD \"${told}\"
#define GPUKIT_DAY \"${day}\"
")
if(EXISTS "${OUT}")
	file(READ "${OUT}" old)
endif()
if(NOT "${old}" STREQUAL "${text}")
	file(WRITE "${OUT}" "${text}")
endif()
