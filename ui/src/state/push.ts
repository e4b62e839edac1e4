// Subscribes this browser at its push service, so that notifications arrive while no page is open. The service worker
// shows them.
import { everyPage } from '../client/pages';
import { rpc } from '../client/rpc';
import { m } from '../paraglide/messages.js';

/** `removed`: the user removed this browser in another one. `unavailable`: only an open page can notify. */
export type Pushed = 'on' | 'removed' | 'unavailable';

interface Kept {
  id: string;
  /** The credential that the subscription ends with. */
  credential: string;
  endpoint: string;
}

const KEY = 'gatehouse.push';
/** See `public/sw.js`. */
const TITLES = 'gatehouse-titles';
const NAME = '{name}';

/** Subscribes, or renews the subscription after a new login. Never fails: without it, an open page notifies. */
export async function startPush(): Promise<Pushed> {
  try {
    return await subscribe();
  } catch {
    return 'unavailable';
  }
}

async function subscribe(): Promise<Pushed> {
  const worker = await navigator.serviceWorker.getRegistration();
  if (!worker?.pushManager) return 'unavailable';
  const pages = await everyPage((at) => rpc('push.list', at));
  const [first] = pages;
  if (!first) return 'unavailable';
  const { public_key, credential } = first;
  const ids = pages.flatMap(({ subscriptions }) => subscriptions.map(({ id }) => id));
  const known = await worker.pushManager.getSubscription();
  const kept = read();
  const isSame = kept !== null && kept.endpoint === known?.endpoint && kept.credential === credential;
  if (isSame && !ids.includes(kept.id)) {
    await known?.unsubscribe();
    write(null);
    return 'removed';
  }
  await keepTitles();
  const subscription = await subscriptionFor(worker.pushManager, known, public_key);
  const { endpoint = '', keys } = subscription.toJSON();
  const { id } = await rpc('push.subscribe', { endpoint, keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } });
  write({ id, credential, endpoint });
  return 'on';
}

async function subscriptionFor(
  manager: PushManager,
  known: PushSubscription | null,
  publicKey: string,
): Promise<PushSubscription> {
  const usedKey = known?.options.applicationServerKey;
  if (known && usedKey && base64url(usedKey) === publicKey) return known;
  // A subscription with the key of another gateway is useless.
  await known?.unsubscribe();
  return manager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Stores the titles of notifications in the user's language for the service worker. */
async function keepTitles(): Promise<void> {
  const titles = {
    approval: m.alerts_approval({ tool: NAME }),
    failed: m.alerts_failed(),
    inbox: m.alerts_inbox({ source: NAME }),
  };
  await (await caches.open(TITLES)).put('/titles.json', Response.json(titles));
}

/** Ends the subscription of this browser. */
export async function stopPush(): Promise<void> {
  const kept = read();
  write(null);
  const worker = await navigator.serviceWorker?.getRegistration();
  const known = await worker?.pushManager?.getSubscription();
  await known?.unsubscribe().catch(() => false);
  if (kept) await rpc('push.unsubscribe', { id: kept.id });
}

/** The ID of this browser's subscription. */
export const ownPush = (): string | null => read()?.id ?? null;

function read(): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}

function write(kept: Kept | null): void {
  try {
    if (kept) localStorage.setItem(KEY, JSON.stringify(kept));
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is disabled, so notifications stay off.
  }
}
