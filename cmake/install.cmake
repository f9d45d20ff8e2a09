# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs everything (see directories.cmake). Everybody may
# read the files, whatever the umask of the build and of the installation: no
# modes are copied from the build tree. Components are the packages of
# packages.cmake; files without one belong to the command.
install(TARGETS gpukit-cli RUNTIME DESTINATION ${GPUKIT_BINDIR})
install(TARGETS gpukit LIBRARY DESTINATION ${GPUKIT_LIBDIR}
	COMPONENT libgpukit0 NAMELINK_COMPONENT libgpukit-dev)
install(TARGETS vgpu LIBRARY DESTINATION ${GPUKIT_LIBRARIES}
	COMPONENT gpukit-limit)
get_property(blas GLOBAL PROPERTY GPUKIT_BLAS_TARGETS)
get_property(cudart GLOBAL PROPERTY GPUKIT_CUDART_TARGETS)
install(TARGETS gpukit-fake nvml-front cuda-front gpukit-audit ${blas} ${cudart}
	LIBRARY DESTINATION ${GPUKIT_FAKE_INSTALL} COMPONENT gpukit-fake)
# Links stay links.
foreach(name ${library_names})
	install(FILES ${GPUKIT_FAKE_DIR}/lib${name}.so
		DESTINATION ${GPUKIT_FAKE_INSTALL} COMPONENT gpukit-fake)
endforeach()
get_property(directories GLOBAL PROPERTY GPUKIT_GENERATION_DIRS)
get_property(cudart_directories GLOBAL PROPERTY GPUKIT_CUDART_DIRS)
install(DIRECTORY ${directories} ${cudart_directories}
	DESTINATION ${GPUKIT_FAKE_INSTALL} COMPONENT gpukit-fake)
# The target of the link nvidia-smi depends on the place of the libraries.
way_to_prefix(way "${GPUKIT_FAKE_INSTALL}/bin" .)
string(REGEX REPLACE "^\\./" "" way "${way}")
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/install)
file(CREATE_LINK ${way}/${GPUKIT_BINDIR}/gpukit
	${PROJECT_BINARY_DIR}/install/nvidia-smi SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/install/nvidia-smi
	DESTINATION ${GPUKIT_FAKE_INSTALL}/bin COMPONENT gpukit-fake)
install(DIRECTORY include/gpukit DESTINATION ${GPUKIT_INCLUDEDIR}
	COMPONENT libgpukit-dev)
# For other projects to find gpukit. Both files locate it relative to
# themselves, so that the prefix may be moved.
include(CMakePackageConfigHelpers)
way_to_prefix(prefix_of_pc "${GPUKIT_LIBDIR}/pkgconfig" "\${pcfiledir}")
way_to_prefix(prefix_of_config "${GPUKIT_LIBDIR}/cmake/gpukit"
	"\${CMAKE_CURRENT_LIST_DIR}")
below(libdir "${GPUKIT_LIBDIR}" "\${prefix}")
below(includedir "${GPUKIT_INCLUDEDIR}" "\${prefix}")
below(libdir_of_config "${GPUKIT_LIBDIR}" "\${gpukit_prefix}")
below(includedir_of_config "${GPUKIT_INCLUDEDIR}" "\${gpukit_prefix}")
configure_file(cmake/gpukit.pc.in lib/pkgconfig/gpukit.pc @ONLY)
configure_file(cmake/gpukit-config.cmake.in gpukit-config.cmake @ONLY)
# A program that was compiled with 0.x runs with each later 0.x: one SONAME.
write_basic_package_version_file(
	${PROJECT_BINARY_DIR}/gpukit-config-version.cmake
	COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/gpukit.pc
	DESTINATION ${GPUKIT_LIBDIR}/pkgconfig COMPONENT libgpukit-dev)
install(FILES ${PROJECT_BINARY_DIR}/gpukit-config.cmake
	${PROJECT_BINARY_DIR}/gpukit-config-version.cmake
	DESTINATION ${GPUKIT_LIBDIR}/cmake/gpukit COMPONENT libgpukit-dev)
install(DIRECTORY examples/ DESTINATION ${GPUKIT_DATA}/examples
	COMPONENT libgpukit-dev FILES_MATCHING PATTERN "*.c")
# libcurand contains their table.
install(DIRECTORY src/fronts/curand/ DESTINATION ${GPUKIT_DATA}/licences
	COMPONENT gpukit-fake FILES_MATCHING PATTERN "joe_kuo.txt")
install(DIRECTORY profiles/ DESTINATION ${GPUKIT_DATA}/profiles
	COMPONENT gpukit-fake FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY scenarios/ DESTINATION ${GPUKIT_DATA}/scenarios
	COMPONENT gpukit-fake FILES_MATCHING PATTERN "*.yaml")
# systemd looks here under /usr and /usr/local, on every architecture.
install(FILES packaging/tmpfiles.d/gpukit.conf DESTINATION lib/tmpfiles.d)
install(DIRECTORY packaging/grafana packaging/prometheus
	DESTINATION ${GPUKIT_DATA})
install(DIRECTORY packaging/valgrind DESTINATION ${GPUKIT_DATA}
	COMPONENT gpukit-fake)
install(DIRECTORY DESTINATION ${GPUKIT_DATA}/systemd)
configure_file(cmake/install-unit.cmake.in install-unit.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/install-unit.cmake)
