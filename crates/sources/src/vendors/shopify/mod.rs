//! The profile of Shopify. Topics and headers of webhooks: shopify.dev, "About webhooks" and "Ignore
//! duplicate webhooks". For Events: <https://shopify.dev/docs/apps/build/events/delivery-structure> and
//! <https://shopify.dev/docs/apps/build/events/verify-deliveries>.

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay, ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "shopify",
    alias: None,
    name: "Shopify",
    about: "Orders, products, customers",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &["x-shopify-topic", "shopify-topic"],
        body: &[],
        names: None,
        detail_header: Some("shopify-action"),
        detail: &[],
    },
    // One action of a merchant has one event ID and may be sent with several topics. In Shopify's newer "Events",
    // whose headers have no `X-` prefix, the webhook ID identifies a delivery and is the same in every retry.
    delivery_key: &[
        KeySource::Header("shopify-webhook-id"),
        KeySource::EventAndHeader("shopify-event-id"),
        KeySource::EventAndHeader("x-shopify-event-id"),
        KeySource::Header("x-shopify-webhook-id"),
    ],
    // `X-Shopify-Hmac-SHA256` is the HMAC of the raw body; the ID and topic headers are not signed:
    // <https://shopify.dev/docs/apps/build/webhooks/verify-deliveries>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "The signature covers the body and not X-Shopify-Event-Id or X-Shopify-Topic: with `key`, a captured \
            delivery can be sent again under a new ID. With `bytes`, equal bodies of different topics count as \
            duplicates: use one webhook per topic.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &[
        "x-shopify-topic",
        "shopify-topic",
        "shopify-action",
        "shopify-webhook-id",
        "shopify-event-id",
        "x-shopify-event-id",
        "x-shopify-webhook-id",
    ],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[],
        key: "shopify:order:{order_id}",
    },
    EntityRule {
        when: &[Condition::OneOf(&[
            "orders/create",
            "orders/paid",
            "orders/updated",
            "orders/cancelled",
            "orders/fulfilled",
            "orders/partially_fulfilled",
            "orders/edited",
            "orders/delete",
        ])],
        key: "shopify:order:{id}",
    },
    EntityRule {
        when: &[Condition::OneOf(&[
            "customers/create",
            "customers/update",
            "customers/delete",
            "customers/enable",
            "customers/disable",
        ])],
        key: "shopify:customer:{id}",
    },
    EntityRule {
        when: &[Condition::OneOf(&[
            "products/create",
            "products/update",
            "products/delete",
        ])],
        key: "shopify:product:{id}",
    },
];

const EVENTS: &[EventType] = &[
    event("orders/create", "An order was placed"),
    event("orders/paid", "An order was paid"),
    event("orders/updated", "An order was changed"),
    event("orders/cancelled", "An order was cancelled"),
    event("orders/fulfilled", "An order was shipped"),
    event(
        "orders/partially_fulfilled",
        "A part of an order was shipped",
    ),
    event("orders/edited", "An order's items were changed"),
    event("orders/delete", "An order was deleted"),
    event("refunds/create", "An order was refunded"),
    event("fulfillments/create", "A shipment was created"),
    event("fulfillments/update", "A shipment was changed"),
    event("draft_orders/create", "A draft order was created"),
    event("checkouts/create", "A checkout was started"),
    event("checkouts/update", "A checkout was changed"),
    event("customers/create", "A customer was added"),
    event("customers/update", "A customer's details changed"),
    event("customers/delete", "A customer was removed"),
    event("products/create", "A product was added"),
    event("products/update", "A product was changed"),
    event("products/delete", "A product was deleted"),
    event("inventory_levels/update", "A stock level changed"),
    event("disputes/create", "A customer disputed a payment"),
    event("app/uninstalled", "The app was removed from the shop"),
    event("shop/update", "The shop's details changed"),
];
