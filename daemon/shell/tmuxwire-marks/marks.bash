# Marks the commands of bash (OSC 133), where tmux itself has started it; anywhere else it only removes itself. PROMPT_COMMAND
# of the environment (daemon/servers/owned/shellMarks.ts) reads this file at the first prompt, behind all start-up files.
# Some prompts keep that command and run it again and again.
[[ -z ${_tmuxwire_key+set} ]] || return 0
_tmuxwire_key=
_tmuxwire_version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))
_tmuxwire_dir=${BASH_SOURCE[0]%/*}
if [[ ${ZDOTDIR-} == "$_tmuxwire_dir/zsh" ]]; then unset ZDOTDIR; fi
if [[ ${XDG_DATA_DIRS-} == *"$_tmuxwire_dir:"* ]]; then
  XDG_DATA_DIRS=${XDG_DATA_DIRS/"$_tmuxwire_dir:"/}
  if [[ $XDG_DATA_DIRS == /usr/local/share:/usr/share ]]; then unset XDG_DATA_DIRS; fi
fi
# Start-up files may have put commands around ours; those behind it see the status of the user's command, as without ours.
_tmuxwire_ours="if [[ \$- != *r* && -r '$_tmuxwire_dir/marks.bash' ]]; then . '$_tmuxwire_dir/marks.bash' \"\$(trap -p DEBUG)\"; fi"
_tmuxwire_theirs=${PROMPT_COMMAND-}
if [[ $_tmuxwire_theirs == "$_tmuxwire_ours"* ]]; then
  _tmuxwire_theirs=${_tmuxwire_theirs#"$_tmuxwire_ours"}
  _tmuxwire_theirs=${_tmuxwire_theirs#"${_tmuxwire_theirs%%[!;[:space:]]*}"}
else
  _tmuxwire_theirs=${_tmuxwire_theirs/"$_tmuxwire_ours"/:}
fi
unset _tmuxwire_ours _tmuxwire_dir
# Read-only, or bound to its place: it stays as it is.
if ! (unset -v PROMPT_COMMAND) 2>/dev/null; then return 0; fi
if [[ ${PROMPT_COMMAND+set} ]]; then
  PROMPT_COMMAND=$_tmuxwire_theirs
  export -n PROMPT_COMMAND
  if [[ -z ${PROMPT_COMMAND[*]} ]]; then
    unset PROMPT_COMMAND
  elif [[ -z $PROMPT_COMMAND ]] && ((_tmuxwire_version < 501)); then
    # Of elements, these versions run the first one only, which was ours.
    PROMPT_COMMAND=("${PROMPT_COMMAND[@]:1}")
    eval "$PROMPT_COMMAND"
  fi
fi
unset _tmuxwire_theirs
# PS0 is new in bash 4.4, and may not expand variables. A DEBUG trap would see our commands. Marks of another integration are
# not doubled.
if ((_tmuxwire_version < 404)) || ! shopt -q promptvars || [[ ${TMUX-} != *",$PPID,"* || -n ${1-} ]] ||
  [[ "${PS0-}${PS1-}${PROMPT_COMMAND[*]-}$(declare -f)" == *']133;'* ]]; then return 0; fi

_tmuxwire_next() {
  # RANDOM would be predictable, and taking from it would change what the user gets.
  if [[ -n ${SRANDOM-} ]]; then
    _tmuxwire_key=$SRANDOM$SRANDOM
  else
    { read -r _tmuxwire_key </proc/sys/kernel/random/uuid; } 2>/dev/null || _tmuxwire_key=$RANDOM$RANDOM$RANDOM
  fi
  export -n _tmuxwire_key
}
_tmuxwire_done() {
  local code=$?
  if [[ -t 1 ]]; then builtin printf '\e]133;D;%s;tmuxwire=%s\a' "$code" "$_tmuxwire_key"; fi
  _tmuxwire_next
  # For the user's own PROMPT_COMMAND; with `set -e` it would end the shell.
  [[ $- == *e* ]] || return "$code"
}
_tmuxwire_prompt() {
  if [[ -t 1 ]]; then builtin printf '\e]133;A;tmuxwire\a'; fi
}
export -nf _tmuxwire_next _tmuxwire_done _tmuxwire_prompt
_tmuxwire_next
# The redirections hide what `set -x` shows.
_tmuxwire_a='{ _tmuxwire_prompt; } 2>/dev/null'
if [[ ${PROMPT_COMMAND+set} && ${PROMPT_COMMAND@a} == *a* ]] && ((_tmuxwire_version >= 501)); then
  PROMPT_COMMAND='{ _tmuxwire_done; } 2>/dev/null'$'\n'$PROMPT_COMMAND
  # Runs at this prompt, too.
  PROMPT_COMMAND+=("$_tmuxwire_a")
else
  PROMPT_COMMAND='{ _tmuxwire_done; } 2>/dev/null'$'\n'${PROMPT_COMMAND+$PROMPT_COMMAND$'\n'}$_tmuxwire_a
  _tmuxwire_prompt
fi
unset _tmuxwire_a _tmuxwire_version
export -n PROMPT_COMMAND
PS0=${PS0-}'\e]133;C;tmuxwire=${_tmuxwire_key}\a'
