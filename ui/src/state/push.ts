// Subscribes this browser at its push service. Notifications then arrive while no page is open. The service worker
// shows them.
import { everyPage } from '../client/pages';
import { rpc } from '../client/rpc';
import { m } from '../paraglide/messages.js';
import { alerts } from './alerts.svelte';
import { endPush, read, write } from './own-push';

/**
 * `removed` means that the gateway no longer lists this browser. `unavailable` means that only an
 * open page can show notifications.
 */
export type Pushed = 'on' | 'removed' | 'unavailable';

/** See `public/sw.js`. */
const TITLES = 'gatehouse-titles';
const NAME = '{name}';

/**
 * Subscribes, or renews the subscription after a new login. Never fails. Without a subscription, an open page shows the
 * notifications.
 */
export async function startPush(): Promise<Pushed> {
  return subscribe().catch((): Pushed => 'unavailable');
}

/** The user can turn the notifications off at any time. */
function mustBeOn(): void {
  if (alerts.state !== 'on') throw new Error('turned off');
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
  mustBeOn();
  const kept = read();
  const isSame = kept !== null && kept.endpoint === known?.endpoint && kept.credential === credential;
  if (isSame && !ids.includes(kept.id)) {
    await known?.unsubscribe();
    write(null);
    return 'removed';
  }
  try {
    await keepTitles();
    const subscription = await subscriptionFor(worker.pushManager, known, public_key);
    const { endpoint = '', keys } = subscription.toJSON();
    const { p256dh = '', auth = '' } = keys ?? {};
    mustBeOn();
    const { id } = await rpc('push.subscribe', { endpoint, keys: { p256dh, auth } });
    write({ id, credential, endpoint });
    mustBeOn();
    return 'on';
  } catch {
    if (alerts.state !== 'on') await stopPush().catch(() => undefined);
    else write(null);
    return 'unavailable';
  }
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
    closed: m.alerts_closed(),
    failed: m.alerts_failed(),
    inbox: m.alerts_inbox({ source: NAME }),
    answer: m.alerts_answer(),
    no_answer: m.alerts_no_answer(),
  };
  await (await caches.open(TITLES)).put('/titles.json', Response.json(titles));
}

/** Ends the subscription of this browser. */
export async function stopPush(): Promise<void> {
  const kept = read();
  await endPush();
  if (kept) await rpc('push.unsubscribe', { id: kept.id });
}
