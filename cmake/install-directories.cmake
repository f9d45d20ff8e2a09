# Run by `cmake --install` before all else. Directories that CMake makes on the
# way get what the umask leaves; everybody may enter ours. One that was there
# already is somebody's choice, but for those that are gpukit's alone.
set(permissions OWNER_READ OWNER_WRITE OWNER_EXECUTE
	GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

function(make_directory path)
	if(NOT EXISTS "${path}")
		get_filename_component(above "${path}" DIRECTORY)
		make_directory("${above}")
		file(MAKE_DIRECTORY "${path}")
		file(CHMOD "${path}" DIRECTORY_PERMISSIONS ${permissions})
	endif()
endfunction()

get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}/" ABSOLUTE)
string(REGEX REPLACE "/$" "" prefix "${prefix}")
set(prefix "$ENV{DESTDIR}${prefix}")
foreach(name bin lib lib/cmake lib/pkgconfig lib/tmpfiles.d include share)
	make_directory("${prefix}/${name}")
endforeach()
foreach(name lib/gpukit lib/gpukit/fake lib/gpukit/fake/python lib/cmake/gpukit
		share/gpukit)
	make_directory("${prefix}/${name}")
	file(CHMOD "${prefix}/${name}" DIRECTORY_PERMISSIONS ${permissions})
endforeach()
