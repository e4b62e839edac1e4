"""A scripted model with OpenAI's chat completions interface."""

import itertools
import json

from .recorder import Recorder


class ModelServer(Recorder):
    """`CALL <mark> <tool> <json>` makes the model call a tool once; `SAY <text>` makes it answer with
    the text. A tool's result that contains `OBEY` and a call makes it call that tool next."""

    def __init__(self):
        super().__init__(self.reply)
        self.marks = itertools.count(1)

    def mark(self):
        return f"m{next(self.marks)}"

    @property
    def base_url(self):
        return f"{self.url}/v1"

    def requests(self):
        """Returns the bodies of the completion requests."""
        return [json.loads(hit.body) for hit in list(self.hits) if hit.path.endswith("/chat/completions")]

    def tool_texts(self, asked):
        """Returns the results of the tools called because of the message `asked`."""
        for request in reversed(self.requests()):
            messages = request["messages"]
            at = [i for i, m in enumerate(messages) if m["role"] == "user" and asked in str(m["content"])]
            texts = [str(m["content"]) for m in messages[at[-1] :] if m["role"] == "tool"] if at else []
            if texts:
                return texts
        return []

    def tool_text(self, asked):
        """Returns the result of the tool called by the message `asked`; None if it was not called."""
        return next(iter(self.tool_texts(asked)), None)

    def reply(self, hit):
        if not hit.path.endswith("/chat/completions"):
            models = {"object": "list", "data": [{"id": "m", "object": "model"}]}
            return 200, {"Content-Type": "application/json"}, json.dumps(models).encode()
        request = json.loads(hit.body)
        message = self.answer_to(request["messages"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            value = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
            return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()
        for index, called in enumerate(message.get("tool_calls", [])):
            called["index"] = index
        base = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
        chunks = [
            {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage},
        ]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return 200, {"Content-Type": "text/event-stream"}, body.encode()

    @staticmethod
    def answer_to(messages):
        text = str(next((m["content"] for m in reversed(messages) if m["role"] == "user"), ""))
        if messages[-1]["role"] == "tool":
            text = str(messages[-1]["content"])
            if "OBEY " not in text:
                return {"role": "assistant", "content": "done"}
        if "CALL " in text:
            _, name, arguments = text[text.index("CALL ") + 5 :].split(" ", 2)
            arguments = json.dumps(json.JSONDecoder().raw_decode(arguments)[0])
            call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": arguments}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        if "SAY " in text:
            return {"role": "assistant", "content": text[text.index("SAY ") + 4 :]}
        return {"role": "assistant", "content": "ok"}
