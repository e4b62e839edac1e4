"""whisper.cpp with the command line of its `whisper-cli`, for which no package exists.

Accepts only the options below, rejects what the command rejects, and writes the same JSON file
(`examples/cli/README.md`, options `-oj` and `-ojf`). The library is the real one. It does not report the times
of tokens here, so each segment's duration is divided among its words.
"""

import json
import sys
import wave

import numpy as np
from pywhispercpp.model import Model

# Options with a value, and options without one.
VALUES = {
    "-m": "model", "--model": "model",
    "-f": "file", "--file": "file",
    "-l": "language", "--language": "language",
    "-of": "output", "--output-file": "output",
    "--prompt": "prompt",
    "-t": "threads", "--threads": "threads",
    "-ac": "context", "--audio-ctx": "context",
}
SWITCHES = {
    "-oj": "json", "--output-json": "json",
    "-ojf": "full", "--output-json-full": "full",
    "-np": "quiet", "--no-prints": "quiet",
    "-nt": "untimed", "--no-timestamps": "untimed",
    "-tr": "translate", "--translate": "translate",
}


def fail(text, status=1):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(status)


def options(arguments):
    found = {}
    arguments = iter(arguments)
    for argument in arguments:
        if argument in SWITCHES:
            found[SWITCHES[argument]] = True
        elif argument in VALUES:
            value = next(arguments, None)
            if value is None:
                fail(f"{argument} requires one argument")
            found[VALUES[argument]] = value
        elif argument.startswith("-"):
            fail(f"unknown argument: {argument}")
        else:
            found["file"] = argument
    return found


def samples(path):
    with wave.open(path) as audio:
        shape = (audio.getnchannels(), audio.getsampwidth(), audio.getframerate())
        if shape != (1, 2, 16000):
            fail(f"the WAV file must be mono, 16 bits, 16 kHz, not {shape}", 2)
        frames = audio.readframes(audio.getnframes())
    return np.frombuffer(frames, np.int16).astype(np.float32) / 32768


def clock(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02},{rest:03}"


def timed(start, end, text):
    return {
        "timestamps": {"from": clock(start), "to": clock(end)},
        "offsets": {"from": start, "to": end},
        "text": text,
    }


def tokens(start, end, text):
    """Each word with the space before it."""
    words = [f" {word}" for word in text.split()]
    step = (end - start) // max(len(words), 1)
    marks = [timed(start, start, "[_BEG_]")]
    parts = [timed(start + at * step, start + (at + 1) * step, word) for at, word in enumerate(words)]
    return [part | {"id": 0, "p": 0.5, "t_dtw": -1} for part in marks + parts]


def main():
    wanted = options(sys.argv[1:])
    language = wanted.get("language", "en")
    if language != "auto" and language not in Model.available_languages():
        fail(f"unknown language '{language}'")
    if "file" not in wanted:
        fail("no input files specified", 2)
    try:
        model = Model(wanted["model"], redirect_whispercpp_logs_to=None)
    except Exception:
        fail("failed to initialize whisper context", 3)
    extra = {"initial_prompt": wanted["prompt"]} if "prompt" in wanted else {}
    if "context" in wanted:
        extra["audio_ctx"] = int(wanted["context"])
    heard = model.transcribe(samples(wanted["file"]), language="en", print_progress=False, **extra)
    segments = []
    for segment in heard:
        start, end = segment.t0 * 10, segment.t1 * 10
        written = timed(start, end, f" {segment.text.strip()}")
        if wanted.get("full"):
            written["tokens"] = tokens(start, end, segment.text)
        segments.append(written)
    if not wanted.get("quiet"):
        print(Model.system_info(), file=sys.stderr)
    if wanted.get("json") or wanted.get("full"):
        # An English model supports no other language; the command then reports "en".
        result = {
            "systeminfo": "",
            "model": {"type": "tiny", "multilingual": False},
            "params": {"model": wanted["model"], "language": "en", "translate": False},
            "result": {"language": "en"},
            "transcription": segments,
        }
        path = wanted.get("output", wanted["file"]) + ".json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file, ensure_ascii=False, indent="\t")
    for segment in segments:
        print(segment["text"])


if __name__ == "__main__":
    main()
