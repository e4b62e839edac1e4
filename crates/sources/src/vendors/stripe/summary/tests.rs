//! Tests of the parent module.

use super::money;

#[test]
fn money_has_as_many_places_as_its_currency() {
    assert_eq!(money(4900, "eur"), "49.00 EUR");
    assert_eq!(money(5, "usd"), "0.05 USD");
    assert_eq!(money(500, "jpy"), "500 JPY");
    assert_eq!(money(1, "kwd"), "0.001 KWD");
    assert_eq!(money(-4901, "eur"), "−49.01 EUR");
    assert_eq!(money(i64::MIN, ""), "−92233720368547758.08");
}
