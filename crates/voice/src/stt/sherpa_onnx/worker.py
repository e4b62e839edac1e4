"""Keeps a model of the library sherpa_onnx in memory and transcribes one recording after another.

Arguments: the options of sherpa-onnx-offline for one model, each as --name=value.
Input: for each recording its length in bytes (4 bytes, little endian), then a WAV file (mono, 16 bits). The worker
ends with its input.
Output: for each recording a line with its result in JSON, as sherpa-onnx-offline prints it; for a length of 0 the line
"ready".
"""

import array
import io
import sys
import wave

import sherpa_onnx

# The options of sherpa-onnx-offline: the function of OfflineRecognizer for the model, and its parameter.
OPTIONS = {
    "whisper-encoder": ("from_whisper", "encoder"),
    "whisper-decoder": ("from_whisper", "decoder"),
    "whisper-language": ("from_whisper", "language"),
    "whisper-task": ("from_whisper", "task"),
    "encoder": ("from_transducer", "encoder"),
    "decoder": ("from_transducer", "decoder"),
    "joiner": ("from_transducer", "joiner"),
    "canary-encoder": ("from_nemo_canary", "encoder"),
    "canary-decoder": ("from_nemo_canary", "decoder"),
    "canary-src-lang": ("from_nemo_canary", "src_lang"),
    "fire-red-asr-encoder": ("from_fire_red_asr", "encoder"),
    "fire-red-asr-decoder": ("from_fire_red_asr", "decoder"),
    "moonshine-preprocessor": ("from_moonshine", "preprocessor"),
    "moonshine-encoder": ("from_moonshine", "encoder"),
    "moonshine-uncached-decoder": ("from_moonshine", "uncached_decoder"),
    "moonshine-cached-decoder": ("from_moonshine", "cached_decoder"),
    "nemo-ctc-model": ("from_nemo_ctc", "model"),
    "tdnn-model": ("from_tdnn_ctc", "model"),
    "zipformer-ctc-model": ("from_zipformer_ctc", "model"),
    "wenet-ctc-model": ("from_wenet_ctc", "model"),
    "telespeech-ctc": ("from_telespeech_ctc", "model"),
    "sense-voice-model": ("from_sense_voice", "model"),
    "sense-voice-language": ("from_sense_voice", "language"),
    "paraformer": ("from_paraformer", "paraformer"),
    "dolphin-model": ("from_dolphin_ctc", "model"),
    "omnilingual-asr-model": ("from_omnilingual_asr_ctc", "model"),
    "medasr": ("from_medasr_ctc", "model"),
    "fire-red-asr-ctc": ("from_fire_red_asr_ctc", "model"),
}
# Where the library has another default than sherpa-onnx-offline. An empty language or type is detected.
DEFAULTS = {
    "from_whisper": {"language": ""},
    "from_transducer": {"model_type": ""},
    "from_tdnn_ctc": {"sample_rate": 16000, "feature_dim": 80},
}


def load(options):
    functions, values = set(), {"num_threads": 2}
    for option in options:
        name, _, value = option[len("--") :].partition("=")
        function, parameter = OPTIONS.get(name, (None, name))
        if function:
            functions.add(function)
        values[parameter] = value
    (function,) = functions
    create = getattr(sherpa_onnx.OfflineRecognizer, function)
    return create(**{**DEFAULTS.get(function, {}), **values})


def samples(recording):
    with wave.open(io.BytesIO(recording)) as audio:
        numbers = array.array("h", audio.readframes(audio.getnframes()))
        if sys.byteorder == "big":
            numbers.byteswap()
        return audio.getframerate(), array.array("f", (number / 32768 for number in numbers))


def main():
    recognizer = load(sys.argv[1:])
    while length := sys.stdin.buffer.read(4):
        recording = sys.stdin.buffer.read(int.from_bytes(length, "little"))
        if not recording:
            print("ready", flush=True)
            continue
        stream = recognizer.create_stream()
        stream.accept_waveform(*samples(recording))
        recognizer.decode_stream(stream)
        print(stream.result, flush=True)


main()
