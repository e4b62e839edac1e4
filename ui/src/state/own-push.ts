// The data that this browser keeps about its subscription at the push service.

export interface Kept {
  id: string;
  /** The credential of the subscription. Credential and subscription end together. */
  credential: string;
  endpoint: string;
}

const KEY = 'gatehouse.push';

/**
 * Ends the subscription of this browser at its push service and closes the notifications. The gateway may still store
 * the subscription.
 */
export async function endPush(): Promise<void> {
  write(null);
  const worker = await navigator.serviceWorker?.getRegistration();
  const known = await worker?.pushManager?.getSubscription();
  await known?.unsubscribe().catch(() => false);
  for (const shown of (await worker?.getNotifications()) ?? []) shown.close();
}

/**
 * Returns the ID of this browser's subscription, or null. With a subscription, the service worker
 * shows the notifications.
 */
export const ownPush = (): string | null => read()?.id ?? null;

export function read(): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}

export function write(kept: Kept | null): void {
  try {
    if (kept) localStorage.setItem(KEY, JSON.stringify(kept));
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is disabled, so notifications stay off.
  }
}
