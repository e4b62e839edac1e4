"""A real llama.cpp server with a generated model of a few thousand weights and a byte vocabulary.

The model looks only at the last token and has exactly one continuation for it, so its output is deterministic:
a greeting for a conversation without tools, a call of `calc` for one with tools, and the result for a tool's
response. Everything else is what a user's server does: the template, the parsing of the call, the events, the
token counts and the errors. Prints its address on a separate line once it listens, and exits when its standard
input ends.

Needs xllamacpp (llama.cpp and its HTTP server, built as a wheel) and gguf; see requirements.txt of
crates/vault.
"""

import sys
import tempfile
from pathlib import Path

import gguf
import numpy
import xllamacpp

CONTEXT = 2048
WIDTH = 64
HEADS = 2
HIDDEN = 64
# A template in the style of Hermes and Qwen, which llama.cpp parses.
TEMPLATE = """{%- if tools %}<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
{% endif %}
{%- for message in messages %}
{%- if message.role == "tool" %}<tool_response>
{{ message.content }}
</tool_response>
{%- else %}<{{ message.role }}>
{%- if message.content %}{{ message.content }}{% endif %}
{%- if message.tool_calls %}
{%- for call in message.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}
{%- endif %}<|end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<assistant>
{%- if messages[-1].role == "tool" %}<|result|>{% elif tools %}<|call|>{% else %}<|greet|>{% endif %}
{%- endif %}"""
# Each line is a token and its continuation. The first tokens end a prompt.
SEQUELS = [
    ["<|greet|>", "Hello", ", w\u00f6rld", "<|end|>"],
    [
        "<|call|>",
        "<tool_call>",
        '\n{"name": "calc", "arguments": {"expression": "6*7"}}',
        "\n</tool_call>",
        "<|end|>",
    ],
    ["<|result|>", "It is 42.", "<|end|>"],
]


def make_model(path: Path) -> None:
    """Returns a Llama model with one layer without effect; the embedding and the output determine the result."""
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("parrot")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)

    kinds = gguf.TokenType
    tokens = [b"<unk>", b"<s>", b"<|end|>"] + [b"<0x%02X>" % byte for byte in range(256)]
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL] + [kinds.BYTE] * 256
    for sequel in SEQUELS:
        for token in sequel:
            if token.encode() not in tokens:
                tokens.append(token.encode())
                types.append(kinds.CONTROL if "|" in token else kinds.USER_DEFINED)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_vocab_size(len(tokens))
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)

    def number(token: str) -> int:
        return tokens.index(token.encode())

    # One dimension per continued token; all other tokens share the first, which continues with the end token.
    embedding = numpy.zeros((len(tokens), WIDTH), dtype=numpy.float32)
    output = numpy.zeros((len(tokens), WIDTH), dtype=numpy.float32)
    embedding[:, 0] = 1.0
    output[2, 0] = 8.0
    dimension = 1
    for sequel in SEQUELS:
        for token, following in zip(sequel, sequel[1:]):
            embedding[number(token)] = 0.0
            embedding[number(token), dimension] = 1.0
            output[number(following), dimension] = 8.0
            dimension += 1
    ones = numpy.ones(WIDTH, dtype=numpy.float32)

    def zeros(*shape: int) -> numpy.ndarray:
        return numpy.zeros(shape, dtype=numpy.float32)

    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("blk.0.attn_norm.weight", ones)
    writer.add_tensor("blk.0.ffn_norm.weight", ones)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", zeros(WIDTH, WIDTH))
    writer.add_tensor("blk.0.ffn_gate.weight", zeros(HIDDEN, WIDTH))
    writer.add_tensor("blk.0.ffn_up.weight", zeros(HIDDEN, WIDTH))
    writer.add_tensor("blk.0.ffn_down.weight", zeros(WIDTH, HIDDEN))

    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parrot.gguf"
        make_model(path)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.model_alias = {"parrot"}
        params.n_ctx = CONTEXT
        params.n_parallel = 1
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = 1
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = ["sk-llama"]
        params.use_jinja = True
        params.warmup = False
        params.fit_params = False
        server = xllamacpp.Server(params)
        print(server.listening_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
