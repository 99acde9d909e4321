# Marks the commands of zsh (OSC 133), where tmux itself has started it. ZDOTDIR of the environment
# (daemon/servers/owned/shellMarks.ts) leads zsh here: the environment is restored before any of the user's files is read.
_tmuxwire_dir=${ZDOTDIR%/zsh}
unset ZDOTDIR
if [[ ${PROMPT_COMMAND-} == *"$_tmuxwire_dir/marks.bash"* ]]; then unset PROMPT_COMMAND; fi
if [[ ${XDG_DATA_DIRS-} == *"$_tmuxwire_dir:"* ]]; then
  XDG_DATA_DIRS=${XDG_DATA_DIRS/"$_tmuxwire_dir:"/}
  if [[ $XDG_DATA_DIRS == /usr/local/share:/usr/share ]]; then unset XDG_DATA_DIRS; fi
fi
unset _tmuxwire_dir

if [[ -o interactive && ${TMUX-} == *,$PPID,* ]]; then
  # At the first prompt, behind all start-up files.
  _tmuxwire_first() {
    emulate -L zsh
    precmd_functions=(${precmd_functions:#_tmuxwire_first})
    unfunction _tmuxwire_first
    # Marks of another integration are not doubled.
    if [[ "${PS1-}${PROMPT_EOL_MARK-}${(j::)functions}" == *']133;'* ]]; then return; fi

    _tmuxwire_next() {
      # RANDOM would be predictable, and taking from it would change what the user gets.
      { read -r _tmuxwire_key </proc/sys/kernel/random/uuid } 2>/dev/null || _tmuxwire_key=$RANDOM$RANDOM$RANDOM
      # What zsh prints where output has no line end at its end comes before any function: its mark begins with ours.
      if [[ ${PROMPT_EOL_MARK-} != "${_tmuxwire_mark-}" || -z ${_tmuxwire_mark-} ]]; then
        _tmuxwire_theirs=${PROMPT_EOL_MARK-%B%S%#%s%b}
      fi
      _tmuxwire_mark=$'%{\e]133;D;%?;tmuxwire='$_tmuxwire_key$'\a%}'$_tmuxwire_theirs
      PROMPT_EOL_MARK=$_tmuxwire_mark
      typeset -g +x _tmuxwire_key _tmuxwire_mark _tmuxwire_theirs PROMPT_EOL_MARK
    }
    # The groups' redirections hide what `set -x` shows.
    _tmuxwire_done() {
      {
        local code=$? isShown=
        if [[ -o promptsp && -o promptcr && ${PROMPT_EOL_MARK-} == "$_tmuxwire_mark" ]]; then isShown=1; fi
        emulate -L zsh
        if [[ -t 1 && -z $isShown ]]; then builtin print -n "\e]133;D;$code;tmuxwire=$_tmuxwire_key\a"; fi
        _tmuxwire_next
      } 2>/dev/null
    }
    # Where zsh asks whether a typed word is meant, a command is not typed as it is.
    _tmuxwire_prompt() {
      { if [[ -t 1 && ! -o correct && ! -o correctall ]]; then builtin print -n '\e]133;A;tmuxwire\a'; fi } 2>/dev/null
    }
    _tmuxwire_command() {
      { if [[ -t 1 ]]; then builtin print -n "\e]133;C;tmuxwire=$_tmuxwire_key\a"; fi } 2>/dev/null
    }
    # The line that removes itself (daemon/shell/shellLine.ts) puts its command into the history.
    _tmuxwire_history() {
      { [[ $1 != *' :; _tw='* ]] } 2>/dev/null
    }
    zshaddhistory_functions+=(_tmuxwire_history)
    precmd_functions=(_tmuxwire_done $precmd_functions _tmuxwire_prompt)
    preexec_functions+=(_tmuxwire_command)
    _tmuxwire_next
    _tmuxwire_prompt
  }
  precmd_functions+=(_tmuxwire_first)
fi

if [[ -r ${HOME-}/.zshenv ]]; then . "$HOME/.zshenv"; fi
