//! Samples of `PagerDuty` and Sentry deliveries.

use serde_json::{Value, json};

use super::{SampleInput, action, family, time};

pub(crate) fn incident(input: &SampleInput<'_>) -> Value {
    let at = time(input.now_ms);
    let reference = |name: &str| json!({ "id": "PSAMPLE", "summary": name });
    let data = match input.event {
        "pagey.ping" => json!({ "type": "ping", "message": "Hello from your friend Pagey!" }),
        "incident.annotated" => json!({
            "id": "PNOTE01",
            "type": "incident_note",
            "incident": incident_reference(),
            "content": "The last release is being rolled back.",
        }),
        "incident.responder.added" | "incident.responder.replied" => json!({
            "type": "incident_responder",
            "incident": incident_reference(),
            "user": reference("Grace Example"),
            "escalation_policy": null,
            "message": "Please help with the checkout.",
            "state": if input.event.ends_with("added") { "pending" } else { "accepted" },
        }),
        "incident.status_update_published" => json!({
            "id": "PUPDATE",
            "type": "incident_status_update",
            "incident": incident_reference(),
            "message": "Checkout works again for most customers.",
            "trigger": null,
        }),
        event if event.starts_with("service.") => json!({
            "id": "PSVC001",
            "type": "service",
            "html_url": "https://incidents.example/services/PSVC001",
            "name": "Checkout",
        }),
        event => json!({
            "id": "PINC001",
            "type": "incident",
            "html_url": "https://incidents.example/incidents/PINC001",
            "number": 1234,
            "status": match event {
                "incident.resolved" => "resolved",
                "incident.acknowledged" => "acknowledged",
                _ => "triggered",
            },
            "title": "Checkout answers with errors",
            "service": reference("Checkout"),
            "assignees": [reference("Ada Example")],
            "escalation_policy": reference("Shop on call"),
            "teams": [reference("Shop")],
            "priority": reference("P1"),
            "urgency": "high",
            "created_at": at,
        }),
    };
    json!({
        "event": {
            "id": input.id,
            "event_type": input.event,
            "resource_type": family(input.event),
            "occurred_at": at,
            "agent": reference("Ada Example"),
            "client": null,
            "data": data,
        },
    })
}

fn incident_reference() -> Value {
    json!({
        "id": "PINC001",
        "html_url": "https://incidents.example/incidents/PINC001",
        "summary": "Checkout answers with errors",
    })
}

pub(crate) fn errors(input: &SampleInput<'_>) -> Value {
    let at = time(input.now_ms);
    json!({
        "action": action(input.event).unwrap_or("created"),
        "installation": { "uuid": "a8e5d37a-696c-4c54-adb5-b3f28d64c7de" },
        "data": about(input.event, &at),
        "actor": { "type": "application", "id": "errors", "name": "Errors" },
    })
}

fn about(event_type: &str, at: &str) -> Value {
    let level = match action(event_type) {
        Some("resolved") => "Resolved",
        Some("warning") => "Warning",
        _ => "Critical",
    };
    let event = || {
        json!({
            "event_id": "e4874d664c3540c1a32eab185f12c5ab",
            "issue_id": "1170820242",
            "title": "TypeError: total is not a number",
            "culprit": "price in sum",
            "level": "error",
            "platform": "javascript",
            "environment": "production",
            "release": "shop@1.4.0",
            "datetime": at,
            "metadata": { "type": "TypeError", "value": "total is not a number" },
            "web_url": "https://errors.example/organizations/acme/issues/1170820242/events/e4874d66/",
        })
    };
    match family(event_type) {
        "event_alert" => {
            json!({ "event": event(), "triggered_rule": "Too many errors at checkout" })
        }
        "error" => json!({ "error": event() }),
        "metric_alert" => json!({
            "description_title": format!("{level}: errors at checkout"),
            "description_text": "123 events in the last 10 minutes",
            "metric_alert": {
                "id": "7",
                "title": "Errors at checkout",
                "status": 20,
                "projects": ["shop"],
                "alert_rule": { "name": "Errors at checkout" },
            },
            "web_url": "https://errors.example/organizations/acme/alerts/7/",
        }),
        "comment" => json!({
            "comment": "Fixed by the next release.",
            "issue_id": 1_170_820_242,
            "project_slug": "shop",
            "timestamp": at,
        }),
        "installation" => json!({
            "installation": { "status": "installed", "organization": { "slug": "acme" } },
        }),
        _ => json!({
            "issue": {
                "id": "1170820242",
                "shortId": "SHOP-9",
                "title": "TypeError: total is not a number",
                "culprit": "price in sum",
                "level": "error",
                "platform": "javascript",
                "status": "unresolved",
                "count": "3",
                "userCount": 2,
                "firstSeen": at,
                "lastSeen": at,
                "metadata": { "type": "TypeError", "value": "total is not a number" },
                "project": { "id": "1", "name": "shop", "slug": "shop" },
                "web_url": "https://errors.example/organizations/acme/issues/1170820242/",
            },
        }),
    }
}
