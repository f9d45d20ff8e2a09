# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: checks that take too long for every day.

# nightly [PART]...: runs each part in a process of its own; a failed part does
# not stop the others.
nightly() {
	[ $# -gt 0 ] || set -- sanitizers analyzer fuzz fresh howtos packages \
		portable
	for part in "$@"; do
		case $part in
		sanitizers | analyzer | fuzz | fresh | howtos | docs | packages | \
			portable | soak | torch | real) ;;
		*) fail "nightly has no part '$part'; its parts are sanitizers," \
			"analyzer, fuzz, fresh, howtos, docs, packages, portable," \
			"soak, torch, real" ;;
		esac
	done
	if [ $# = 1 ]; then
		case $1 in
		portable) trees ;;
		*) "$1" ;;
		esac
		return
	fi
	failed=
	for part in "$@"; do
		say "nightly $part: begins at $(date +%H:%M)"
		./run nightly "$part" || failed="$failed $part"
	done
	[ -z "$failed" ] || fail "nightly: failed:$failed"
	say "nightly: passed: $* at $(date +%H:%M)"
}

# The static analyzer of clang, which follows the paths through each function, for
# all but the tests: it does not know that cmocka's assertions leave a function.
analyzer() {
	need lint
	build # a header is written by it
	checks='-*,clang-analyzer-core*,clang-analyzer-unix*'
	# POSIX lets a child of vfork() only execute; on Linux it may write, too,
	# as that of the recorder does.
	tidy --checks="$checks,-clang-analyzer-unix.Vfork" \
		$(git ls-files '*.c' ':!tests')
	say "analyzer: clean"
}

# fresh [SUITE]...: README's two commands on bare machines.
fresh() {
	need fresh
	sh tools/fresh.sh "$@"
}

# docs [SUITE]: the commands of README.md and docs/ on a bare machine. (The site is
# site, in ./run.)
docs() {
	need fresh
	sh tools/docs-bare.sh "$@"
}

# howtos: follows the HOWTOs of docs/ in a tree of its own.
howtos() {
	need build fake test
	python_packages
	GPUKIT_HOWTOS=1 build/venv/bin/python -m pytest -q \
		-p no:cacheprovider tests/tools/test_howtos.py
}

# packages: each kind of KINDS in a bare tree, over one with an older number.
packages() {
	need fresh package
	kinds=${KINDS:-deb tar rpm wheels images}
	older=0.1.999
	rm -rf build/packages build/packages-old
	old_kinds=$(echo "$kinds" | sed 's/images//')
	[ -z "${old_kinds# }" ] || PACKAGE_VERSION=$older \
		PACKAGES=$PWD/build/packages-old ./run package $old_kinds
	mkdir -p build/packages-old
	./run package $kinds
	sh tools/package/check.sh $older "$(version)" $kinds
}

# Runs the tests of the command and of the truth on a build with the address and
# undefined-behaviour sanitizers. Leaks are checked in our programs
# (tests/sanitizer has a file for each), but not in programs that load our
# libraries, because CPython leaks memory itself. Reports go to files, so that
# no test takes them for the program's output; a report is a failure.
sanitizers() {
	need build fake wheel test
	configure asan
	ninja -C build/asan --quiet
	python_packages
	python=$(python_with_pytest)
	reports=$PWD/build/asan/reports
	rm -rf "$reports"
	mkdir "$reports"
	GPUKIT_PRELOAD=$(${CC:-gcc} -print-file-name=libasan.so)
	LD_PRELOAD=$GPUKIT_PRELOAD
	ASAN_OPTIONS="detect_leaks=0:handle_sigbus=0:log_path=$reports/report"
	ASAN_OPTIONS="$ASAN_OPTIONS:include_if_exists=$PWD/tests/sanitizer/%b"
	UBSAN_OPTIONS=print_stacktrace=1
	(
		export GPUKIT_PRELOAD LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS
		python_tests build/asan "$python" tests/cli tests/truth
		exit "$python_status"
	) || python_status=$?
	cat "$reports"/* 2>/dev/null | grep -E 'ERROR|SUMMARY|runtime error|^ +#' |
		head -60 >&2
	[ -z "$(ls "$reports")" ] || fail "see $reports"
	[ "$python_status" = 0 ] || fail "tests failed"
}

fuzz() {
	need build test
	configure fuzz
	ninja -C build/fuzz --quiet
	for target in build/fuzz/tests/fuzz-*; do
		corpus=build/fuzz/corpus/${target##*-}
		mkdir -p "$corpus"
		say "$target"
		"$target" -max_total_time="${FUZZ_SECONDS:-30}" -max_len=4096 \
			-malloc_limit_mb=256 -rss_limit_mb=1024 \
			-print_final_stats=1 "$corpus" \
			>"$corpus.log" 2>&1 || {
			tail -n 40 "$corpus.log" >&2
			fail "$target found something; see $corpus.log"
		}
		grep -E 'number_of_executed_units' "$corpus.log" >&2
	done
	build
	python_packages
	configure asan
	ninja -C build/asan --quiet
	for feed in hosts replay machine; do
		say "tests/fuzz/pty_fuzz.py $feed"
		GPUKIT_BUILD=build/asan build/venv/bin/python \
			tests/fuzz/pty_fuzz.py $feed \
			--seconds "${PTY_SECONDS:-60}"
	done
	say "random calls of NVML"
	GPUKIT_CALLS=${FUZZ_CALLS:-1000000000} GPUKIT_SEED=$(date +%s) \
		build/tests/test-nvml-calls
	say "kills, forks and execs over the limiter's ledger"
	build/tests/test-limit-storm "${STORM_SECONDS:-600}"
}

soak() {
	need test
	build
	python_packages
	configure asan
	ninja -C build/asan --quiet
	any=
	for tree in build build/asan; do
		say "tests/soak/soak_top.py with $tree"
		for look in lanes nvitop; do
			GPUKIT_BUILD=$tree build/venv/bin/python \
				tests/soak/soak_top.py $any --look $look \
				--seconds $((${SOAK_SECONDS:-600} / 2))
		done
		any=--any-memory
	done
	cuda_toolkit
	say "tests/soak/soak_classic.py"
	build/venv/bin/python tests/soak/soak_classic.py \
		--seconds "${SOAK_SECONDS:-300}"
}
