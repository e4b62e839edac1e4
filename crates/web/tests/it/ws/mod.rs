//! `/ws` and `/ws/chat`.

mod connect;
mod events;
mod limits;
mod nodes;
mod without_notifications;
