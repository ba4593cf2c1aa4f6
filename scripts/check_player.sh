#!/bin/sh
# Opens PAGE.html (written by `pliant_scene::export::player`) in headless chromium at two times and checks that it reports
# `ready` with the right number of frames, draws something, and shows a different picture at the two times.
#
#   scripts/check_player.sh PAGE.html [FOLDER]      FOLDER keeps the two pictures
#
# Needs Debian's chromium and python3 (standard library only). PLIANT_CHROMIUM names another chromium.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 PAGE.html [FOLDER]" >&2
    exit 2
fi
chromium=${PLIANT_CHROMIUM:-chromium}
if ! command -v "$chromium" >/dev/null 2>&1; then
    if [ -z "${PLIANT_CHROMIUM:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing chromium" >&2
        if ! apt-get install -y chromium >/dev/null 2>&1; then
            apt-get update >/dev/null && apt-get install -y chromium >/dev/null
        fi
    else
        echo "this check needs $chromium; on Debian: sudo apt-get install chromium" >&2
        exit 2
    fi
fi
exec python3 "$(dirname "$0")/check_player.py" "$chromium" "$@"
