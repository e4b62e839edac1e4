//! `webhooks.*`: inbound webhooks and the profiles of senders.

use super::page::{self, PageParams};
use crate::method::{Audit, Call, DONE, Done, Method, NoParams, method, told};
use gatehouse_domain::{Problem, Scope, Timestamp, input};
use gatehouse_webhooks::profile::{self, Profile};
use gatehouse_webhooks::{
    AuthMode, BucketSize, DeliveryStats, ReplayGuard, RotatedSecret, StatsQuery, TestResult,
    Webhook, WebhookChanged, WebhookInput, WebhookPage,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::future::{Ready, ready};

/// `webhooks.list`.
pub const LIST: Method = method!(
    "webhooks.list",
    "The webhooks, without their secrets.",
    Some(Scope::Read),
    list(PageParams) -> WebhookPage
);

/// `webhooks.get`.
pub const GET: Method = method!(
    "webhooks.get",
    "One webhook.",
    Some(Scope::Read),
    get(IdParams) -> Webhook,
    errors: [NotFound]
);

/// `webhooks.create`.
pub const CREATE: Method = method!(
    "webhooks.create",
    "Makes a webhook; its secret is shown this once.",
    Some(Scope::Write),
    create(WebhookInput) -> WebhookChanged,
    errors: [VaultSealed],
    audit: Audit::Room("webhook.created")
);

/// `webhooks.update`.
pub const UPDATE: Method = method!(
    "webhooks.update",
    "Changes a webhook; new deliveries follow at once.",
    Some(Scope::Write),
    update(UpdateParams) -> WebhookChanged,
    errors: [NotFound, Conflict, VaultSealed],
    audit: Audit::Room("webhook.updated")
);

/// `webhooks.delete`.
pub const DELETE: Method = method!(
    "webhooks.delete",
    "Deletes a webhook and its deliveries; sessions stay.",
    Some(Scope::Write),
    delete(IdParams) -> Done,
    errors: [NotFound],
    audit: Audit::Room("webhook.deleted")
);

/// `webhooks.rotate_secret`.
pub const ROTATE_SECRET: Method = method!(
    "webhooks.rotate_secret",
    "Gives a webhook another secret; the one before stays good for a while.",
    Some(Scope::Write),
    rotate_secret(RotateParams) -> RotatedSecret,
    errors: [NotFound, Conflict, VaultSealed],
    audit: Audit::Room("webhook.secret_rotated")
);

/// `webhooks.test`.
pub const TEST: Method = method!(
    "webhooks.test",
    "Sends a webhook a realistic sample, signed as its sender would.",
    Some(Scope::Write),
    test(TestParams) -> TestResult,
    errors: [NotFound, Conflict, RateLimited, VaultSealed],
    audit: Audit::row("webhook.tested", &["id", "event"], &["delivery_id"])
);

/// `webhooks.profiles`.
pub const PROFILES: Method = method!(
    "webhooks.profiles",
    "The senders that are known, and how to set each up.",
    Some(Scope::Read),
    profiles(NoParams) -> ProfileList
);

/// `webhooks.stats`.
pub const STATS: Method = method!(
    "webhooks.stats",
    "Deliveries by the hour and status.",
    Some(Scope::Read),
    stats(StatsParams) -> DeliveryStats,
    errors: [NotFound]
);

/// Params that name a webhook or a delivery.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdParams {
    /// Its id.
    pub(super) id: String,
}

/// Params of `webhooks.update`: `id`, and the members that change.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct UpdateParams(Map<String, Value>);

impl JsonSchema for UpdateParams {
    fn schema_name() -> Cow<'static, str> {
        "UpdateParams".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WebhookInput::json_schema(generator);
        let id = serde_json::json!({ "type": "string", "description": "The webhook's id." });
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert("id".to_owned(), id);
        }
        schema.insert("required".to_owned(), serde_json::json!(["id"]));
        schema
    }
}

impl UpdateParams {
    fn read(self) -> Result<(String, WebhookInput), Problem> {
        let mut members = self.0;
        let id = members.remove("id");
        // Before `id`, as every method does: an unknown member is named whatever else is missing.
        let change = input::from_value(Value::Object(members))?;
        match id {
            Some(Value::String(id)) => Ok((id, change)),
            Some(_) => Err(Problem::invalid_params("id", "expected a string")),
            None => Err(Problem::invalid_params("id", "required")),
        }
    }
}

/// Params of `webhooks.rotate_secret`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateParams {
    /// The webhook.
    id: String,
    /// The new secret; made when absent.
    #[schemars(with = "Option<String>")]
    secret: Option<SecretString>,
    /// How long the old one stays good; a day when absent.
    #[serde(alias = "overlapSeconds")]
    #[schemars(range(min = 0, max = 2_592_000))]
    overlap_seconds: Option<i64>,
}

/// Params of `webhooks.test`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestParams {
    /// The webhook.
    id: String,
    /// The event type; the profile's first one when absent.
    event: Option<String>,
}

