// New secrets, each for the one time it is shown. They are kept in memory only, until the user dismisses them.
import { SvelteMap } from 'svelte/reactivity';

export interface Fresh {
  /** ID of the webhook. */
  id: string;
  /** Null if the webhook has no secret or its sender generates it. */
  secret: string | null;
  warning: string | null;
  how: 'created' | 'rotated' | 'changed';
  /** The time until which the previous secret is also valid. */
  until_ms: number | null;
}

/** By the ID of the webhook: one may be rotated while the secret of another is not shown yet. */
export const fresh = new SvelteMap<string, Fresh>();

export const addFresh = (one: Fresh): void => void fresh.set(one.id, one);
