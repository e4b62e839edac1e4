//! Pressed buttons.

use super::{BOT_DM, COMPONENT};
use crate::receivers::buttons::Press;
use crate::receivers::discord::events::User;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(in super::super) struct Interaction {
    id: String,
    token: String,
    #[serde(rename = "type")]
    kind: u32,
    data: Option<Data>,
    guild_id: Option<String>,
    channel_id: Option<String>,
    /// Set in servers.
    member: Option<Member>,
    /// Set in direct messages.
    user: Option<User>,
    message: Option<Message>,
    context: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Data {
    custom_id: String,
}

#[derive(Debug, Deserialize)]
struct Member {
    user: User,
}

#[derive(Debug, Deserialize)]
struct Message {
    id: String,
}

/// Returns the press of a button in a message of the bot.
pub(in super::super) fn press_of(interaction: Interaction) -> Option<Press> {
    if interaction.kind != COMPONENT {
        return None;
    }
    let is_direct = interaction.guild_id.is_none()
        && interaction.member.is_none()
        && interaction.context.is_none_or(|it| it == BOT_DM);
    let person = interaction
        .user
        .or(interaction.member.map(|member| member.user))?;
    Some(Press {
        id: format!("{}:{}", interaction.id, interaction.token),
        person: person.id,
        chat: interaction.channel_id?,
        is_private: is_direct,
        message_id: interaction.message?.id,
        data: interaction.data?.custom_id,
        shown: None,
    })
}
