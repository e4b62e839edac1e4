#!/bin/sh
# Imitates the start of whisper-server according to https://github.com/ggml-org/whisper.cpp,
# examples/server/server.cpp: on an unknown option it prints its usage and exits with 0; it exits with 3 if the model
# cannot be read, and with 1 if the port is taken. Then it becomes the server of `whisper_server.rs`. The file
# `start` selects how often the start fails and how.
place=${0%/*}
echo "$$" >>"$place/servers"

refuse() {
    echo "$2" >>"$place/complaints"
    echo "SECRET-BODY $2" >&2
    exit "$1"
}

[ "$OMP_WAIT_POLICY" = passive ] || refuse 0 "its threads wait in loops"
model= host= port= public= path=
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || refuse 0 "no value: $1"
    case $1 in
    -m | --model) model=$2 ;;
    --host) host=$2 ;;
    --port) port=$2 ;;
    --public) public=$2 ;;
    --request-path) path=$2 ;;
    *) refuse 0 "unknown argument: $1" ;;
    esac
    shift 2
done
[ -f "$model" ] || refuse 3 "failed to initialize whisper context"
[ "$host" = 127.0.0.1 ] || refuse 1 "open to others: $host"
[ -d "$public" ] && [ -z "$(ls -A "$public")" ] || refuse 1 "it would serve files: $public"
case $path in
/????????????????????????????????) ;;
*) refuse 1 "a path that others guess: $path" ;;
esac

read -r start count <"$place/start"
case $start in
taken)
    [ "$count" -gt 1 ] && echo "taken $((count - 1))" >"$place/start" || echo "fine 0" >"$place/start"
    echo "couldn't bind to server socket: hostname=$host port=$port" >&2
    exit 1
    ;;
deaf) exec sleep 1000 ;;
esac
printf '%s\n' "$port" "$path" "$place" >"$public/address"
cd "$public" || exit 1
exec "$(cat "$place/executable")" --exact vendor::whisper_server::this_process_serves_if_it_was_started_for_that
