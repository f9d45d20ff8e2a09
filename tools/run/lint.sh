# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2046,SC2086
# Part of ./run: what can be said of the sources without running them.

# tool NAME VERSION: the program of that version; what is not here as
# NAME-MAJOR, as Debian calls it, comes from PyPI into build/lint.
tool() {
	! command -v "$1-${2%%.*}" || return 0
	[ -f "build/lint/$1-$2" ] || {
		[ -x build/lint/bin/pip ] || python3 -m venv build/lint
		build/lint/bin/pip install -q --disable-pip-version-check \
			"$1==$2"
		touch "build/lint/$1-$2"
	}
	echo "build/lint/bin/$1"
}

# changed [PATTERN...]: what differs from where this branch left main, is not
# committed, or is new.
changed() {
	base=$(git merge-base HEAD main 2>/dev/null ||
		git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
	git diff --name-only --diff-filter=d "$base" -- "$@"
	git ls-files --others --exclude-standard -- "$@"
}

# tidy [OPTION | FILE]...: clang-tidy; the compiler's commands tell it how a file
# is meant. PyPI's has no headers of its own, so that it takes those of clang.
tidy() {
	[ -f build/compile_commands.json ] || {
		need build test
		configure dev -DGPUKIT_TESTS=ON
	}
	program=$(tool clang-tidy 14.0.6)
	[ "$program" != build/lint/bin/clang-tidy ] ||
		set -- "--extra-arg=-resource-dir=$(clang -print-resource-dir)" "$@"
	python3 tools/tidy.py "$program" build "$@"
}

# lint_packaging FILES: recipes of packages, GitHub's files. What has no package
# here (namcap, a Nix) is left to where it is installed.
lint_packaging() {
	python3 tools/project.py check
	on "$1" 'shellcheck' 'tools/package/*.sh' 'packaging/*.sh'
	on "$1" 'shellcheck -s bash -e SC2034,SC2154,SC2164' \
		'packaging/aur/PKGBUILD'
	on "$1" "$(tool yamllint 1.38.0) -s -c tools/yamllint.yml" \
		'packaging/*.yml' '.github/*.yml' 'tools/*.yml'
	schema="$(tool check-jsonschema 0.39.0) -q --builtin-schema vendor.github"
	on "$1" "$schema-actions" 'packaging/action/action.yml'
	on "$1" "$schema-workflows" '.github/workflows/*.yml'
	on "$1" "$schema-issue-config" '.github/ISSUE_TEMPLATE/config.yml'
	on "$1" "$schema-issue-forms" '.github/ISSUE_TEMPLATE/*.yml' \
		':!.github/ISSUE_TEMPLATE/config.yml'
	! command -v actionlint >/dev/null ||
		on "$1" actionlint '.github/workflows/*.yml'
	! command -v namcap >/dev/null ||
		on "$1" namcap 'packaging/aur/PKGBUILD'
	! command -v nix-instantiate >/dev/null ||
		on "$1" 'nix-instantiate --parse' '*.nix' >/dev/null 2>&1
	! command -v rpmspec >/dev/null ||
		on "$1" 'rpmspec -P' 'packaging/rpm/*.spec' >/dev/null
}

# lint [--changed]: all of it builds first and takes minutes, the other one
# seconds.
lint() {
	need lint
	files='git ls-files'
	[ "${1:-}" != --changed ] || files=changed
	python3 tools/check-layers.py
	python3 tools/check-asserts.py
	python3 tools/check-spdx.py
	python3 tools/check-commits.py
	python3 tools/check-links.py
	sh tools/check-sizes.sh
	on "$files" 'shellcheck' run .ci/run 'tools/*.sh' 'tools/run/*.sh'
	lint_packaging "$files"
	on "$files" "$(tool ruff 0.17.5) check -q" '*.py' '*.pyi'
	on "$files" "$(tool oxlint 1.89.0) -c tools/oxlint.json -f unix" '*.js'
	on "$files" "$(tool clang-format 14.0.6) --dry-run -Werror" '*.c' '*.h'
	if [ "$files" = changed ]; then
		on changed 'sh tools/check-headers.sh' 'src/*.h' 'include/*.h'
		names=$(changed '*.c')
		[ -z "$names" ] || tidy $names
	else
		sh tools/check-headers.sh
		build
		python3 tools/check-doors.py
		tidy
	fi
	say "lint: clean"
}

# on FILES COMMAND PATTERN...: the command, with those of the files; nothing
# where there is none.
on() {
	list=$1
	command=$2
	shift 2
	names=$($list "$@")
	[ -z "$names" ] || echo "$names" | xargs $command
}
