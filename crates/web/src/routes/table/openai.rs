//! Routes for clients of `OpenAI`'s API. The routes for audio are in `voice`.

use super::{READ, WRITE, row};
use crate::route::{Route, Verb};
use crate::routes::endpoint::{get, post};
use crate::routes::openai::{chat, formatted, models, responses};

use Verb::{Get, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "openai.chat",
        (Post, "/v1/chat/completions"),
        WRITE,
        || post(formatted(chat::post)),
        "Answers a conversation with an agent or a model, for clients of OpenAI's API; with `stream`, \
         the answer is server-sent events",
    )
    .takes::<chat::CompletionBody>()
    .gives::<chat::Completion>(),
    row(
        "openai.models.list",
        (Get, "/v1/models"),
        READ,
        || get(formatted(models::list)),
        "Lists agents, language models and speech providers as models, for clients of OpenAI's API",
    )
    .gives::<models::ModelList>(),
    row(
        "openai.models.get",
        (Get, "/v1/models/{*id}"),
        READ,
        || get(formatted(models::get)),
        "One agent, language model or speech provider as a model, for clients of OpenAI's API",
    )
    .gives::<models::Model>(),
    row(
        "openai.responses",
        (Post, "/v1/responses"),
        WRITE,
        || post(formatted(responses::post)),
        "Answers a conversation with an agent or a model, for clients of OpenAI's API; with `stream`, \
         the answer is server-sent events",
    )
    .takes::<responses::ResponseBody>()
    .gives::<responses::ResponseObject>(),
];
