"""Runs jobs with OpenAI's client against a gateway.

Reads {"base_url", "key", "jobs": [{"do", "with"?, "key"?, "to"?}]} from standard input and writes a list with
one entry per job: {"ok": the result} or {"error": the class, "status", "message"}.
"""

import base64
import json
import sys

import openai


def speech(client, job):
    answer = client.audio.speech.create(**job["with"])
    return base64.b64encode(answer.content).decode()


def stream(client, job):
    with client.audio.speech.with_streaming_response.create(**job["with"]) as answer:
        answer.stream_to_file(job["to"])
        return answer.headers["content-type"]


def transcribe(client, job):
    wanted = dict(job["with"])
    with open(wanted.pop("file"), "rb") as file:
        answer = client.audio.transcriptions.create(file=file, **wanted)
    return answer if isinstance(answer, str) else answer.to_dict()


def speech_events(client, job):
    with client.audio.speech.with_streaming_response.create(**job["with"]) as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def transcribe_events(client, job):
    wanted = dict(job["with"])
    with open(wanted.pop("file"), "rb") as file:
        events = client.audio.transcriptions.create(file=file, stream=True, **wanted)
        return [event.to_dict() for event in events]


def translate(client, job):
    wanted = dict(job["with"])
    with open(wanted.pop("file"), "rb") as file:
        answer = client.audio.translations.create(file=file, **wanted)
    return answer if isinstance(answer, str) else answer.to_dict()


def voices(client, _job):
    return client.get("/audio/voices", cast_to=object)


def models(client, _job):
    return [model.id for model in client.models.list()]


def model(client, job):
    return client.models.retrieve(job["with"]["id"]).to_dict()


def chat(client, job):
    return client.chat.completions.create(**job["with"]).to_dict()


def chat_stream(client, job):
    options = {"include_usage": True}
    chunks = client.chat.completions.create(stream=True, stream_options=options, **job["with"])
    return [chunk.to_dict() for chunk in chunks]


def respond(client, job):
    answer = client.responses.create(**job["with"])
    return {"text": answer.output_text, **answer.to_dict()}


def respond_stream(client, job):
    with client.responses.stream(**job["with"]) as events:
        kinds = [event.type for event in events]
        return {"kinds": kinds, "text": events.get_final_response().output_text}


KINDS = {
    one.__name__: one
    for one in (
        speech, stream, speech_events, transcribe, transcribe_events, translate, voices, models, model,
        chat, chat_stream, respond, respond_stream,
    )
}


def run(order, job):
    # By default the client retries responses with 5xx.
    client = openai.OpenAI(
        base_url=order["base_url"], api_key=job.get("key", order["key"]), max_retries=0, timeout=60
    )
    try:
        return {"ok": KINDS[job["do"]](client, job)}
    except openai.APIStatusError as error:
        return {
            "error": type(error).__name__,
            "status": error.status_code,
            # The client copies only objects into its message; the gate's error is a string.
            "message": f"{error.message} {error.body}",
        }


def main():
    order = json.load(sys.stdin)
    json.dump([run(order, job) for job in order["jobs"]], sys.stdout)


if __name__ == "__main__":
    main()
