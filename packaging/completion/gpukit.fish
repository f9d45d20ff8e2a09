# SPDX-License-Identifier: Apache-2.0
# Completion for fish: asks the command itself, which reads its own options.
# Installed as share/fish/vendor_completions.d/gpukit.fish.

function __gpukit_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for answer in (command $words[1] --complete $words "$current" 2>/dev/null)
        switch $answer
            case :files
                set -l kept (string match -r -- '^-.*=' "$current")
                set -l begun (string replace -- "$kept" '' "$current")
                for path in (__fish_complete_path "$begun")
                    echo "$kept$path"
                end
            case :users
                __fish_complete_users
            case ':command *'
                set -l first (string replace ':command ' '' -- $answer)
                set -l rest $words[(math $first + 1)..] "$current"
                complete -C "$(string escape -- $rest[1..-2]) $rest[-1]"
            case '*'
                echo $answer
        end
    end
end

complete -c gpukit -f -a '(__gpukit_complete)'
