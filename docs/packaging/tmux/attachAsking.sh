#!/bin/sh
# Shows the agent that asks in the client that pressed the key, or says that none does.
said=$("$PROGRAM" attach --asking 2>&1) && exit 0
# tmux expands formats and times in a message.
tmux display-message "$(printf '%s' "$said" | head -n 1 | sed 's/#/##/g; s/%/%%/g')"
