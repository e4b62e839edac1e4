# Shared by all imitated programs. Each run is recorded in a new numbered directory below `calls`. The file
# `mood` selects the behavior. Once `pid` contains a number, all other files of the record are complete.

place=${0%/*}
number=1
while ! mkdir "$place/calls/$number" 2>/dev/null; do number=$((number + 1)); done
call=$place/calls/$number
printf '%s\0' "$@" >"$call/arguments"
export -p >"$call/environment"
pwd >"$call/directory"
read -r mood count <"$place/mood"

# Records the start and applies the mood's behavior that precedes any work.
noticed() {
    echo "$$" >"$call/pid"
    case $mood in
    error)
        echo "SECRET-BODY $(cat "$call/arguments" "$call/stdin" 2>/dev/null | tr '\0' ' ')" >&2
        exit 1
        ;;
    hang) exec sleep 1000 ;;
    loud) head -c 1000000 /dev/zero | tr '\0' 'x' >&2 ;;
    esac
}

# Exits with the documented status and records the reason.
refuse() {
    echo "$2" >"$call/complaint"
    echo "SECRET-BODY $2" >&2
    exit "$1"
}

# Outputs a file as the mood requires, completely or in part. The caller redirects the output.
give() {
    case $mood in
    stall | break) head -c "$count" "$1" ;;
    empty) ;;
    page) echo '<!doctype html><title>Log in</title><p>SECRET-BODY' ;;
    other) echo '{ "detail": "SECRET-BODY" }' ;;
    *) cat "$1" ;;
    esac
}

# Applies the mood's behavior after the output.
end() {
    case $mood in
    stall) exec sleep 1000 ;;
    break) kill -SEGV $$ ;;
    esac
    exit 0
}

# 16 kHz, one channel, 16 bits, as the documentation requires.
must_be_wav() {
    case $(od -An -v -tx1 -N40 "$1" | tr -d ' \n') in
    52494646????????57415645666d74201000000001000100803e0000007d00000200100064617461) ;;
    *) refuse "$2" "not a WAV file as the documents want it" ;;
    esac
    cp "$1" "$call/audio"
}
