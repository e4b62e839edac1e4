//! `/api/sessions`: read access to conversations. Uses the same functions as `sessions.*` and
//! `chat.history`.

use crate::app::App;
use crate::body::Requester;
use crate::respond::{Refusal, json, large_json, unreadable_query};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use gatehouse_agents::HistoryRange;
use gatehouse_domain::{Problem, Timestamp};
use gatehouse_rpc::methods::{chat, sessions};
use gatehouse_services::session_access::visible;
use gatehouse_services::to_problem;

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// The permitted query parameters. Each may appear once.
#[derive(Default)]
struct ListQuery {
    limit: Option<i64>,
    /// The position: `cursor` for sessions, `before` for messages.
    place: Option<String>,
    q: Option<String>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    tag: Option<String>,
}

fn time(name: &str, value: &str) -> Result<Timestamp, Problem> {
    value
        .parse()
        .map_err(|_| Problem::invalid_params(name, "expected a time such as 2026-11-21T17:00:00Z"))
}

/// Reads the query: `limit`, the start position under the name `place`, and the filters `q`, `from`, `until` and `tag`
/// if the list has filters.
fn read(pairs: Pairs, place: &str, has_filters: bool) -> Result<ListQuery, Problem> {
    let Query(pairs) = pairs.map_err(|_| unreadable_query())?;
    let mut asked = ListQuery::default();
    for (name, value) in pairs {
        let is_second = match name.as_str() {
            "limit" => {
                let limit = value.parse().map_err(|_| {
                    Problem::invalid_params("limit", "expected a number from 1 to 500")
                })?;
                asked.limit.replace(limit).is_some()
            }
            "q" if has_filters => asked.q.replace(value).is_some(),
            "from" if has_filters => asked.from.replace(time(&name, &value)?).is_some(),
            "until" if has_filters => asked.until.replace(time(&name, &value)?).is_some(),
            "tag" if has_filters => asked.tag.replace(value).is_some(),
            _ if name == place => asked.place.replace(value).is_some(),
            _ => return Err(Problem::invalid_params(&name, "unknown field")),
        };
        if is_second {
            return Err(Problem::invalid_params(&name, "given twice"));
        }
    }
    Ok(asked)
}

fn named(id: Result<Path<String>, PathRejection>) -> Result<String, Problem> {
    // Invalid UTF-8 cannot name a session.
    id.map(|Path(id)| id)
        .map_err(|_| Problem::not_found("session"))
}

pub(super) async fn list(
    State(app): State<App>,
    requester: Requester,
    query: Pairs,
) -> Result<Response, Refusal> {
    let asked = read(query, "cursor", true)?;
    let params = sessions::ListParams {
        q: asked.q,
        of: None,
        pinned: None,
        archived: None,
        shared: None,
        tag: asked.tag,
        from: asked.from,
        until: asked.until,
        limit: asked.limit,
        cursor: asked.place,
    };
    Ok(json(
        &sessions::page(app.services(), requester.context.identity()?, &params).await?,
    ))
}

pub(super) async fn get(
    State(app): State<App>,
    requester: Requester,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let session = app.services().agents.get_session(&named(id)?).await;
    let session = session.map_err(to_problem)?;
    let identity = requester.context.identity()?;
    Ok(json(&visible(identity, session)))
}

pub(super) async fn messages(
    State(app): State<App>,
    requester: Requester,
    id: Result<Path<String>, PathRejection>,
    query: Pairs,
) -> Result<Response, Refusal> {
    let asked = read(query, "before", false)?;
    let range = HistoryRange {
        after: None,
        before: asked.place.as_deref(),
    };
    let page = chat::messages(app.services(), &named(id)?, asked.limit, range).await?;
    large_json(&page, app.share(&requester.context))
}
