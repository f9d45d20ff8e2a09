# `cmake --install` puts everything in its place: the build tree's layout under
# the prefix, so that the command finds its libraries and profiles relative to
# itself. Everybody may read it, whatever umask it was built and is installed
# with: no modes are taken over from the build tree.
set(GPUKIT_FAKE_INSTALL lib/gpukit/fake)

install(TARGETS gpukit-cli RUNTIME DESTINATION bin)
install(TARGETS gpukit LIBRARY DESTINATION lib)
install(TARGETS vgpu LIBRARY DESTINATION lib/gpukit)
get_property(blas GLOBAL PROPERTY GPUKIT_BLAS_TARGETS)
get_property(cudart GLOBAL PROPERTY GPUKIT_CUDART_TARGETS)
install(TARGETS gpukit-fake nvml-front cuda-front gpukit-audit ${blas} ${cudart}
	LIBRARY DESTINATION ${GPUKIT_FAKE_INSTALL})
# Links are kept as such.
install(FILES ${GPUKIT_FAKE_DIR}/libcuda.so
	DESTINATION ${GPUKIT_FAKE_INSTALL})
get_property(directories GLOBAL PROPERTY GPUKIT_GENERATION_DIRS)
get_property(cudart_directories GLOBAL PROPERTY GPUKIT_CUDART_DIRS)
install(DIRECTORY ${directories} ${cudart_directories}
	DESTINATION ${GPUKIT_FAKE_INSTALL})
install(DIRECTORY ${GPUKIT_FAKE_DIR}/bin
	DESTINATION ${GPUKIT_FAKE_INSTALL})
install(DIRECTORY include/gpukit DESTINATION include)
# How other projects find it. Both say where they are by their own place, so
# that the prefix may be moved.
include(CMakePackageConfigHelpers)
configure_file(cmake/gpukit.pc.in lib/pkgconfig/gpukit.pc @ONLY)
configure_file(cmake/gpukit-config.cmake.in gpukit-config.cmake @ONLY)
write_basic_package_version_file(
	${PROJECT_BINARY_DIR}/gpukit-config-version.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/gpukit.pc
	DESTINATION lib/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/gpukit-config.cmake
	${PROJECT_BINARY_DIR}/gpukit-config-version.cmake
	DESTINATION lib/cmake/gpukit)
install(DIRECTORY examples/ DESTINATION share/gpukit/examples
	FILES_MATCHING PATTERN "*.c")
# libcurand has their table inside.
install(DIRECTORY src/fronts/curand/ DESTINATION share/gpukit/licences
	FILES_MATCHING PATTERN "joe_kuo.txt")
install(DIRECTORY profiles/ DESTINATION share/gpukit/profiles
	FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY scenarios/ DESTINATION share/gpukit/scenarios
	FILES_MATCHING PATTERN "*.yaml")
# Where systemd looks for it under /usr and /usr/local.
install(FILES packaging/tmpfiles.d/gpukit.conf DESTINATION lib/tmpfiles.d)
install(DIRECTORY packaging/grafana packaging/prometheus
	DESTINATION share/gpukit)
install(DIRECTORY DESTINATION share/gpukit/systemd)
configure_file(cmake/install-unit.cmake.in install-unit.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/install-unit.cmake)
