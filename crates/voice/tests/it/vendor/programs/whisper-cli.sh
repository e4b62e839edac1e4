#!/bin/sh
# Imitates whisper-cli according to https://github.com/ggml-org/whisper.cpp, examples/cli/README.md. On an
# unknown option it prints its usage and exits with 0 and no result. Exits with 2 without input and with 3 if
# the model cannot be read.
. "${0%/*}/stand-in.sh"
noticed

[ "$OMP_WAIT_POLICY" = passive ] || refuse 0 "its threads wait in loops"
model= file= language=en json= output= quiet= context=0
while [ $# -gt 0 ]; do
    case $1 in
    -ojf | --output-json-full)
        json=1
        shift
        continue
        ;;
    -np | --no-prints)
        quiet=1
        shift
        continue
        ;;
    esac
    case $1 in
    -tr | --translate)
        shift
        continue
        ;;
    esac
    [ $# -ge 2 ] || refuse 0 "no value: $1"
    case $1 in
    -m | --model) model=$2 ;;
    -f | --file) file=$2 ;;
    -l | --language) language=$2 ;;
    -of | --output-file) output=$2 ;;
    -ac | --audio-ctx) context=$2 ;;
    --prompt) ;;
    *) refuse 0 "unknown argument: $1" ;;
    esac
    shift 2
done
case $language in
auto | en | zh | de | es | ru | ko | fr | ja | pt | tr | pl | ca | nl | ar | sv | it | id | hi | fi | vi | he | uk | el | ms | cs | ro | da | hu | ta | no | th | ur | hr | bg | lt | la | mi | ml | cy | sk | te | fa | lv | bn | sr | az | sl | kn | et | mk | br | eu | is | hy | ne | mn | bs | kk | sq | sw | gl | mr | pa | si | km | sn | yo | so | af | oc | ka | be | tg | sd | gu | am | yi | lo | uz | fo | ht | ps | tk | nn | mt | sa | lb | my | bo | tl | mg | as | tt | haw | ln | ha | ba | jw | su | yue) ;;
*) refuse 0 "unknown language" ;;
esac
[ -n "$file" ] || refuse 2 "no input files specified"
[ -f "$file" ] || refuse 2 "input file not found"
[ -f "$model" ] || refuse 3 "failed to initialize whisper context"
must_be_wav "$file" 2
# A position of the encoder is 20 ms. 0 is the whole window, in which the program moves through the recording.
[ "$context" -le 1500 ] || refuse 10 "failed to process audio"
[ "$context" -eq 0 ] || [ $((context * 640 + 44)) -ge "$(wc -c <"$file")" ] || refuse 10 "shorter than the recording"
[ -n "$json" ] && [ -n "$quiet" ] || refuse 0 "nobody reads what it would print"

[ "$mood" = empty ] || give "$place/answer.json" >"${output:-$file}.json"
end
