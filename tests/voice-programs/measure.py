"""Measures how long local programs take for a short sentence: started for it, and kept running.

FOLDER/bin/python measure.py FOLDER [--runs 15]
    [--whisper FOLDER_OF_WHISPER_SERVER [--whisper-model GGML_FILE --recording WAV_FILE_OF_2_SECONDS]]

FOLDER is target/test-voice after `cargo xtask test`. The programs are called as crates/voice calls them. The models
have the size and architecture of usual ones and random weights, so that what they say is noise; their speed does not
depend on that. A trained model and a recording of speech can be given for whisper.cpp. The duration predictor of the
voice is simplified: each symbol lasts three frames (35 ms), which is longer than in usual voices.

- Piper: a voice of the quality "medium" (VITS, 22,050 samples per second).
- sherpa-onnx: a NeMo Conformer CTC "medium" (18 layers, 256 wide).
- whisper.cpp: "tiny.en", with the `audio_ctx` and `beam_size` that the gateway sends for the recording, and with the
  whole window of 30 seconds and a beam search. `whisper-server` and `whisper-cli` are in no package that the tests
  install.

What is measured is the time from the request to all samples of the sentence, or to the transcript. The gateway passes
on no part of a sentence before that.
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

import numpy as np
from make_models import make_whisper, save
from onnx import TensorProto, helper, numpy_helper
from piper.phoneme_ids import DEFAULT_PHONEME_ID_MAP

SENTENCE = "The front door is open."
SECONDS = 2
# What crates/voice/src/stt/whisper_cli/audio_context.rs computes for a recording of this length.
AUDIO_CONTEXT = 512
AIM_MS = 300
# What crates/voice/src/stt/whisper_cli/kept.rs sends with that context, and with the whole window.
GREEDY, BEAM_SIZE = "1", "5"
# The variable that crates/voice/src/stt/whisper_cli.rs sets.
WHISPER_ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}
WORKER = Path(__file__).resolve().parents[2] / "crates/voice/src/stt/sherpa_onnx/worker.py"


class Network:
    """The nodes and random weights of a model. Sound is [1, channels, time], a sequence is [1, time, channels]."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0
        self.random = np.random.default_rng(1)

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def node(self, kind, inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, kind=np.float32):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def weights(self, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) or 1)
        return self.constant(self.random.normal(0, scale, shape))

    def numbers(self, *values):
        return self.constant(values, np.int64)

    def linear(self, x, size, to):
        product = self.node("MatMul", [x, self.weights(size, to)])
        return self.node("Add", [product, self.constant(np.zeros(to))])

    def norm(self, x, size):
        scale, bias = self.constant(np.ones(size)), self.constant(np.zeros(size))
        return self.node("LayerNormalization", [x, scale, bias], axis=-1)

    def conv(self, x, size, to, width, dilation=1, group=1, stride=1):
        pad = (width - 1) * dilation // 2
        weights = self.weights(to, size // group, width)
        options = {"dilations": [dilation], "group": group, "strides": [stride], "pads": [pad, pad]}
        return self.node("Conv", [x, weights, self.constant(np.zeros(to))], **options)

    def turned(self, x):
        return self.node("Transpose", [x], perm=[0, 2, 1])

    def add(self, x, y):
        return self.node("Add", [x, y])

    def half(self, x):
        return self.node("Mul", [x, self.constant(0.5)])

    def swish(self, x):
        return self.node("Mul", [x, self.node("Sigmoid", [x])])

    def split(self, x, axis):
        return self.node("Split", [x], 2, axis=axis, num_outputs=2)

    def attention(self, x, size, heads):
        def part(perm):
            y = self.node("Reshape", [self.linear(x, size, size), self.numbers(1, -1, heads, size // heads)])
            return self.node("Transpose", [y], perm=perm)

        query, key, value = part([0, 2, 1, 3]), part([0, 2, 3, 1]), part([0, 2, 1, 3])
        scores = self.node("MatMul", [query, key])
        scores = self.node("Mul", [scores, self.constant(1 / np.sqrt(size // heads))])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), value])
        mixed = self.node("Transpose", [mixed], perm=[0, 2, 1, 3])
        mixed = self.node("Reshape", [mixed, self.numbers(1, -1, size)])
        return self.linear(mixed, size, size)


def piece(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def make_voice(path):
    """VITS with the sizes of Piper's quality "medium" (piper1-gpl, src/piper/train/vits)."""
    net, size = Network(), 192
    x = net.node("Gather", [net.weights(256, size), "input"])
    for _ in range(6):
        x = net.norm(net.add(x, net.attention(x, size, 2)), size)
        y = net.node("Relu", [net.conv(net.turned(x), size, 4 * size, 3)])
        x = net.norm(net.add(x, net.turned(net.conv(y, 4 * size, size, 3))), size)
    x = net.turned(x)
    # As much work as in the duration predictor.
    for _ in range(15):
        y = net.node("Relu", [net.conv(x, size, size, 3, group=size)])
        x = net.add(x, net.conv(y, size, size, 1))
    wide = net.node("Unsqueeze", [x, net.numbers(3)])
    wide = net.node("Expand", [wide, net.numbers(1, 1, 1, 3)])
    z = net.node("Reshape", [wide, net.numbers(1, size, -1)])
    z = net.add(z, net.node("RandomNormalLike", [z]))
    for _ in range(4):
        first, second = net.split(z, 1)
        hidden = net.conv(first, size // 2, size, 1)
        for _ in range(4):
            one, two = net.split(net.conv(hidden, size, 2 * size, 5), 1)
            gated = net.node("Mul", [net.node("Tanh", [one]), net.node("Sigmoid", [two])])
            kept, _ = net.split(net.conv(gated, size, 2 * size, 1), 1)
            hidden = net.add(hidden, kept)
        second = net.node("Sub", [second, net.conv(hidden, size, size // 2, 1)])
        z = net.node("Concat", [second, first], axis=1)
    channels = 256
    x = net.conv(z, size, channels, 7)
    for rate, width in ((8, 16), (8, 16), (4, 8)):
        x, pad = net.node("LeakyRelu", [x], alpha=0.1), (width - rate) // 2
        weights = net.weights(channels, channels // 2, width)
        x = net.node("ConvTranspose", [x, weights], strides=[rate], pads=[pad, pad])
        channels //= 2
        total = None
        for kernel, dilations in ((3, (1, 2)), (5, (2, 6)), (7, (3, 12))):
            y = x
            for dilation in dilations:
                active = net.node("LeakyRelu", [y], alpha=0.1)
                y = net.add(y, net.conv(active, channels, channels, kernel, dilation))
            total = net.add(total, y) if total else y
        x = net.node("Mul", [total, net.constant(1 / 3)])
    x = net.node("Tanh", [net.conv(net.node("LeakyRelu", [x], alpha=0.1), channels, 1, 7)])
    net.nodes.append(helper.make_node("Unsqueeze", [x, net.numbers(1)], ["output"]))
    inputs = [
        piece("input", TensorProto.INT64, [1, "symbols"]),
        piece("input_lengths", TensorProto.INT64, [1]),
        piece("scales", TensorProto.FLOAT, [3]),
    ]
    outputs = [piece("output", TensorProto.FLOAT, [1, 1, 1, "samples"])]
    save(path, net.nodes, inputs, outputs, net.constants, opset=18)
    description = {
        "audio": {"sample_rate": 22050, "quality": "medium"},
        "espeak": {"voice": "en-us"},
        "phoneme_type": "espeak",
        "num_symbols": 256,
        "num_speakers": 1,
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
        "phoneme_id_map": DEFAULT_PHONEME_ID_MAP,
        "speaker_id_map": {},
    }
    Path(f"{path}.json").write_text(json.dumps(description), encoding="utf-8")


def make_recognizer(folder):
    """A Conformer with the sizes of NeMo's stt_en_conformer_ctc_medium."""
    folder.mkdir(exist_ok=True)
    net, size, vocabulary = Network(), 256, 1024
    x = net.node("Relu", [net.conv("audio_signal", 80, size, 3, stride=2)])
    x = net.turned(net.node("Relu", [net.conv(x, size, size, 3, stride=2)]))
    for _ in range(18):
        for turn in range(2):
            y = net.linear(net.swish(net.linear(net.norm(x, size), size, 4 * size)), 4 * size, size)
            x = net.add(x, net.half(y))
            if turn == 0:
                x = net.add(x, net.attention(net.norm(x, size), size, 4))
                one, two = net.split(net.conv(net.turned(net.norm(x, size)), size, 2 * size, 1), 1)
                y = net.node("Mul", [one, net.node("Sigmoid", [two])])
                y = net.swish(net.conv(y, size, size, 31, group=size))
                x = net.add(x, net.turned(net.conv(y, size, size, 1)))
        x = net.norm(x, size)
    y = net.linear(x, size, vocabulary + 1)
    net.nodes.append(helper.make_node("LogSoftmax", [y], ["logprobs"], axis=-1))
    inputs = [piece("audio_signal", TensorProto.FLOAT, [1, 80, "frames"]), piece("length", TensorProto.INT64, [1])]
    outputs = [piece("logprobs", TensorProto.FLOAT, [1, "steps", vocabulary + 1])]
    metadata = [
        ("model_type", "EncDecCTCModelBPE"), ("vocab_size", str(vocabulary)),
        ("subsampling_factor", "4"), ("normalize_type", "per_feature"),
    ]
    save(folder / "model.onnx", net.nodes, inputs, outputs, net.constants, metadata, opset=18)
    lines = [f"\u2581t{number} {number}\n" for number in range(vocabulary)] + [f"<blk> {vocabulary}\n"]
    (folder / "tokens.txt").write_text("".join(lines), encoding="utf-8")


def make_recording(path):
    """Noise of the loudness of speech."""
    numbers = np.random.default_rng(1).normal(0, 2000, 16000 * SECONDS).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(numbers.tobytes())


def timed(work, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return times


def processor_ms(process):
    """The processor time that the process has used (proc(5))."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measured(process, kept, runs):
    """The times of the requests, and the processor time of one."""
    before = processor_ms(process)
    times = timed(kept, runs)
    return times, (processor_ms(process) - before) / runs


def report(name, cold, first, warm, used):
    middle, most = statistics.median(warm), max(warm)
    verdict = "within" if middle <= AIM_MS else "over"
    print(
        f"{name}: started for it {statistics.median(cold):.0f} ms; kept: first {first:.0f} ms, "
        f"then median {middle:.0f} ms, longest {most:.0f} ms, "
        f"{used:.0f} ms of processor time ({verdict} {AIM_MS} ms)",
        flush=True,
    )


def child(command, **options):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)


def measure_piper(folder, models, runs):
    voice = models / "medium.onnx"
    base = [folder / "bin/piper", "--model", voice, "--config", f"{voice}.json"]
    line = f"{SENTENCE}\n".encode()

    def once():
        made = subprocess.run([*base, "--output_raw"], input=line, capture_output=True, check=True)
        assert made.stdout

    cold, lasts = timed(once, 3), []
    with tempfile.TemporaryDirectory() as place:
        process = child([*base, "--output_dir", place], stderr=subprocess.STDOUT)

        def kept():
            process.stdin.write(line)
            process.stdin.flush()
            while not (said := process.stdout.readline().strip()).endswith(b".wav"):
                assert said or process.poll() is None
            path = os.path.join(place, said.decode().rsplit("/", 1)[1])
            with wave.open(path) as audio:
                seconds = audio.getnframes() / audio.getframerate()
                audio.readframes(audio.getnframes())
            os.remove(path)
            lasts.append(seconds)

        first = timed(kept, 1)
        warm, used = measured(process, kept, runs)
        process.kill()
        process.wait()
    report(f"Piper, a sentence of {lasts[0]:.1f} seconds", cold, first[0], warm, used)


def measure_sherpa(folder, models, recording, runs):
    model = models / "nemo"
    options = [f"--tokens={model}/tokens.txt", f"--nemo-ctc-model={model}/model.onnx"]

    def once():
        command = [folder / "bin/sherpa-onnx-offline", *options, recording]
        subprocess.run(command, capture_output=True, check=True)

    cold = timed(once, 3)
    process = child([folder / "bin/python3", "-c", WORKER.read_text(encoding="utf-8"), *options])
    audio = recording.read_bytes()

    def kept():
        process.stdin.write(struct.pack("<I", len(audio)) + audio)
        process.stdin.flush()
        assert "text" in json.loads(process.stdout.readline())

    def start():
        process.stdin.write(bytes(4))
        process.stdin.flush()
        assert process.stdout.readline() == b"ready\n"
        kept()

    first = timed(start, 1)
    warm, used = measured(process, kept, runs)
    process.kill()
    process.wait()
    report(f"sherpa-onnx, {SECONDS} seconds", cold, first[0], warm, used)


def measure_whisper(programs, model, recording, runs, context):

    def once():
        with tempfile.TemporaryDirectory() as place:
            command = [programs / "whisper-cli", "-m", model, "-f", recording, "-l", "auto"]
            command += ["-ojf", "-of", f"{place}/result", "-np", "-ac", str(context)]
            subprocess.run(command, capture_output=True, check=True, env=WHISPER_ENVIRONMENT)

    cold = timed(once, 3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [programs / "whisper-server", "-m", model, "--host", "127.0.0.1", "--port", str(port)]
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=WHISPER_ENVIRONMENT, **output)
    fields = {
        "response_format": "verbose_json", "no_language_probabilities": "true", "no_context": "true",
        "language": "auto", "translate": "false", "audio_ctx": str(context), "prompt": "", "max_len": "1000000",
        "beam_size": GREEDY if context else BEAM_SIZE, "best_of": "5",
    }
    head = "".join(
        f'--b\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    head += '--b\r\ncontent-disposition: form-data; name="file"; filename="audio.wav"\r\n'
    head += "content-type: audio/wav\r\n\r\n"
    body = head.encode() + recording.read_bytes() + b"\r\n--b--\r\n"

    def asked(method, path, sent=None):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request(method, path, sent, {"content-type": "multipart/form-data; boundary=b"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, text
        return text

    def kept():
        assert json.loads(asked("POST", "/inference", body))["text"].strip()

    def start():
        while True:
            try:
                asked("GET", "/")
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.02)
        kept()

    first = timed(start, 1)
    warm, used = measured(process, kept, runs)
    process.kill()
    process.wait()
    window = f"audio_ctx {context}" if context else "the whole window"
    report(f"whisper.cpp, {SECONDS} seconds, {window}", cold, first[0], warm, used)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--whisper", type=Path)
    options.add_argument("--whisper-model", type=Path)
    options.add_argument("--recording", type=Path)
    options.add_argument("--runs", type=int, default=15)
    wanted = options.parse_args()
    folder = wanted.folder.absolute()
    with tempfile.TemporaryDirectory() as place:
        models = Path(place)
        recording = models / "recording.wav"
        make_recording(recording)
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
        make_voice(models / "medium.onnx")
        measure_piper(folder, models, wanted.runs)
        make_recognizer(models / "nemo")
        measure_sherpa(folder, models, recording, wanted.runs)
        if wanted.whisper:
            model = wanted.whisper_model or models / "tiny.en.bin"
            if not wanted.whisper_model:
                make_whisper(model, state=384, layers=4, heads=6, seconds=SECONDS, sentence=SENTENCE.rstrip("."))
            for context in (AUDIO_CONTEXT, 0):
                heard = wanted.recording or recording
                measure_whisper(wanted.whisper.absolute(), model, heard, wanted.runs, context)
        else:
            print("LEFT OUT: whisper.cpp; give the folder of whisper-server as --whisper", file=sys.stderr)
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
