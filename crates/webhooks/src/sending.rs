//! Sends a delivery to its channel: the rendered payload, or the stored answer of the agent.

use crate::handle::Inner;
use crate::receiver_answer;
use crate::run::outcome::{MAX_OUTCOME_CHARS, Outcome, Trace};
use crate::webhook::{Snapshot, TemplateFormat};
use gatehouse_channels::{Channels, Markup, OfDelivery, Outgoing, SendError};
use gatehouse_domain::WebhookId;
use gatehouse_sources::payload::Payload;
use gatehouse_sources::summary;
use gatehouse_sources::template;
use gatehouse_sources::template::json::{
    JsonRenderError, JsonTemplate, JsonTemplateError, RenderedJson,
};
use gatehouse_store::DeliveryWork;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Renders the template and sends the text.
pub(crate) async fn run(
    inner: &Inner,
    work: &DeliveryWork,
    snapshot: &Snapshot,
    payload: &Payload,
    cancel: &CancellationToken,
) -> Outcome {
    let config = &snapshot.config;
    let answer = if config.deliver_only {
        None
    } else {
        match stored_answer(inner, work).await {
            Ok(answer) => Some(answer),
            Err(outcome) => return outcome,
        }
    };
    let target = config.target();
    let extra = rendered_extra(config.deliver_extra.as_ref(), payload);
    let markup = Channels::markup(target);
    let rendered = match config.template_format {
        TemplateFormat::Text => Ok(text(config.template(), payload, answer.as_deref(), markup)),
        TemplateFormat::Json => {
            json(config.template(), payload, answer.as_deref()).map(|rendered| rendered.text)
        }
    };
    let text = match rendered {
        Ok(text) => text,
        Err(error) => return Outcome::Failed(Trace::default(), error.to_string()),
    };
    let message = Outgoing {
        target,
        text: &text,
        is_json: config.template_format == TemplateFormat::Json,
        extra: &extra,
        source: &snapshot.name,
        at: work.row.received_at,
        delivery: Some(OfDelivery {
            webhook_id: &work.row.webhook_id,
            delivery_id: &work.row.id,
        }),
        pictures: &[],
        links: &[],
    };
    let mut delivered = Trace {
        is_delivered: true,
        ..Trace::default()
    };
    // The outcome of a delivery with an agent is the agent's answer.
    if config.deliver_only {
        delivered.channel = inner.channels.label_of(target).await;
        // The summary is easier to read than the JSON.
        let is_text = config.template_format == TemplateFormat::Text;
        if is_text && config.prompt_template.is_some() {
            // The readable text, without the escapes of the channel's markup.
            let plain = match markup {
                Markup::None => Cow::Borrowed(text.as_str()),
                _ => self::text(config.template(), payload, None, Markup::None).into(),
            };
            delivered.outcome = summary::first_words(&plain, MAX_OUTCOME_CHARS);
        }
    }
    send(inner, message, &work.row.webhook_id, delivered, cancel).await
}

/// Renders a template that is a text.
pub(crate) fn text(
    template: &str,
    payload: &Payload,
    answer: Option<&str>,
    markup: Markup,
) -> String {
    match answer {
        None => template::render(template, payload, &|value| markup.escape(value)),
        Some(answer) => {
            let answer = markup.escape_answer(answer);
            template::render_answer(template, payload, &answer, &|value| markup.escape(value))
        }
    }
}

/// Why a delivery has no JSON body. The texts are for the owner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonError {
    #[error("The template of this delivery is {0}. Nothing was sent.")]
    Template(#[from] JsonTemplateError),
    #[error(
        "The JSON body would be {0}. Nothing was sent. Insert less of the payload, then replay the delivery."
    )]
    Body(#[from] JsonRenderError),
}

/// Renders a template that is JSON.
pub(crate) fn json(
    template: &str,
    payload: &Payload,
    answer: Option<&str>,
) -> Result<RenderedJson, JsonError> {
    Ok(JsonTemplate::parse(template)?.render(payload, answer)?)
}

/// Sends the message. `delivered` is the trace if the channel accepts it.
async fn send(
    inner: &Inner,
    message: Outgoing<'_>,
    webhook_id: &WebhookId,
    delivered: Trace,
    cancel: &CancellationToken,
) -> Outcome {
    match inner.channels.prepare_inbox(&message).await {
        Ok(None) => {}
        Ok(inbox) => return Outcome::Completed(Trace { inbox, ..delivered }),
        Err(_) => {
            let why = "The database was unavailable when the message was about to be written.";
            return Outcome::Retry(Trace::default(), why.to_owned(), None);
        }
    }
    let send = inner.channels.send_reported(message);
    let Some(report) = cancel.run_until_cancelled(send).await else {
        return Outcome::Interrupted { began: true };
    };
    let response = report
        .response
        .map(|response| receiver_answer::stored(inner, webhook_id, response))
        .unwrap_or_default();
    let failed = |response| Trace {
        response,
        ..Trace::default()
    };
    match report.result {
        Ok(()) => Outcome::Completed(Trace {
            response,
            ..delivered
        }),
        Err(SendError::Retry { after, why }) => Outcome::Retry(failed(response), why, after),
        Err(SendError::Unreachable { why }) => Outcome::Unreachable(why),
        Err(SendError::Disabled { why }) => Outcome::Disabled(why),
        Err(SendError::GiveUp { why }) => Outcome::Failed(failed(response), why),
        Err(SendError::Sealed) => Outcome::Sealed(Trace::default()),
    }
}

/// Reads the answer that the agent gave in an earlier attempt.
async fn stored_answer(inner: &Inner, work: &DeliveryWork) -> Result<String, Outcome> {
    let id = work.row.id.clone();
    let read = inner
        .store
        .read(move |conn| Box::pin(async move { conn.find_delivery_answer(&id).await }));
    match read.await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => {
            let why = "The stored answer of the agent is missing. Replay the delivery.".to_owned();
            Err(Outcome::Failed(Trace::default(), why))
        }
        Err(_) => {
            let why =
                "The database was unavailable when the answer was about to be read.".to_owned();
            Err(Outcome::Retry(Trace::default(), why, None))
        }
    }
}

/// Renders the extra fields. They are addresses and names, so they need no markup escaping.
fn rendered_extra(
    extra: Option<&BTreeMap<String, String>>,
    payload: &Payload,
) -> BTreeMap<String, String> {
    let fields = extra.into_iter().flatten();
    fields
        .map(|(name, value)| {
            let rendered = template::render(value, payload, &|value| Markup::None.escape(value));
            (name.clone(), rendered)
        })
        .collect()
}
