// The order of the people in the list. Pure.
import type { ChannelPairing } from '../../client/generated/rpc';

/** Whether a person waits for approval. An expired code does not count. */
export const isWaiting = ({ code, expires_at }: Pick<ChannelPairing, 'code' | 'expires_at'>, now: number): boolean =>
  Boolean(code) && !(expires_at && Date.parse(expires_at) <= now);

/**
 * Sorts people. Those who wait for approval come first, newest first. Paired people follow, by name. People with an
 * expired code are omitted.
 */
export function inOrder(people: readonly ChannelPairing[], now: number): ChannelPairing[] {
  const waiting = people.filter((one) => isWaiting(one, now));
  const paired = people.filter((one) => !one.code);
  return [
    ...waiting.toSorted((a, b) => b.id.localeCompare(a.id)),
    ...paired.toSorted((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id)),
  ];
}

/** Whether messages are received through the channel. */
export const receives = (channel: { fields: Record<string, unknown> }): boolean => channel.fields['inbound'] === true;
