# Marks the commands of fish (OSC 133) in a pane of ours. XDG_DATA_DIRS of the environment (daemon/servers/owned/shellMarks.ts)
# leads fish here, ahead of the user's config.fish; the environment is restored first.
set -l dir (string replace -r '/fish/vendor_conf\.d/[^/]*$' '' -- (status filename))
if test "$ZDOTDIR" = "$dir/zsh"
    set -e ZDOTDIR
end
if string match -q "*$dir/marks.bash*" -- "$PROMPT_COMMAND"
    set -e PROMPT_COMMAND
end
set -l added $dir
set -l rest (string replace -- "$dir:" '' "$XDG_DATA_DIRS")
if test "$rest" = /usr/local/share:/usr/share
    set -e XDG_DATA_DIRS
    # Without the variable, fish looks into its own folder only.
    set -a added (string match -v -- (string replace -r '/fish$' '' -- $__fish_data_dir) /usr/local/share /usr/share)
else if test "$rest" != "$XDG_DATA_DIRS"
    set -gx XDG_DATA_DIRS $rest
end
for list in __fish_vendor_completionsdirs __fish_vendor_functionsdirs __fish_vendor_confdirs fish_function_path fish_complete_path
    for folder in $added
        set $list (string match -v "$folder/fish/vendor_*" -- $$list)
    end
end

# From version 4 on fish marks its commands itself. A shell in this one would have SHLVL 2.
if status is-interactive; and set -q TMUX; and test "$SHLVL" = 1; and string match -qr '^[23]\.' -- $version
    # At the first prompt, behind config.fish.
    function __tmuxwire_first --on-event fish_prompt
        functions -e __tmuxwire_first
        # Marks of another integration are not doubled.
        for name in fish_prompt (functions --handlers-type generic | string replace -rf '^fish_\S+ ' '')
            if string match -q '*]133;*' -- (functions -- $name)
                return
            end
        end

        function __tmuxwire_prompt --on-event fish_prompt
            printf '\e]133;A;tmuxwire\a'
        end
        function __tmuxwire_command --on-event fish_preexec
            # random would be predictable, and taking from it would change what the user gets.
            test -r /proc/sys/kernel/random/uuid; and read -gu __tmuxwire_key </proc/sys/kernel/random/uuid
            or set -gu __tmuxwire_key (random)(random)(random)
            printf '\e]133;C;tmuxwire=%s\a' $__tmuxwire_key
        end
        function __tmuxwire_done --on-event fish_postexec
            printf '\e]133;D;%s;tmuxwire=%s\a' $status $__tmuxwire_key
        end
        __tmuxwire_prompt
    end
end
