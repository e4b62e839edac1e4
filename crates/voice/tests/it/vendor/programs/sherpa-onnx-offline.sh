#!/bin/sh
# Imitates sherpa-onnx-offline according to https://k2-fsa.github.io/sherpa/onnx/pretrained_models/index.html
# (the command lines of Whisper and of transducers). Options have the form --name=value. Exits with 255 on
# unknown options and missing files, and with 1 without input.
. "${0%/*}/stand-in.sh"
noticed

tokens= encoder= decoder= joiner= wav= answer=
for argument; do
    value=${argument#*=}
    case $argument in
    --tokens=*) tokens=$value ;;
    --whisper-encoder=*) encoder=$value answer=language.json ;;
    --whisper-decoder=*) decoder=$value joiner=$value ;;
    --whisper-language=*)
        case $value in [a-z][a-z] | haw | yue) ;; *) refuse 255 "no such language" ;; esac
        ;;
    --whisper-task=transcribe | --whisper-task=translate) ;;
    --whisper-task=*) refuse 255 "no such task" ;;
    --encoder=*) encoder=$value answer=times.json ;;
    --decoder=*) decoder=$value ;;
    --joiner=*) joiner=$value ;;
    -*) refuse 255 "invalid option: $argument" ;;
    *)
        [ -z "$wav" ] || refuse 255 "one file is enough"
        wav=$argument
        ;;
    esac
done
[ -n "$wav" ] || refuse 1 "please provide at least one wave file"
for file in "$tokens" "$encoder" "$decoder" "$joiner"; do
    [ -f "$file" ] || refuse 255 "errors in config"
done
[ -f "$wav" ] || refuse 255 "failed to read the wave file"
must_be_wav "$wav" 255

echo 'Creating recognizer ...' >&2
[ -f "$place/answer.json" ] && answer=answer.json
give "$place/$answer"
end
