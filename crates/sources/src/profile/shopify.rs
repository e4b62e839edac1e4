//! The profile of Shopify. Topics and headers of webhooks: shopify.dev, "About webhooks" and "Ignore
//! duplicate webhooks". For Events: <https://shopify.dev/docs/apps/build/events/delivery-structure> and
//! <https://shopify.dev/docs/apps/build/events/verify-deliveries>.

use super::{Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay, event};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::{SampleKind, shop as samples};
use crate::summary::{Field, Section, Summary};

pub(super) static PROFILE: Profile = Profile {
    id: "shopify",
    alias: None,
    name: "Shopify",
    default_auth_mode: AuthMode::ShopifyHmacSha256,
    body: BodyKind::Json,
    event: EventSource {
        own_header: false,
        headers: &["x-shopify-topic", "shopify-topic"],
        body: &[],
        names: None,
        detail_header: Some("shopify-action"),
        detail: &[],
    },
    // One action of a merchant has one event id and may be sent under several topics. In Shopify's newer
    // "Events", whose headers have no `X-` prefix, the webhook id identifies a delivery and is the same on
    // every retry.
    delivery_key: &[
        KeySource::Header("shopify-webhook-id"),
        KeySource::EventAndHeader("shopify-event-id"),
        KeySource::EventAndHeader("x-shopify-event-id"),
        KeySource::Header("x-shopify-webhook-id"),
    ],
    // `X-Shopify-Hmac-SHA256` is the HMAC of the raw body; the id and topic headers are not signed:
    // <https://shopify.dev/docs/apps/build/webhooks/verify-deliveries>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "The signature covers the body and not X-Shopify-Event-Id or X-Shopify-Topic: with `key`, a \
            captured delivery can be sent again under a new id. With `bytes`, topics that send equal bodies \
            count once: give each of them a webhook.",
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
    guide: "\
1. In the shop's admin open Settings, Notifications, Webhooks, Create webhook.
2. Event: the one to send (one webhook each). Format: JSON.
3. URL: {url}
4. Save it. Below the list stands the key that all of the shop's webhooks are signed with: store it as \
this webhook's secret, which replaces the one made by us.
5. Choose Send test, and look at this webhook's deliveries.

For an app's own subscriptions the secret is the app's client secret.",
    handshake: None,
    summary: Summary {
        sentences: &[SENTENCES],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: SampleKind::Json(samples::shopify),
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

const SENTENCES: &[(&str, &str)] = &[
    ("orders/create", "The order {name} was placed."),
    ("orders/paid", "The order {name} was paid."),
    ("orders/updated", "The order {name} was changed."),
    ("orders/cancelled", "The order {name} was cancelled."),
    ("orders/fulfilled", "The order {name} was sent."),
    (
        "orders/partially_fulfilled",
        "A part of the order {name} was sent.",
    ),
    ("orders/edited", "An order's items were changed."),
    ("orders/delete", "An order was deleted."),
    ("refunds/create", "Money was paid back for an order."),
    ("fulfillments/create", "The shipment {name} was made."),
    ("fulfillments/update", "The shipment {name} was changed."),
    ("customers/create", "A customer was added."),
    ("customers/update", "A customer's details changed."),
    ("customers/delete", "A customer was removed."),
    ("products/create", "The product {title} was added."),
    ("products/update", "The product {title} was changed."),
    ("products/delete", "A product was deleted."),
    ("inventory_levels/update", "What is in stock changed."),
    ("draft_orders/create", "The draft order {name} was made."),
    ("checkouts/create", "A checkout was begun."),
    ("checkouts/update", "A checkout was changed."),
    ("disputes/create", "A customer disputed a payment."),
    ("shop/update", "The details of the shop {name} changed."),
    ("app/uninstalled", "The app was removed from the shop."),
];

const FIELDS: &[Field] = &[
    Field::line("Name", &["name", "order_number"]),
    Field::line("Title", &["title"]),
    Field::line("Order", &["order_id"]),
    Field::text(
        "Total",
        "{current_total_price|total_price|amount} {currency|''}",
    ),
    Field::line("Payment", &["financial_status"]),
    Field::line("Fulfilment", &["fulfillment_status"]),
    Field::line("Status", &["status", "shipment_status"]),
    Field::line("Reason", &["reason"]),
    Field::line("Cancelled because", &["cancel_reason"]),
    Field::text(
        "Customer",
        "{customer.first_name|first_name} {customer.last_name|last_name|''}",
    ),
    Field::line("E-mail", &["customer.email", "email"]),
    Field::list("Items", "line_items", "name"),
    Field::line("Vendor", &["vendor"]),
    Field::line("Type", &["product_type"]),
    Field::list("Variants", "variants", "title"),
    Field::line("In stock", &["available"]),
    Field::line("Tracking", &["tracking_number"]),
    Field::line("Tracking URL", &["tracking_url"]),
    Field::line("Shop", &["myshopify_domain", "shop_domain", "domain"]),
    Field::line("At", &["updated_at", "created_at"]),
    Field::block("Note", &["note"]),
];

const EVENTS: &[EventType] = &[
    event("orders/create", "An order was placed"),
    event("orders/paid", "An order was paid"),
    event("orders/updated", "An order was changed"),
    event("orders/cancelled", "An order was cancelled"),
    event("orders/fulfilled", "An order was sent"),
    event("orders/partially_fulfilled", "A part of an order was sent"),
    event("orders/edited", "An order's items were changed"),
    event("orders/delete", "An order was deleted"),
    event("refunds/create", "Money was paid back"),
    event("fulfillments/create", "A shipment was made"),
    event("fulfillments/update", "A shipment was changed"),
    event("draft_orders/create", "A draft of an order was made"),
    event("checkouts/create", "A checkout was begun"),
    event("checkouts/update", "A checkout was changed"),
    event("customers/create", "A customer was added"),
    event("customers/update", "A customer's details changed"),
    event("customers/delete", "A customer was removed"),
    event("products/create", "A product was added"),
    event("products/update", "A product was changed"),
    event("products/delete", "A product was deleted"),
    event("inventory_levels/update", "What is in stock changed"),
    event("disputes/create", "A customer disputed a payment"),
    event("app/uninstalled", "The app was removed from the shop"),
    event("shop/update", "The shop's details changed"),
];
