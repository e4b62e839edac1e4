// A secret that was just made, for the one time that it is shown. It lives in this page's memory only and is forgotten when the person says so.

export interface Fresh {
  /** Whose it is. */
  id: string;
  /** None when the webhook has none, or when its sender makes it. */
  secret: string | null;
  warning: string | null;
  how: 'created' | 'rotated' | 'changed';
  /** Until when the secret before verifies too. */
  until_ms: number | null;
}

export const fresh = $state<{ now: Fresh | null }>({ now: null });