/// Params of `webhooks.stats`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatsParams {
    /// Only of this webhook.
    id: Option<String>,
    /// Of how many hours up to now; 24 when absent.
    #[schemars(range(min = 1, max = 720))]
    hours: Option<i64>,
    /// In place of `hours`: those that came at this moment or later; a day before `until` when absent.
    from: Option<Timestamp>,
    /// Those that came before this moment; now when absent.
    until: Option<Timestamp>,
    /// What each count is of; an hour when absent. At most 720 hours or 366 days are counted.
    bucket: Option<BucketSize>,
}

/// An event type of a catalog.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventInfo {
    /// As filters name it.
    #[serde(rename = "type")]
    kind: &'static str,
    /// What happened.
    description: &'static str,
}

/// A known sender.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileInfo {
    /// Its id.
    id: &'static str,
    /// For people.
    name: &'static str,
    /// The vendor's own name, taken on input.
    alias: Option<&'static str>,
    /// How deliveries are verified unless the webhook says otherwise.
    default_auth_mode: AuthMode,
    /// Its event types.
    events: Vec<EventInfo>,
    /// The headers that it sends and that are kept.
    headers: &'static [&'static str],
    /// Whether the signature covers the id that the delivery key is read from.
    id_is_signed: bool,
    /// The `replay_guard` that is proposed for a new webhook; the default of `webhooks.create` is
    /// `key`.
    replay_guard: ReplayGuard,
    /// Why.
    replay_note: &'static str,
    /// The `redeliver_failed` that is proposed for a new webhook; the default of `webhooks.create` is
    /// `false`.
    redeliver_failed: bool,
    /// What to do at the sender. `{url}` and `{secret}` stand for the webhook's own.
    guide: &'static str,
}

impl From<&'static Profile> for ProfileInfo {
    fn from(profile: &'static Profile) -> Self {
        let event = |event: &profile::EventType| EventInfo {
            kind: event.name,
            description: event.description,
        };
        Self {
            id: profile.id,
            name: profile.name,
            alias: profile.alias,
            default_auth_mode: profile.default_auth_mode,
            events: profile.events.iter().map(event).collect(),
            headers: profile.headers,
            id_is_signed: profile.replay.id_is_signed,
            replay_guard: profile.replay.guard,
            replay_note: profile.replay.note,
            redeliver_failed: true,
            guide: profile.guide,
        }
    }
}

/// Result of `webhooks.profiles`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileList {
    /// The senders.
    profiles: Vec<ProfileInfo>,
}

async fn list(call: Call, params: PageParams) -> Result<WebhookPage, Problem> {
    let rows = page::rows(params.limit)?;
    let cursor = params.cursor.as_deref();
    call.rooms.webhooks.list(rows, cursor).await.map_err(told)
}

async fn get(call: Call, params: IdParams) -> Result<Webhook, Problem> {
    call.rooms.webhooks.get(&params.id).await.map_err(told)
}

async fn create(call: Call, params: WebhookInput) -> Result<WebhookChanged, Problem> {
    let webhooks = &call.rooms.webhooks;
    webhooks.create(&call.actor(), params).await.map_err(told)
}

async fn update(call: Call, params: UpdateParams) -> Result<WebhookChanged, Problem> {
    let (id, input) = params.read()?;
    let webhooks = &call.rooms.webhooks;
    let changed = webhooks.update(&call.actor(), &id, input).await;
    changed.map_err(told)
}

async fn delete(call: Call, params: IdParams) -> Result<Done, Problem> {
    let webhooks = &call.rooms.webhooks;
    let deleted = webhooks.delete(&call.actor(), &params.id).await;
    deleted.map(|()| DONE).map_err(told)
}

async fn rotate_secret(call: Call, params: RotateParams) -> Result<RotatedSecret, Problem> {
    let RotateParams {
        id,
        secret,
        overlap_seconds,
    } = params;
    let webhooks = &call.rooms.webhooks;
    webhooks
        .rotate_secret(&call.actor(), &id, secret, overlap_seconds)
        .await
        .map_err(told)
}

async fn test(call: Call, params: TestParams) -> Result<TestResult, Problem> {
    let (webhooks, actor) = (&call.rooms.webhooks, call.actor());
    let tested = webhooks.test(&actor, &params.id, params.event.as_deref());
    tested.await.map_err(told)
}

fn profiles(_: Call, NoParams {}: NoParams) -> Ready<Result<ProfileList, Problem>> {
    let known = profile::all().iter().map(|known| (*known).into());
    ready(Ok(ProfileList {
        profiles: known.collect(),
    }))
}

async fn stats(call: Call, params: StatsParams) -> Result<DeliveryStats, Problem> {
    let query = StatsQuery {
        webhook: params.id,
        hours: params.hours,
        from: params.from,
        until: params.until,
        bucket: params.bucket.unwrap_or_default(),
    };
    call.rooms.webhooks.stats(query).await.map_err(told)
}
