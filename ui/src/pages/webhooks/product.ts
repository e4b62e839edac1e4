// Names of senders.
import type { ProfileInfo } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';

/** The names that differ between languages. */
const NAMES: Record<string, () => string> = {
  discord_interactions: m.webhooks_sender_discord_interactions,
  gitea: m.webhooks_sender_gitea,
  meta: m.webhooks_sender_meta,
  schedule: m.webhooks_sender_schedule,
};

/** Returns the sender's name, which is the product name in parentheses if the gateway gives one. */
export const productName = ({ id, name }: Pick<ProfileInfo, 'name'> & Partial<Pick<ProfileInfo, 'id'>>): string =>
  NAMES[id ?? '']?.() ?? /\(([^)]+)\)$/.exec(name)?.[1] ?? name;

/** Returns the sender's name for lists of senders. The profile for any sender comes last. */
export const senderName = (profile: Pick<ProfileInfo, 'id' | 'name'>): string =>
  profile.id === 'generic' ? m.webhooks_source_generic_name() : productName(profile);
