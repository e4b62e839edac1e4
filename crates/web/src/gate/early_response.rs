//! Responses that the gate sends without calling a handler.

use crate::app::App;
use crate::pages;
use crate::respond::Refusal;
use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use gatehouse_domain::Problem;
use http::{HeaderValue, StatusCode, header::LOCATION};

/// A response that replaces the route's.
pub(super) enum EarlyResponse {
    /// An error, as JSON.
    Away(Problem),
    /// A page request that is redirected to setup.
    ToOnboarding,
    /// A page request that gets the login view.
    ToLogin,
    /// A response that is independent of the identity.
    Answered(Box<Response>),
}

impl From<Problem> for EarlyResponse {
    fn from(problem: Problem) -> Self {
        Self::Away(problem)
    }
}

impl EarlyResponse {
    pub(super) fn into_response(self, app: &App) -> Response {
        match self {
            Self::Away(problem) => Refusal(problem).into_response(),
            Self::ToOnboarding => see_other("/onboarding"),
            Self::ToLogin => pages::shell(app),
            Self::Answered(response) => *response,
        }
    }
}

fn see_other(to: &'static str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response
        .headers_mut()
        .insert(LOCATION, HeaderValue::from_static(to));
    response
}
