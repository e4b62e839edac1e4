"""A client of the Wyoming protocol's own package (https://pypi.org/project/wyoming/). Prints what it received as JSON.

Usage: wyoming_client.py PORT SPEECH.wav
"""

import asyncio
import json
import sys
import wave

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop, wav_to_chunks
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)


async def speak(client, synthesize):
    """Returns the format and the size of the audio, or the error's code."""
    await client.write_event(synthesize.event())
    start, size = None, 0
    while True:
        event = await client.read_event()
        if Error.is_type(event.type):
            return {"error": Error.from_event(event).code}
        if AudioStart.is_type(event.type):
            start = AudioStart.from_event(event)
        if AudioChunk.is_type(event.type):
            size += len(AudioChunk.from_event(event).audio)
        if AudioStop.is_type(event.type):
            return {"rate": start.rate, "width": start.width, "channels": start.channels, "bytes": size}


async def speak_pieces(client, pieces):
    """Returns the size of the audio, and how often it began and ended."""
    await client.write_event(SynthesizeStart().event())
    for piece in pieces:
        await client.write_event(SynthesizeChunk(text=piece).event())
    await client.write_event(Synthesize(text="".join(pieces)).event())
    await client.write_event(SynthesizeStop().event())
    seen = {"bytes": 0, "starts": 0, "stops": 0}
    while True:
        event = await client.read_event()
        seen["starts"] += AudioStart.is_type(event.type)
        seen["stops"] += AudioStop.is_type(event.type)
        if AudioChunk.is_type(event.type):
            seen["bytes"] += len(AudioChunk.from_event(event).audio)
        if SynthesizeStopped.is_type(event.type):
            return seen


async def listen(client, path, transcribe):
    """Returns the transcript, or the error's code."""
    await client.write_event(transcribe.event())
    with wave.open(path, "rb") as file:
        for chunk in wav_to_chunks(file, 1024, start_event=True, stop_event=True):
            await client.write_event(chunk.event())
    event = await client.read_event()
    if Error.is_type(event.type):
        return {"error": Error.from_event(event).code}
    transcript = Transcript.from_event(event)
    return {"text": transcript.text, "language": transcript.language}


async def main(port, path):
    seen = {}
    async with AsyncTcpClient("127.0.0.1", port) as client:
        client.read_timeout = 20
        await client.write_event(Describe().event())
        info = Info.from_event(await client.read_event())
        seen["models"] = [model.name for program in info.asr for model in program.models]
        seen["voices"] = [voice.name for program in info.tts for voice in program.voices]
        seen["languages"] = [language in info.asr[0].models[0].languages for language in ("en", "de")] if info.asr else []
        seen["streaming"] = [
            [program.supports_transcript_streaming for program in info.asr],
            [program.supports_synthesize_streaming for program in info.tts],
        ]
        await client.write_event(Ping(text="here").event())
        seen["pong"] = Pong.from_event(await client.read_event()).text
        seen["spoken"] = await speak(client, Synthesize(text="Hello there."))
        voice = SynthesizeVoice(name="tts_cloud_2", speaker="nova")
        seen["with_voice"] = await speak(client, Synthesize(text="Hello there.", voice=voice))
        seen["heard"] = await listen(client, path, Transcribe(language="en"))
        seen["with_model"] = await listen(client, path, Transcribe(name="stt_cloud_1"))
        seen["pieces"] = await speak_pieces(client, ["Hello ", "there, dear gateway. How", " are you?"])
        # The connection can still be used.
        seen["again"] = await speak(client, Synthesize(text="Bye."))
        seen["unknown_voice"] = await speak(client, Synthesize(text="Hello.", voice=SynthesizeVoice(name="nobody")))
        seen["has_ended"] = await client.read_event() is None
    async with AsyncTcpClient("127.0.0.1", port) as client:
        client.read_timeout = 20
        seen["unknown_model"] = await listen(client, path, Transcribe(name="nobody"))
    print(json.dumps(seen))


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
