//! Codes and phrases by which vendors report an error.

/// Codes for a conversation that is too long: `OpenAI` and Groq use `code`, llama.cpp `type`.
pub(super) const CONTEXT_CODES: &[&str] = &["context_length_exceeded", "exceed_context_size_error"];

/// Anthropic ("prompt is too long: … tokens", "input length and `max_tokens` exceed context limit"), vLLM
/// ("This model's maximum context length is …"), older llama.cpp ("exceeds the available context size"),
/// Gemini ("The input token count … exceeds the maximum number of tokens allowed"), Ollama, LM Studio,
/// Mistral.
pub(super) const CONTEXT_PHRASES: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "context length",
    "context window",
    "context limit",
    "context size",
    "maximum context",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
];

/// Ollama ("… does not support tools"), `OpenAI` ("Unsupported parameter: 'tools' is not supported with this
/// model."), `OpenRouter` ("No endpoints found that support tool use."), Groq ("`tool calling` is not
/// supported with this model"), `DeepSeek` ("does not support Function Calling"), Mistral ("Function calling
/// is not enabled for this model"), vLLM ("\"auto\" tool choice requires --enable-auto-tool-choice …"),
/// llama.cpp ("tools param requires --jinja flag").
pub(super) const NO_TOOLS: &[&str] = &[
    "does not support tool",
    "'tools' is not supported",
    "support tool use",
    "tool calling` is not supported",
    "tool calling is not supported",
    "does not support function",
    "function calling is not enabled",
    "function calling is not supported",
    "enable-auto-tool-choice",
    "tools param requires",
];

/// `OpenAI` ("Invalid schema for function …"), Anthropic ("… `input_schema` …"), Gemini
/// ("`function_declarations`[0].parameters …").
pub(super) const SCHEMA: &[&str] = &[
    "invalid schema for function",
    "input_schema",
    "function_declarations",
    "functiondeclaration",
    "json schema is invalid",
];

/// Gemini ("Function call is missing a `thought_signature`"), `DeepSeek` ("The `reasoning_content` in the
/// thinking mode must be passed back"), Anthropic ("Invalid `signature` in `thinking` block", "Expected
/// `thinking` or `redacted_thinking`").
pub(super) const STATE: &[&str] = &[
    "thought_signature",
    "thought signature",
    "reasoning_content",
    "reasoning_details",
    "in `thinking` block",
    "expected `thinking`",
    "`redacted_thinking`",
];

/// Phrases for a field that a server does not support: pydantic ("Extra inputs are not permitted"), serde, Groq
/// ("property '…' is unsupported").
pub(super) const UNKNOWN_FIELD: &[&str] = &[
    "extra inputs",
    "extra_forbidden",
    "not permitted",
    "unknown field",
    "unrecognized",
    "unsupported",
];
