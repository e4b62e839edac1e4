// Names of the channel types and of the built-in channels in the language of the page.
import { m } from '../../paraglide/messages.js';

/** Types that are not named after a product. */
const NAMES: Record<string, () => string> = {
  email: m.channels_type_email,
  http: m.channels_type_http,
  inbox: m.channels_type_inbox,
  log: m.channels_type_log,
};

/** `label` is the name that the gateway gives to the type. */
export const typeName = ({ type, label }: { type: string; label: string }): string => NAMES[type]?.() ?? label;

/** Types with one channel that always exists and cannot be renamed. */
const BUILT_IN: ReadonlySet<string> = new Set(['inbox', 'log']);

export const channelName = ({ id, type, label }: { id: string; type: string; label: string }): string =>
  BUILT_IN.has(type) && id === type ? typeName({ type, label }) : label;

/**
 * Returns the name of the channel that a delivery was sent to. `channel` is its name at the time of
 * sending, if known.
 */
export const targetName = ({ target, channel }: { target?: string | null; channel?: string | null }): string | null =>
  target && BUILT_IN.has(target) ? typeName({ type: target, label: target }) : (channel ?? target ?? null);
