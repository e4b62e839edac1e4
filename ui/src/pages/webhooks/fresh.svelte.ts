// New secrets, each of which is shown once. Kept only in memory until the user dismisses them.
import { SvelteMap } from 'svelte/reactivity';
import { m } from '../../paraglide/messages.js';
import { full } from '../../parts/time';
import { place } from '../../state/place.svelte';
import { showSecret } from '../../state/secrets.svelte';
import { dismiss } from '../../state/toasts.svelte';

export interface Fresh {
  /** ID of the webhook. */
  id: string;
  /** Null if the webhook has no secret or its sender generates it. */
  secret: string | null;
  warning: string | null;
  how: 'created' | 'rotated' | 'changed';
  /** The time until which the previous secret is also valid. */
  until_ms: number | null;
  /** ID of the toast that leads to the secret or the warning. */
  toast?: number;
}

/** Keyed by webhook ID. A secret may be rotated before the secret of another webhook was shown. */
export const fresh = new SvelteMap<string, Fresh>();

export function addFresh(one: Fresh): void {
  dismissPointer(one.id);
  fresh.set(one.id, one);
}

const TITLES = {
  created: m.webhooks_fresh_created,
  rotated: m.webhooks_fresh_rotated,
  changed: m.webhooks_fresh_changed,
};

export const titleOf = ({ how }: Fresh): string => TITLES[how]();

/** Returns where to enter the secret and how long the previous secret is valid. */
export function textOf({ how, until_ms }: Fresh): string {
  if (how !== 'rotated') return m.webhooks_fresh_text();
  if (until_ms === null) return m.webhooks_fresh_at_once();
  return m.webhooks_fresh_both({ time: full(new Date(until_ms).toISOString()) });
}

/** Shows a secret that arrived after the user left the form, on the open page of the webhook or else above any page. */
export function showLate(one: Fresh & { name: string }): void {
  if (one.secret === null || place.path === pageOf(one.id)) return addFresh(one);
  dropFresh(one.id);
  showSecret({
    secret: one.secret,
    title: one.how === 'rotated' ? m.webhooks_rotated({ name: one.name }) : titleOf(one),
    ...(one.how !== 'rotated' && { name: one.name }),
    text: one.warning === null ? textOf(one) : `${textOf(one)} ${one.warning}`,
    label: m.webhooks_secret(),
    action: m.webhooks_fresh_done(),
    kind: `webhook ${one.id}`,
  });
}

export const pageOf = (id: string): string => `/webhooks/${id}`;

/** Removes the secret and warning of a webhook and the toast that leads to them. */
export function dropFresh(id: string): void {
  dismissPointer(id);
  fresh.delete(id);
}

/** Removes the toast that leads to the secret or the warning of a webhook. */
export function dismissPointer(id: string): void {
  const shown = fresh.get(id)?.toast;
  if (shown !== undefined) dismiss(shown);
}
