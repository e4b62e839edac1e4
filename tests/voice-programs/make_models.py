"""Generates small models that real programs load, and the command `whisper-cli`.

python make_models.py FOLDER

FOLDER/models/tone.onnx (and .json)   a Piper voice: each letter is a separate tone
FOLDER/models/tone/                   a sherpa-onnx recognizer (CTC): each of those tones is a letter
FOLDER/models/fixed.bin               a Whisper model (ggml): its output is always the same sentence
FOLDER/bin/whisper-cli                whisper_cli.py, run by the Python that runs this script

The models are not trained; their weights are computed. The second model recognizes the text that the first one
speaks, if the text consists of lowercase letters and single spaces.
"""

import json
import math
import shlex
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LETTERS = " abcdefghijklmnopqrstuvwxyz"
# Samples per second, and samples per letter: 80 ms.
RATE = 22050
LETTER_SAMPLES = 1764

# The recognizer uses 80 mel filters from 20 to 7600 Hz (kaldi's formula). Every other filter, from
# the 18th on, represents a letter; a tone in the middle of a filter is loudest there.
FILTERS = 80
LOWEST_HZ, HIGHEST_HZ = 20, 7600


def filter_of(letter):
    return 18 + 2 * letter


def tone_of(letter):
    low, high = (1127 * math.log(1 + hertz / 700) for hertz in (LOWEST_HZ, HIGHEST_HZ))
    middle = low + (filter_of(letter) + 1) * (high - low) / (FILTERS + 1)
    return 700 * (math.exp(middle / 1127) - 1)


def constant(name, value, kind=np.float32):
    return numpy_helper.from_array(np.asarray(value, kind), name)


def save(path, nodes, inputs, outputs, constants, metadata=(), opset=17):
    graph = helper.make_graph(nodes, path.stem, inputs, outputs, constants)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    for key, value in metadata:
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def make_voice(path):
    """Returns a Piper voice: numbers of letters in, samples out. Numbers 0 to 2 are padding, start and end."""
    silent = 3
    tones = [0.0] * silent + [tone_of(letter) for letter in range(len(LETTERS))]
    node = helper.make_node
    value = helper.make_tensor_value_info
    save(
        path,
        [
            node("Gather", ["tones", "input"], ["hertz"]),
            node("Unsqueeze", ["hertz", "last"], ["hertz_by_letter"]),
            # The second of the three scales is the length scale.
            node("Slice", ["scales", "one", "two"], ["length_scales"]),
            node("Reshape", ["length_scales", "scalar"], ["length_scale"]),
            node("Mul", ["letter_samples", "length_scale"], ["samples"]),
            node("Range", ["zero", "samples", "step"], ["times"]),
            node("Reshape", ["times", "row"], ["time_row"]),
            node("Mul", ["hertz_by_letter", "time_row"], ["cycles"]),
            node("Mul", ["cycles", "radians"], ["phase"]),
            node("Sin", ["phase"], ["wave"]),
            node("Mul", ["wave", "loudness"], ["sound"]),
            node("Reshape", ["sound", "audio"], ["output"]),
        ],
        [
            value("input", TensorProto.INT64, [1, "letters"]),
            value("input_lengths", TensorProto.INT64, [1]),
            value("scales", TensorProto.FLOAT, [3]),
        ],
        [value("output", TensorProto.FLOAT, [1, 1, 1, "samples"])],
        [
            constant("tones", tones),
            constant("letter_samples", LETTER_SAMPLES),
            constant("step", 1),
            constant("zero", 0),
            constant("radians", 2 * np.pi / RATE),
            constant("loudness", 0.3),
            constant("last", [2], np.int64),
            constant("one", [1], np.int64),
            constant("two", [2], np.int64),
            constant("scalar", [], np.int64),
            constant("row", [1, 1, -1], np.int64),
            constant("audio", [1, 1, 1, -1], np.int64),
        ],
    )
    numbers = {"_": [0], "^": [1], "$": [2]}
    numbers |= {letter: [silent + at] for at, letter in enumerate(LETTERS)}
    description = {
        "audio": {"sample_rate": RATE},
        "espeak": {"voice": "en-us"},
        "phoneme_type": "text",
        "num_symbols": len(numbers),
        "num_speakers": 1,
        "inference": {"noise_scale": 0, "length_scale": 1, "noise_w": 0},
        "phoneme_id_map": numbers,
        "speaker_id_map": {},
    }
    Path(f"{path}.json").write_text(json.dumps(description), encoding="utf-8")


def make_recogniser(folder):
    """Returns a CTC model: the loudness of a letter's filter is the letter's score. The blank symbol scores in
    between."""
    folder.mkdir(exist_ok=True)
    weights = np.zeros((FILTERS, len(LETTERS) + 1), np.float32)
    for letter in range(len(LETTERS)):
        weights[filter_of(letter), letter + 1] = 1
    bias = np.zeros(len(LETTERS) + 1, np.float32)
    # Between the loudness of a tone and that of the artifacts of lossy formats.
    bias[0] = 4.5
    shape = [1, "frames", FILTERS]
    save(
        folder / "ctc.onnx",
        [
            helper.make_node("MatMul", ["features", "weights"], ["loudness"]),
            helper.make_node("Add", ["loudness", "bias"], ["logits"]),
            helper.make_node("LogSoftmax", ["logits"], ["log_probs"], axis=-1),
        ],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("log_probs", TensorProto.FLOAT, [1, "frames", len(bias)])],
        [constant("weights", weights), constant("bias", bias)],
        [("model_type", "tdnn_lstm"), ("vocab_size", str(len(bias))), ("subsampling_factor", "1")],
    )
    names = ["<blk>"] + ["\u2581" if letter == " " else letter for letter in LETTERS]
    lines = [f"{name} {number}\n" for number, name in enumerate(names)]
    (folder / "tokens.txt").write_text("".join(lines), encoding="utf-8")


