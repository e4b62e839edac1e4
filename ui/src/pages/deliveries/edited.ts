// The changes of a replay: the payload, the target or both. Pure functions.
import { m } from '../../paraglide/messages.js';
import { channelName } from '../channels/names';
import type { Delivery } from './status';

/** The maximum length of an editable payload. A longer payload makes typing slow. */
export const MAX_EDITED = 200_000;

interface Edit {
  before: string;
  text: string;
  /** A value of `placesOf`; empty for the webhook's own target. */
  target: string;
}

/** The params of the replay besides the ID. Empty if nothing changes. */
export function changesOf({ before, text, target }: Edit): { payload?: string; agent?: string; deliver_to?: string } {
  const [kind, name] = [target.slice(0, target.indexOf(' ')), target.slice(target.indexOf(' ') + 1)];
  return {
    ...(text !== before && { payload: text }),
    ...(kind === 'agent' && { agent: name }),
    ...(kind === 'channel' && { deliver_to: name }),
  };
}

interface Channel {
  id: string;
  type: string;
  label: string;
  enabled: boolean;
}

/** The possible targets of a replay, as options. */
export const placesOf = (agents: readonly { id: string; name: string }[], channels: readonly Channel[]) => [
  { value: '', label: m.deliveries_edit_same() },
  ...agents.map(({ id, name }) => ({ value: `agent ${id}`, label: m.deliveries_edit_agent({ name }) })),
  ...channels.map(({ id, type, label, enabled }) => ({
    value: `channel ${id === type ? type : `${type}:${id}`}`,
    label: m.deliveries_edit_channel({ name: channelName({ id, type, label }) }),
    disabled: !enabled,
  })),
];

/** The owner's changes for this replay. */
export const isEdited = (delivery: Pick<Delivery, 'edited'>, part: 'payload' | 'target'): boolean =>
  delivery.edited?.includes(part) ?? false;

interface Webhook {
  auth_mode: string;
  deliver_only: boolean;
  deliver_to: string | null;
}

/**
 * Returns whether the sender was verified, whether the payload is sent to a channel, and the destinations of payload
 * and answer.
 */
export function waysOf(delivery: Delivery, webhook: Webhook | undefined) {
  const target = delivery.target ?? null;
  const forwarded = delivery.session_id == null && target !== null;
  const elsewhere = isEdited(delivery, 'target');
  const forwards = elsewhere ? forwarded : (webhook?.deliver_only ?? forwarded);
  const to = elsewhere ? target : (webhook?.deliver_to ?? null);
  return {
    verifies: isEdited(delivery, 'payload') ? false : webhook ? webhook.auth_mode !== 'none' : null,
    forwards,
    deliverTo: forwards && (elsewhere || webhook?.deliver_only) ? to : null,
    answerTo: to,
  };
}
