//! Assembles the route table from one file per subject.

mod auth;
mod openai;
mod passkeys;
mod server;
#[cfg(feature = "vault")]
mod vault;
#[cfg(feature = "voice")]
mod voice;
mod webhooks;

use crate::route::{Access, Route, StepUp, Verb};
use crate::routes::endpoint::Endpoint;
use gatehouse_domain::Scope::{Admin, Read, Write};
use schemars::{JsonSchema, SchemaGenerator};
use std::sync::LazyLock;

const JSON: &str = "application/json";

const fn row(
    id: &'static str,
    (verb, path): (Verb, &'static str),
    access: Access,
    handler: fn() -> Endpoint,
    summary: &'static str,
) -> Route {
    Route {
        id,
        verb,
        path,
        access,
        step_up: StepUp::No,
        carries_calls: false,
        takes_setup_code: false,
        summary,
        body: None,
        body_type: JSON,
        answer: None,
        answer_type: JSON,
        handler,
    }
}

impl Route {
    const fn takes<T: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    const fn gives<T: JsonSchema>(mut self) -> Self {
        self.answer = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// Declares that the body is a form with a file.
    #[cfg(feature = "voice")]
    const fn takes_form<T: JsonSchema>(mut self) -> Self {
        self.body_type = "multipart/form-data";
        self.takes::<T>()
    }

    /// Declares that the body is a file.
    const fn takes_bytes<T: JsonSchema>(mut self, media_type: &'static str) -> Self {
        self.body_type = media_type;
        self.takes::<T>()
    }

    const fn gives_bytes(mut self, media_type: &'static str) -> Self {
        self.answer_type = media_type;
        self
    }

    const fn carries_calls(mut self) -> Self {
        self.carries_calls = true;
        self
    }

    const fn with_setup_code(mut self) -> Self {
        self.takes_setup_code = true;
        self
    }

    const fn confirmed(mut self, step_up: StepUp) -> Self {
        self.step_up = step_up;
        self
    }
}

const PUBLIC: Access = Access::Public;
const READ: Access = Access::Scope(Read);
const WRITE: Access = Access::Scope(Write);
const ADMIN: Access = Access::Scope(Admin);

/// Every endpoint.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let groups = [
        server::ROWS,
        auth::ROWS,
        passkeys::ROWS,
        openai::ROWS,
        #[cfg(feature = "vault")]
        vault::ROWS,
        #[cfg(feature = "voice")]
        voice::ROWS,
        webhooks::ROWS,
    ];
    groups.concat()
});
