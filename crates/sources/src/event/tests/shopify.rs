//! Tests for Shopify: webhooks, and Events with their own headers.

use super::*;

#[test]
fn one_event_of_a_shop_under_two_topics_is_two_deliveries() {
    let of = |topic| {
        let pairs = [("x-shopify-event-id", "e"), ("x-shopify-topic", topic)];
        key_of("shopify", &pairs, &json!({}))
    };
    assert_eq!(of("orders/paid"), Some("orders/paid:e".into()));
    assert_ne!(of("orders/paid"), of("orders/updated"));
    let webhook_id = [("x-shopify-webhook-id", "w")];
    assert_eq!(key_of("shopify", &webhook_id, &json!({})), Some("w".into()));
}

/// Header names from shopify.dev, "Events delivery structure".
#[test]
fn shopify_events_are_read_by_their_own_headers() {
    let pairs = [
        ("shopify-topic", "Product"),
        ("shopify-action", "update"),
        ("shopify-webhook-id", "w"),
    ];
    let body = json!({ "topic": "Product", "action": "update", "handle": "h" });
    assert_eq!(
        type_of("shopify", &pairs, &body),
        Some("Product.update".into())
    );
    assert_eq!(key_of("shopify", &pairs, &body), Some("w".into()));
    // Earlier previews also sent an event ID, which two actions can share.
    let of = |action| {
        let pairs = [
            ("shopify-topic", "Product"),
            ("shopify-action", action),
            ("shopify-event-id", "e"),
        ];
        key_of("shopify", &pairs, &body)
    };
    assert_eq!(of("create"), Some("Product.create:e".into()));
    assert_ne!(of("create"), of("update"));
    // Both forms can occur together.
    let both = [
        ("x-shopify-topic", "Product"),
        ("x-shopify-webhook-id", "w"),
        ("x-shopify-event-id", "e"),
        ("shopify-topic", "Product"),
        ("shopify-action", "update"),
        ("shopify-webhook-id", "w"),
    ];
    assert_eq!(
        type_of("shopify", &both, &body),
        Some("Product.update".into())
    );
    assert_eq!(key_of("shopify", &both, &body), Some("w".into()));
    let kept = safe_headers(find("shopify").unwrap(), None, &headers(&both));
    assert_eq!(
        kept.get("shopify-action").map(String::as_str),
        Some("update")
    );
    assert_eq!(
        kept.get("shopify-webhook-id").map(String::as_str),
        Some("w")
    );
}
