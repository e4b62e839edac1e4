"""A program of the Wyoming protocol's own package (https://pypi.org/project/wyoming/) that speaks and transcribes.
Prints its port, then each request as a line of JSON.

It behaves like wyoming-piper and wyoming-faster-whisper: the audio comes sentence by sentence, an unknown voice is an
error, and the connection ends after a transcript.
"""

import asyncio
import json
import sys
from functools import partial

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioChunkConverter, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.info import AsrModel, AsrProgram, Attribution, Describe, Info, TtsProgram, TtsVoice, TtsVoiceSpeaker
from wyoming.server import AsyncEventHandler, AsyncTcpServer
from wyoming.tts import Synthesize

RATE = 22_050
VOICES = ["en_US-lessac-medium", "de_DE-mls-medium"]
ARTIFACT = {"attribution": Attribution(name="x", url=""), "installed": True, "description": None, "version": "1.0"}


def info():
    voices = [
        TtsVoice(name=VOICES[0], languages=["en_US"], **ARTIFACT),
        TtsVoice(name=VOICES[1], languages=["de_DE"], speakers=[TtsVoiceSpeaker(name="2422")], **ARTIFACT),
    ]
    model = AsrModel(name="base-int8", languages=["en", "de"], **ARTIFACT)
    return Info(
        asr=[AsrProgram(name="whisper", models=[model], **ARTIFACT)],
        tts=[TtsProgram(name="piper", voices=voices, **ARTIFACT)],
    )


def show(**request):
    print(json.dumps(request), flush=True)


class Handler(AsyncEventHandler):
    def __init__(self, *args):
        super().__init__(*args)
        self.converter = AudioChunkConverter(rate=16_000, width=2, channels=1)
        self.transcribe = None
        self.audio = bytes()

    async def handle_event(self, event):
        if Describe.is_type(event.type):
            await self.write_event(info().event())
        elif Synthesize.is_type(event.type):
            return await self.speak(Synthesize.from_event(event))
        elif Transcribe.is_type(event.type):
            self.transcribe = Transcribe.from_event(event)
        elif AudioChunk.is_type(event.type):
            self.audio += self.converter.convert(AudioChunk.from_event(event)).audio
        elif AudioStop.is_type(event.type):
            wanted = self.transcribe
            show(name=wanted.name, language=wanted.language, bytes=len(self.audio))
            await self.write_event(Transcript(text=" Hello there.\n", language=wanted.language).event())
            return False
        return True

    async def speak(self, wanted):
        voice = wanted.voice
        show(text=wanted.text, voice=voice and voice.name, speaker=voice and voice.speaker)
        if voice and voice.name not in VOICES:
            await self.write_event(Error(text=f"Unable to find voice: {voice.name}", code="VoiceNotFoundError").event())
            return False
        audio_format = {"rate": RATE, "width": 2, "channels": 1}
        await self.write_event(AudioStart(**audio_format).event())
        for word in wanted.text.split():
            # 20 ms for each letter.
            audio = b"\x10\x20" * (RATE // 50 * len(word))
            await self.write_event(AudioChunk(audio=audio, **audio_format).event())
        await self.write_event(AudioStop().event())
        return True


async def main():
    server = AsyncTcpServer("127.0.0.1", 0)
    await server.start(partial(Handler))
    print(server._server.sockets[0].getsockname()[1], flush=True)
    # Ends with the test, which holds the other end of the pipe.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
