// New secrets, each for the one time it is shown. They are kept in memory only, until the user dismisses them.
import { SvelteMap } from 'svelte/reactivity';
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

/** By the ID of the webhook: one may be rotated while the secret of another is not shown yet. */
export const fresh = new SvelteMap<string, Fresh>();

export function addFresh(one: Fresh): void {
  dismissPointer(one.id);
  fresh.set(one.id, one);
}

/** Removes what is kept for a webhook, and the toast that leads to it. */
export function dropFresh(id: string): void {
  dismissPointer(id);
  fresh.delete(id);
}

/** Removes the toast that leads to the secret or the warning of a webhook. */
export function dismissPointer(id: string): void {
  const shown = fresh.get(id)?.toast;
  if (shown !== undefined) dismiss(shown);
}
