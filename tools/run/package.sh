# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: packages and releases. Nothing here depends on the present time,
# the user or the directory, so that anybody can make the same bytes.

PACKAGES=${PACKAGES:-$PWD/build/packages}
MACHINES=${MACHINES:-x86_64 aarch64}

# version: prints the version of this checkout.
version() {
	sed -n 's/^project(gpukit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt
}

# commit_time: prints when the commit was made, in seconds; of sources without
# history, when they changed.
commit_time() {
	git log -1 --format=%ct 2>/dev/null ||
		stat -c %Y CHANGELOG.md
}

# fact NAME: prints a value of packaging/project.conf.
fact() {
	sed -n "s/^$1=//p" packaging/project.conf
}

# package [KIND...]: makes each KIND, by default all, in build/packages.
package() {
	[ $# -gt 0 ] || set -- tar deb rpm wheels images
	for kind in "$@"; do
		case $kind in
		tar | deb | rpm | wheels | images | source) ;;
		*) fail "package makes no '$kind'; it makes tar, deb, rpm," \
			"wheels, images, source" ;;
		esac
	done
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(commit_time)}
	VERSION=${PACKAGE_VERSION:-$(version)}
	export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC0
	umask 022
	mkdir -p "$PACKAGES"
	for kind in "$@"; do
		"package_$kind"
	done
}

# portable_machines: prints the machines for which ./run portable has run.
portable_machines() {
	for machine in $MACHINES; do
		[ ! -x "build/portable/$machine/bin/gpukit" ] || echo $machine
	done
}

need_portable() {
	[ -n "$(portable_machines)" ] ||
		portable $(printf -- '--target %s ' $MACHINES)
	[ -n "$(portable_machines)" ] ||
		fail "./run portable made no build/portable/MACHINE/bin/gpukit"
}

# notices FILE: writes the licences of what is linked into the portable build.
notices() {
	python3 tools/sbom.py notices >"$1.new"
	mv "$1.new" "$1"
}

# stage MACHINE TREE: the portable tree as it is shipped, with the command at
# its top.
stage() {
	rm -rf "$2"
	mkdir -p "$2"
	for part in bin lib share include; do
		[ ! -d "build/portable/$1/$part" ] ||
			cp -a "build/portable/$1/$part" "$2"
	done
	# cmake strips only what it installs as a target of its own; the rest
	# tells in which directory Zig's compiler was.
	find "$2/lib" -type f \( -name '*.so*' -o -name '*.a' \) -exec \
		"build/portable/work/$1/tools/strip" --strip-debug \
		--enable-deterministic-archives {} +
	manual "$2"
	ln -s bin/gpukit "$2/gpukit"
	cp LICENSE CHANGELOG.md "$2"
	notices "$2/THIRD-PARTY.txt"
}

# manual TREE: adds the manual, which a build for another machine cannot write.
manual() {
	here=build/portable/$(uname -m)/bin/gpukit
	[ ! -f "$1/share/man/man1/gpukit.1" ] && [ -x "$here" ] || return 0
	mkdir -p "$1/share/man/man1" "$1/share/man/man5"
	"$here" --manual "$1/share/man/man1"
	mv "$1"/share/man/man1/*.5 "$1/share/man/man5"
}

# pack OUT DIRECTORY NAME: the same tar for the same files
pack() {
	tar -C "$2" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" \
		--owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		-cf - "$3" | xz -9 -T1 >"$1.new"
	mv "$1.new" "$1"
	say "${1#"$PWD/"}"
}

package_tar() {
	need_portable
	for machine in $(portable_machines); do
		name=gpukit-$VERSION-$machine
		stage $machine "build/stage/$name"
		pack "$PACKAGES/$name.tar.xz" build/stage "$name"
	done
}

# Only what is committed is in it.
package_source() {
	name=gpukit-$VERSION
	made=$PACKAGES/$name-source.tar
	git -c tar.umask=0022 archive --format=tar --prefix="$name/" \
		-o "$made" HEAD || fail "git has no sources here"
	xz -9 -T1 -f "$made"
	say "${made#"$PWD/"}.xz"
}

package_deb() {
	need build package
	mkdir -p build/deb
	cmake --preset release -B build/deb -DGPUKIT_TESTS=OFF \
		-DCMAKE_INSTALL_PREFIX=/usr -DGPUKIT_STATIC_DEPS=OFF \
		-DGPUKIT_WERROR="${GPUKIT_WERROR:-OFF}" \
		-DGPUKIT_PYTHONDIR=lib/python3/dist-packages \
		-DGPUKIT_PACKAGE_VERSION="$VERSION" >build/deb/configure.log ||
		fail "see build/deb/configure.log"
	ninja -C build/deb --quiet
	rm -rf build/deb/packages
	(cd build/deb && cpack >cpack.log 2>&1) || {
		cat build/deb/cpack.log >&2
		fail "cpack failed"
	}
	for made in build/deb/packages/*.deb; do
		cp "$made" "$PACKAGES"
		say "${PACKAGES#"$PWD/"}/${made##*/}"
	done
}

package_rpm() {
	need package
	need_portable
	for machine in $(portable_machines); do
		stage $machine build/stage/rpm
		rpmbuild --quiet -bb --target $machine-linux \
			--define "_topdir $PWD/build/rpm" \
			--define "_rpmdir $PWD/build/rpm/out" \
			--define "_lib lib64" --define "_libdir /usr/lib64" \
			--define "package_version $VERSION" \
			--define "portable_tree $PWD/build/stage/rpm" \
			--define "url $(fact PROJECT_URL)" \
			--define "maintainer $(fact PROJECT_MAINTAINER)" \
			packaging/rpm/gpukit.spec >build/rpm.log 2>&1 || {
			cat build/rpm.log >&2
			fail "rpmbuild failed"
		}
		for made in "build/rpm/out/$machine/"*-"$VERSION"-1.*.rpm; do
			cp "$made" "$PACKAGES"
			say "${PACKAGES#"$PWD/"}/${made##*/}"
		done
	done
}

package_wheels() {
	[ -f tools/wheel.py ] || fail "no tools/wheel.py"
	need_portable
	wheels "$PACKAGES"
}

package_images() {
	need_portable
	need fresh
	sh tools/package/base.sh
	for machine in $(portable_machines); do
		[ $machine = "$(uname -m)" ] || continue
		stage $machine build/stage/image
		python3 tools/package/image.py --tree build/stage/image \
			--base build/fresh/base.tar --version "$VERSION" \
			"$PACKAGES"
	done
}
