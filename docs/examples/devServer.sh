#!/bin/sh
# Starts a development server in a pane and goes on once it listens: devServer.sh COMMAND…
# The server stays in its pane, whoever leaves: `tmuxwire follow web` shows it, `tmuxwire kill web` ends it.
set -eu
tmuxwire new web -- "$@" >/dev/null
# From what is retained on: a server that is quick has printed its line before we ask.
url=$(tmuxwire wait web --from tail:1000 --regex 'https?://[^\s]+:[0-9]+' --timeout 60)
curl -fsS "$url"
