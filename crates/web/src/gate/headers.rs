//! Headers of every response.

use axum::response::Response;
use gatehouse_domain::RequestId;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Values that are built at compile time. No byte needs to be validated at run time.
static ALWAYS: [(HeaderName, HeaderValue); 7] = [
    // Forbids inline scripts, external resources and framing.
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
             font-src 'self'; connect-src 'self'; media-src 'self' blob:; manifest-src 'self'; \
             worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        PERMISSIONS_POLICY,
        HeaderValue::from_static(
            "microphone=(self), camera=(), geolocation=(), payment=(), usb=()",
        ),
    ),
    (OPENER_POLICY, HeaderValue::from_static("same-origin")),
    (RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
];
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const A_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

pub(super) fn add(response: &mut Response, id: &RequestId, is_https: bool) {
    let headers = response.headers_mut();
    headers.reserve(ALWAYS.len() + 3);
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        headers.insert(REQUEST_ID, id);
    }
    for (name, value) in &ALWAYS {
        // A page with its own policy keeps it.
        headers.entry(name).or_insert_with(|| value.clone());
    }
    // A response without explicit caching headers is private.
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
    if is_https {
        headers.insert(STRICT_TRANSPORT_SECURITY, A_YEAR);
    }
}
