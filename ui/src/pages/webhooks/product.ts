// Names of senders.
import type { ProfileInfo } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';

/** The names that are not the same in every language. */
const NAMES: Record<string, () => string> = {
  discord_interactions: m.webhooks_sender_discord_interactions,
  gitea: m.webhooks_sender_gitea,
  meta: m.webhooks_sender_meta,
  schedule: m.webhooks_sender_schedule,
};

/** The sender's name: the product name in parentheses if the gateway gives one. */
export const productName = ({ id, name }: Pick<ProfileInfo, 'name'> & Partial<Pick<ProfileInfo, 'id'>>): string =>
  NAMES[id ?? '']?.() ?? /\(([^)]+)\)$/.exec(name)?.[1] ?? name;

/** The sender's name in lists of senders, where the profile for any sender comes last. */
export const senderName = (profile: Pick<ProfileInfo, 'id' | 'name'>): string =>
  profile.id === 'generic' ? m.webhooks_source_generic_name() : productName(profile);
