//! Samples of Shopify deliveries.

use serde_json::{Value, json};

use super::{SampleInput, time};

pub(crate) fn shopify(input: &SampleInput<'_>) -> Value {
    let at = time(input.now_ms);
    let customer = || {
        json!({
            "id": 207_119_551,
            "email": "ada@example.com",
            "first_name": "Ada",
            "last_name": "Example",
        })
    };
    match input.event.split('/').next().unwrap_or_default() {
        "products" => json!({
            "id": 632_910_392,
            "title": "Teapot",
            "vendor": "Acme",
            "product_type": "Kitchen",
            "variants": [{ "id": 1, "title": "Blue" }, { "id": 2, "title": "White" }],
            "updated_at": at,
        }),
        "customers" => customer(),
        "refunds" => json!({
            "id": 509_562_969,
            "order_id": 450_789_469,
            "note": "The lid was broken.",
            "created_at": at,
        }),
        "fulfillments" => json!({
            "id": 255_858_046,
            "order_id": 450_789_469,
            "name": "#1001.1",
            "status": "success",
            "tracking_number": "1Z001",
            "tracking_url": "https://carrier.example/1Z001",
            "created_at": at,
        }),
        "inventory_levels" => json!({
            "inventory_item_id": 271_878_346,
            "location_id": 24_826_418,
            "available": 4,
            "updated_at": at,
        }),
        "disputes" => json!({
            "id": 285_332_461,
            "order_id": 450_789_469,
            "amount": "49.00",
            "currency": "EUR",
            "reason": "product_not_received",
            "status": "needs_response",
        }),
        "app" | "shop" => json!({
            "id": 548_380_009,
            "name": "Teapots & more",
            "email": "shop@example.com",
            "domain": "teapots.example",
            "myshopify_domain": "teapots.myshopify.com",
            "updated_at": at,
        }),
        _ => json!({
            "id": 450_789_469,
            "name": "#1001",
            "order_number": 1001,
            "email": "ada@example.com",
            "currency": "EUR",
            "total_price": "49.00",
            "financial_status": "paid",
            "fulfillment_status": null,
            "customer": customer(),
            "line_items": [{ "name": "Teapot - Blue", "quantity": 1, "price": "49.00" }],
            "created_at": at,
            "updated_at": at,
        }),
    }
}
