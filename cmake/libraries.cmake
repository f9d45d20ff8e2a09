# SPDX-License-Identifier: Apache-2.0
# The drop-in libraries: the rows of src/abi/libraries/libraries.def.
set(library_table ${PROJECT_SOURCE_DIR}/src/abi/libraries/libraries.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
	${library_table})
file(STRINGS ${library_table} library_rows REGEX "^LIBRARY")
set(library_names "")
foreach(row ${library_rows})
	string(REGEX MATCH "\\(\"(.+)\", ([0-9]+), ([0-9]+)" _ ${row})
	list(APPEND library_names ${CMAKE_MATCH_1})
	list(APPEND versions_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
	list(APPEND cudas_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_3})
endforeach()
list(REMOVE_DUPLICATES library_names)

# link_bare_names(DIRECTORY CUDA): links libcudart.so and similar names to the
# version for the newest CUDA up to CUDA, a version such as 12040.
function(link_bare_names directory cuda)
	foreach(name ${library_names})
		list(GET versions_of_${name} 0 chosen)
		foreach(version major IN ZIP_LISTS versions_of_${name}
				cudas_of_${name})
			math(EXPR needed "${major} * 1000")
			if(NOT needed GREATER cuda)
				set(chosen ${version})
			endif()
		endforeach()
		file(CREATE_LINK lib${name}.so.${chosen}
			${directory}/lib${name}.so SYMBOLIC)
	endforeach()
endfunction()
