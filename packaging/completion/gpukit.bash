# SPDX-License-Identifier: Apache-2.0
# Completion for bash 4.4 or later: asks the command itself, which reads its own
# options. Installed as share/bash-completion/completions/gpukit; or source it.

# bash splits words at = and :, but gpukit must see them whole. Sets `words`.
_gpukit_words() {
	local line=$COMP_LINE word i
	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 0)) && [[ $line && $line != [[:blank:]]* ]] ||
			[[ ! $line && ! $word && ${words[*]} ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
		[[ ! $word ]] || line=${line#*"$word"}
	done
}

# The part of the current word that readline keeps: up to its last = or :.
_gpukit_kept() {
	local breaks=
	[[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
	[[ $COMP_WORDBREAKS != *:* ]] || breaks+=':'
	kept=
	[[ ! $breaks ]] || kept=${current%"${current##*["$breaks"]}"}
}

# A command line within this one, which begins at a word.
_gpukit_command() {
	local first=$1 kind=-f
	if declare -F _command_offset >/dev/null; then
		_command_offset "$((first + COMP_CWORD + 1 - ${#words[@]}))"
		return
	fi
	((first < ${#words[@]} - 1)) || kind=-c
	_gpukit_add < <(compgen "$kind" -- "$current")
}

_gpukit_add() {
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY
}

_gpukit() {
	local words current kept answer word
	_gpukit_words
	current=${words[-1]}
	_gpukit_kept
	COMPREPLY=()
	while IFS= read -r answer; do
		word=${answer%%$'\t'*}
		case $answer in
		:files)
			compopt -o filenames 2>/dev/null
			_gpukit_add < <(compgen -f -- "${current#"$kept"}")
			;;
		:users) _gpukit_add < <(compgen -u -- "${current#"$kept"}") ;;
		":command "*) _gpukit_command "${answer#:command }" ;;
		*)
			[[ $word != *[=:] ]] || compopt -o nospace 2>/dev/null
			COMPREPLY+=("${word#"$kept"}")
			;;
		esac
	done < <("${words[0]/#\~\//$HOME/}" --complete "${words[@]}" 2>/dev/null)
}

# Links to this file have the names of links to the command.
complete -F _gpukit gpukit "${BASH_SOURCE[0]##*/}"
