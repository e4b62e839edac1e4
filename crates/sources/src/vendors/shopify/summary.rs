//! Summaries of Shopify events.

use crate::summary::{Field, Section, Summary};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &[],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

const SENTENCES: &[(&str, &str)] = &[
    ("orders/create", "The order {name} was placed."),
    ("orders/paid", "The order {name} was paid."),
    ("orders/updated", "The order {name} was changed."),
    ("orders/cancelled", "The order {name} was cancelled."),
    ("orders/fulfilled", "The order {name} was shipped."),
    (
        "orders/partially_fulfilled",
        "A part of the order {name} was shipped.",
    ),
    ("orders/edited", "An order's items were changed."),
    ("orders/delete", "An order was deleted."),
    ("refunds/create", "An order was refunded."),
    ("fulfillments/create", "The shipment {name} was created."),
    ("fulfillments/update", "The shipment {name} was changed."),
    ("customers/create", "A customer was added."),
    ("customers/update", "A customer's details changed."),
    ("customers/delete", "A customer was removed."),
    ("products/create", "The product {title} was added."),
    ("products/update", "The product {title} was changed."),
    ("products/delete", "A product was deleted."),
    ("inventory_levels/update", "A stock level changed."),
    ("draft_orders/create", "The draft order {name} was created."),
    ("checkouts/create", "A checkout was started."),
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
    Field::line("Fulfillment", &["fulfillment_status"]),
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