class WhisperFile:
    """The file format of whisper.cpp, which its `models/convert-pt-to-ggml.py` describes."""

    def __init__(self, file):
        self.file = file

    def numbers(self, *values):
        self.file.write(struct.pack(f"<{len(values)}i", *values))

    def text(self, text):
        text = text.encode()
        self.numbers(len(text))
        self.file.write(text)

    def tensor(self, name, array, half=False):
        array = np.asarray(array, np.float16 if half else np.float32)
        name = name.encode()
        self.numbers(array.ndim, len(name), int(half), *reversed(array.shape))
        self.file.write(name)
        self.file.write(array.tobytes())

    def norm(self, name, size):
        self.tensor(f"{name}.weight", np.ones(size))
        self.tensor(f"{name}.bias", np.zeros(size))

    def linear(self, name, rows, columns, bias=True):
        self.tensor(f"{name}.weight", np.zeros((rows, columns)), half=True)
        if bias:
            self.tensor(f"{name}.bias", np.zeros(rows))

    def attention(self, name, size):
        self.norm(f"{name}_ln", size)
        for part in ("query", "key", "value", "out"):
            self.linear(f"{name}.{part}", size, size, bias=part != "key")

    def block(self, name, size, listens):
        self.norm(f"{name}.mlp_ln", size)
        self.linear(f"{name}.mlp.0", 4 * size, size)
        self.linear(f"{name}.mlp.2", size, 4 * size)
        self.attention(f"{name}.attn", size)
        if listens:
            self.attention(f"{name}.cross_attn", size)


# With fewer than twelve different words, whisper.cpp detects a repetition and tries again.
SENTENCE = "this sentence is said by a small model that was made without any training"


def make_whisper(path, state=64, layers=1, heads=1, seconds=None, sentence=SENTENCE):
    """English only, all weights zero except for the positions: the number of previous tokens determines the next
    word. With `seconds`, the sentence starts at 0 and ends then; otherwise the model has no times."""
    vocabulary, frames, context, mels = 51864, 1500, 448, 80
    end, first, space, zero = 50256, 1000, 220, 50363
    with path.open("wb") as file:
        whisper = WhisperFile(file)
        whisper.numbers(0x67676D6C, vocabulary, frames, state, heads, layers)
        whisper.numbers(context, state, heads, layers, mels, 1)
        whisper.numbers(mels, 201)
        file.write(np.full((mels, 201), 1 / 201, np.float32).tobytes())
        words = [f" {word}" for word in sentence.split()] + ["."]
        whisper.numbers(end)
        for number in range(end):
            word = number - first
            if 0 <= word < len(words):
                whisper.text(words[word])
            else:
                whisper.text(" " if number == space else f"<{number}>")
        positions, tokens = np.zeros((context, state)), np.zeros((vocabulary, state))
        spoken = len(words)
        np.fill_diagonal(positions[:40, :40], 50)
        for word in range(spoken):
            tokens[first + word, 1 + word] = 4
        if seconds is None:
            tokens[end, 1 + spoken : 40] = 4
        else:
            # A time has a token for every 20 ms.
            tokens[zero, 0] = tokens[zero + 50 * seconds, 1 + spoken] = 4
            tokens[end, 2 + spoken : 40] = 4
        whisper.tensor("encoder.positional_embedding", np.zeros((frames, state)))
        whisper.tensor("encoder.conv1.weight", np.zeros((state, mels, 3)), half=True)
        whisper.tensor("encoder.conv1.bias", np.zeros((state, 1)))
        whisper.tensor("encoder.conv2.weight", np.zeros((state, state, 3)), half=True)
        whisper.tensor("encoder.conv2.bias", np.zeros((state, 1)))
        whisper.norm("encoder.ln_post", state)
        whisper.tensor("decoder.positional_embedding", positions)
        whisper.tensor("decoder.token_embedding.weight", tokens, half=True)
        whisper.norm("decoder.ln", state)
        for layer in range(layers):
            whisper.block(f"encoder.blocks.{layer}", state, listens=False)
            whisper.block(f"decoder.blocks.{layer}", state, listens=True)


def make_command(path):
    script = Path(__file__).resolve().with_name("whisper_cli.py")
    copy = path.parent.parent / script.name
    copy.write_bytes(script.read_bytes())
    command = shlex.join([sys.executable, str(copy)])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def main():
    folder = Path(sys.argv[1]).resolve()
    models = folder / "models"
    models.mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    make_voice(models / "tone.onnx")
    make_recogniser(models / "tone")
    make_whisper(models / "fixed.bin")
    make_command(folder / "bin" / "whisper-cli")


if __name__ == "__main__":
    main()
