//! The span of a call of a model. It ends with the answer.

use crate::chat::Chunk;
use crate::{ModelError, ModelRef};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use gatehouse_domain::trace::{self, SpanKind};

/// The chunks of an answer as they arrive.
pub type ChunkStream = BoxStream<'static, Result<Chunk, ModelError>>;

/// Waits for `ask`, in a span of the current trace.
pub(crate) async fn call(
    model: &ModelRef,
    ask: impl Future<Output = Result<ChunkStream, ModelError>>,
) -> Result<ChunkStream, ModelError> {
    let mut span = trace::child("model.call", SpanKind::Client);
    if !span.is_recorded() {
        return ask.await;
    }
    span.set("gen_ai.operation.name", "chat");
    span.set("gen_ai.provider.name", &*model.provider);
    span.set("gen_ai.request.model", &*model.model);
    match span.run(ask).await {
        Ok(chunks) => Ok(chunks
            .inspect(move |chunk| match chunk {
                Ok(Chunk::End { usage, .. }) => {
                    span.set("gen_ai.usage.input_tokens", usage.input_tokens);
                    span.set("gen_ai.usage.output_tokens", usage.output_tokens);
                }
                Ok(_) => {}
                Err(error) => span.fail(error.kind()),
            })
            .boxed()),
        Err(error) => {
            span.fail(error.kind());
            Err(error)
        }
    }
}
