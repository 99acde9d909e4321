#!/bin/sh
# Starts a development server in a pane and continues once it listens: devServer.sh COMMAND…
# The server keeps running in its pane: `tmuxwire follow web` shows its output, `tmuxwire kill web` ends it.
set -eu
tmuxwire new web -- "$@" >/dev/null
# Include earlier output: a fast server may have printed its line before the wait starts.
url=$(tmuxwire wait web --from tail:1000 --regex 'https?://[^\s]+:[0-9]+' --timeout 60)
curl -fsS "$url"
