//! The payments vendor's events, told: docs.stripe.com/api/events/types.
