// Names of senders.
import type { ProfileInfo } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';

/** The sender's name: the product name in parentheses if the gateway gives one. */
export const productName = ({ name }: Pick<ProfileInfo, 'name'>): string => /\(([^)]+)\)$/.exec(name)?.[1] ?? name;

/** The sender's name in lists of senders, where the profile for any sender comes last. */
export const senderName = (profile: Pick<ProfileInfo, 'id' | 'name'>): string =>
  profile.id === 'generic' ? m.webhooks_source_generic_name() : productName(profile);
