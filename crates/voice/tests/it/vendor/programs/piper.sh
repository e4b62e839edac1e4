#!/bin/sh
# Imitates Piper according to https://github.com/rhasspy/piper (README, "Usage") and
# https://github.com/OHF-Voice/piper1-gpl (docs/CLI.md). Exits with 2 on option errors and with 1 on missing
# files or input. The audio's duration is computed as in tone.rs.
. "${0%/*}/stand-in.sh"
said=$(cat)
printf '%s' "$said" >"$call/stdin"
noticed

number() {
    case $2 in
    '' | *[!0-9.]* | *.*.*) refuse 2 "$1: invalid value" ;;
    *[1-9]*) ;;
    *) refuse 2 "$1: must be more than nothing" ;;
    esac
}
model= config= raw=
while [ $# -gt 0 ]; do
    case $1 in
    --output_raw | --output-raw)
        raw=1
        shift
        continue
        ;;
    esac
    [ $# -ge 2 ] || refuse 2 "expected one argument: $1"
    case $1 in
    -m | --model) model=$2 ;;
    -c | --config) config=$2 ;;
    -s | --speaker)
        case $2 in '' | *[!0-9]*) refuse 2 "$1: invalid value" ;; esac
        ;;
    --length_scale | --length-scale | --noise_scale | --noise-scale | --sentence_silence | --sentence-silence)
        number "$1" "$2"
        ;;
    *) refuse 2 "unrecognized: $1" ;;
    esac
    shift 2
done
[ -n "$model" ] || refuse 2 "the following arguments are required: -m/--model"
[ -f "$model" ] || refuse 1 "no such model"
[ -f "${config:-$model.json}" ] || refuse 1 "no such config"
[ -n "$raw" ] || refuse 1 "nothing plays sounds here"
[ "$PYTHONUTF8" = 1 ] || refuse 1 "the text's encoding is that of the machine"

letters=${#said}
first=$letters
[ "$first" -le 100 ] || first=100
head -c $(((first * 60 + letters - first) * 48)) "$place/tone.raw" >"$call/sound"
give "$call/sound"
end
