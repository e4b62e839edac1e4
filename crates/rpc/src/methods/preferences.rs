//! `preferences.*`: saved filters and prompts of the web UI.

use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::preferences::{NewPreference, PreferenceName, Preferences};
use gatehouse_services::to_problem;

pub const GET: Method = method!(
    "preferences.get",
    "Returns the saved filters of deliveries and the prompts, by name.",
    Some(Scope::Read),
    get(NoParams) -> Preferences
);

pub const SET: Method = method!(
    "preferences.set",
    "Saves a filter or a prompt, replacing the one with the same name. At most 100 of each are stored.",
    Some(Scope::Write),
    set(NewPreference) -> Done,
    errors: [Conflict],
    audit: Audit::row("preference.set", &["kind", "name"], &[])
);

pub const DELETE: Method = method!(
    "preferences.delete",
    "Deletes a saved filter or a prompt.",
    Some(Scope::Write),
    delete(PreferenceName) -> Done,
    errors: [NotFound],
    audit: Audit::row("preference.deleted", &["kind", "name"], &[])
);

async fn get(call: Call, _: NoParams) -> Result<Preferences, Problem> {
    let listed = call.services.list_preferences().await;
    listed.map_err(to_problem)
}

async fn set(call: Call, new: NewPreference) -> Result<Done, Problem> {
    let saved = call.services.set_preference(new).await;
    saved.map_err(to_problem)?;
    Ok(DONE)
}

async fn delete(call: Call, entry: PreferenceName) -> Result<Done, Problem> {
    let deleted = call.services.delete_preference(entry).await;
    deleted.map_err(to_problem)?;
    Ok(DONE)
}
