// Texts for the fields and options of the channel types, by type and name. A text without a type applies to the fields
// with this name in all types. Unknown fields use the gateway's text.
import type { ChannelField, ChannelType } from '../../client/generated/rpc';
import { rpc } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';

const LABELS: Record<string, () => string> = {
  'ntfy.url': m.channels_field_host,
  access_token: m.channels_field_access_token,
  agent_id: m.channels_field_agent_id,
  app_token: m.channels_field_app_token,
  authserv_id: m.channels_field_authserv_id,
  base_url: m.channels_field_base_url,
  bot_token: m.channels_field_bot_token,
  channel: m.channels_field_channel,
  channel_id: m.channels_field_channel_id,
  chat_id: m.channels_field_chat_id,
  from: m.channels_field_from,
  headers: m.channels_field_headers,
  homeserver: m.channels_field_homeserver,
  host: m.channels_field_host,
  imap_addresses: m.channels_field_imap_addresses,
  imap_host: m.channels_field_imap_host,
  imap_password: m.channels_field_imap_password,
  imap_port: m.channels_field_imap_port,
  imap_security: m.channels_field_imap_security,
  imap_user: m.channels_field_imap_user,
  inbound: m.channels_field_inbound,
  mailbox: m.channels_field_mailbox,
  password: m.channels_field_password,
  port: m.channels_field_port,
  room_id: m.channels_field_room_id,
  secret: m.channels_field_secret,
  to: m.channels_field_to,
  token: m.channels_field_token,
  topic: m.channels_field_topic,
  url: m.channels_field_url,
  user: m.channels_field_user,
  voice_answers: m.channels_field_voice_answers,
  webhook_url: m.channels_field_webhook_url,
};

const HINTS: Record<string, () => string> = {
  agent_id: m.channels_hint_agent_id,
  'discord.base_url': m.channels_hint_discord_base_url,
  'discord.bot_token': m.channels_hint_discord_bot_token,
  'discord.channel_id': m.channels_hint_discord_channel_id,
  'discord.webhook_url': m.channels_hint_discord_webhook_url,
  'email.authserv_id': m.channels_hint_email_authserv_id,
  'email.from': m.channels_hint_email_from,
  'email.host': m.channels_hint_email_host,
  'email.imap_addresses': m.channels_hint_email_imap_addresses,
  'email.imap_host': m.channels_hint_email_imap_host,
  'email.imap_password': m.channels_hint_email_imap_password,
  'email.imap_port': m.channels_hint_email_imap_port,
  'email.imap_security': m.channels_hint_email_imap_security,
  'email.imap_user': m.channels_hint_email_imap_user,
  'email.mailbox': m.channels_hint_email_mailbox,
  'email.password': m.channels_hint_email_password,
  'email.port': m.channels_hint_email_port,
  'email.to': m.channels_hint_email_to,
  'email.user': m.channels_hint_email_user,
  'http.headers': m.channels_hint_http_headers,
  'http.secret': m.channels_hint_http_secret,
  'http.url': m.channels_hint_http_url,
  inbound: m.channels_hint_inbound,
  'matrix.access_token': m.channels_hint_matrix_access_token,
  'matrix.homeserver': m.channels_hint_matrix_homeserver,
  'matrix.room_id': m.channels_hint_matrix_room_id,
  'ntfy.token': m.channels_hint_ntfy_token,
  'ntfy.topic': m.channels_hint_ntfy_topic,
  'ntfy.url': m.channels_hint_ntfy_url,
  'slack.app_token': m.channels_hint_slack_app_token,
  'slack.base_url': m.channels_hint_slack_base_url,
  'slack.bot_token': m.channels_hint_slack_bot_token,
  'slack.channel': m.channels_hint_slack_channel,
  'slack.webhook_url': m.channels_hint_slack_webhook_url,
  'telegram.base_url': m.channels_hint_telegram_base_url,
  'telegram.bot_token': m.channels_hint_telegram_bot_token,
  'telegram.chat_id': m.channels_hint_telegram_chat_id,
  voice_answers: m.channels_hint_voice_answers,
};

/** Options of a single message. */
const EXTRAS: Record<string, () => string> = {
  'discord.channel_id': m.channels_option_discord_channel_id,
  'discord.thread_id': m.channels_option_discord_thread_id,
  'email.subject': m.channels_option_email_subject,
  'email.to': m.channels_option_email_to,
  'http.*': m.channels_option_http_any,
  'matrix.room_id': m.channels_option_matrix_room_id,
  'ntfy.priority': m.channels_option_ntfy_priority,
  'ntfy.tags': m.channels_option_ntfy_tags,
  'ntfy.title': m.channels_option_ntfy_title,
  'ntfy.topic': m.channels_option_ntfy_topic,
  'slack.channel': m.channels_option_slack_channel,
  'slack.thread_ts': m.channels_option_slack_thread_ts,
  'telegram.chat_id': m.channels_option_telegram_chat_id,
  'telegram.disable_notification': m.channels_option_telegram_disable_notification,
  'telegram.message_thread_id': m.channels_option_telegram_message_thread_id,
};

type Kind = 'label' | 'hint' | 'option';
const TEXTS = { label: LABELS, hint: HINTS, option: EXTRAS };

/** The page's text for a field or an option of a type; undefined for an unknown one. */
export const textOf = (kind: Kind, type: string, name: string): string | undefined =>
  (TEXTS[kind][`${type}.${name}`] ?? (kind === 'option' ? undefined : TEXTS[kind][name]))?.();

/** Fields that each message needs. The gateway does not require them, because a webhook can set them for a message. */
const NEEDED: ReadonlySet<string> = new Set(['ntfy.topic']);

/** Whether a channel of this type works without the field. */
export const isOptional = (type: string, { name, required }: ChannelField): boolean =>
  !required && !NEEDED.has(`${type}.${name}`);

/** A type with the page's texts. */
export const inWords = (type: ChannelType): ChannelType => ({
  ...type,
  fields: type.fields.map((field) => ({
    ...field,
    label: textOf('label', type.type, field.name) ?? field.label,
    help: textOf('hint', type.type, field.name) ?? field.help,
  })),
  extra: type.extra.map((one) => ({ ...one, help: textOf('option', type.type, one.name) ?? one.help })),
});

/** The types of channels. */
export const channelTypes = async (): Promise<ChannelType[]> => (await rpc('channels.types')).types.map(inWords);

/** The fields that matter only while messages are received: those after the switch. */
export function visibleFields(fields: ChannelType['fields'], isReceiving: boolean): ChannelType['fields'] {
  const at = fields.findIndex(({ name }) => name === 'inbound');
  return at < 0 || isReceiving ? fields : fields.slice(0, at + 1);
}
