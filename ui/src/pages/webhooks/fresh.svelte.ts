// A new secret, for the one time it is shown. It is kept in memory only, until the user dismisses it.

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

export const fresh = $state<{ now: Fresh | null }>({ now: null });
