use super::*;
use crate::{ManualClock, SeededRandom, Timestamp};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const SENDER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn tracer() -> (Tracer, Arc<ManualClock>, Arc<Mutex<Vec<Span>>>) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let spans = Arc::new(Mutex::new(Vec::new()));
    let ended = Arc::clone(&spans);
    let random = Arc::new(SeededRandom::new(7));
    let tracer = Tracer::new(Arc::<ManualClock>::clone(&clock), random, move |span| {
        ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(span);
    });
    (tracer, clock, spans)
}

#[test]
fn traceparent_is_parsed_strictly() {
    let context = SpanContext::parse(SENDER).unwrap();
    assert_eq!(
        context.trace_id.to_string(),
        "4bf92f3577b34da6a3ce929d0e0e4736"
    );
    assert_eq!(context.span_id.to_string(), "00f067aa0ba902b7");
    let later = SENDER.replacen("00-", "01-", 1);
    assert!(SpanContext::parse(&later).is_some());
    assert!(SpanContext::parse(&format!("{later}-more")).is_some());
    for text in [
        "",
        "é",
        &SENDER[..54],
        &format!("{SENDER}-more"),
        &format!("{later}more"),
        &SENDER.replacen("00-", "ff-", 1),
        &SENDER.to_ascii_uppercase(),
        &SENDER.replace('-', "_"),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e47-3600f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-xx",
    ] {
        assert_eq!(SpanContext::parse(text), None, "{text}");
    }
}

#[test]
fn derived_ids_belong_to_the_record() {
    let one = SpanContext::derived_from("dlv_1");
    assert_eq!(one, SpanContext::derived_from("dlv_1"));
    let two = SpanContext::derived_from("dlv_2");
    assert_ne!(one.trace_id, two.trace_id);
    assert_ne!(one.span_id, two.span_id);
}

#[tokio::test]
async fn a_child_belongs_to_the_span_in_which_the_task_works() {
    let (tracer, clock, spans) = tracer();
    let mut outer = tracer.begin("outer", SpanKind::Server, None);
    outer.set("kind", "test");
    let moved = outer
        .run(async {
            let mut inner = child("inner", SpanKind::Internal);
            clock.advance(Duration::from_millis(5));
            inner.fail("refused");
            drop(inner);
            current()
        })
        .await;
    within(moved, async { drop(child("elsewhere", SpanKind::Client)) }).await;
    drop(child("outside", SpanKind::Client));
    drop(outer);
    let spans = spans.lock().unwrap();
    let names: Vec<_> = spans.iter().map(|span| span.name).collect();
    assert_eq!(names, ["inner", "elsewhere", "outer"]);
    let outer = &spans[2];
    for span in &spans[..2] {
        assert_eq!(span.parent, Some(outer.context.span_id));
        assert_eq!(span.context.trace_id, outer.context.trace_id);
        assert_ne!(span.context.span_id, outer.context.span_id);
    }
    assert_eq!(
        spans[0].started_at.until(spans[0].ended_at),
        Duration::from_millis(5)
    );
    assert_eq!((spans[0].error, outer.error), (Some("refused"), None));
    assert_eq!(outer.attributes, [("kind", AttributeValue::from("test"))]);
}

#[test]
fn a_span_ends_after_its_start_even_if_the_clock_is_set_back() {
    let (tracer, clock, spans) = tracer();
    let mut span = tracer.begin("work", SpanKind::Internal, SpanContext::parse(SENDER));
    span.started_at(Timestamp::from_millis(1_800_000_000_000 - 40));
    clock.set_wall(Timestamp::from_millis(1_700_000_000_000));
    drop(span);
    let spans = spans.lock().unwrap();
    assert_eq!(
        spans[0].started_at.until(spans[0].ended_at),
        Duration::from_millis(40)
    );
    assert_eq!(
        spans[0].parent,
        SpanContext::parse(SENDER).map(|it| it.span_id)
    );
}

#[test]
fn nothing_is_recorded_without_a_tracer() {
    let mut span = Tracer::default().begin("work", SpanKind::Internal, None);
    span.set("kind", "test");
    assert!(!span.is_recorded());
    assert!(!child("work", SpanKind::Internal).is_recorded());
}
