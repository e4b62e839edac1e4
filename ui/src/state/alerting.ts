// Shows notifications of the browser while no window of the app is in view. If several windows are open, one of them
// shows the notifications. If the browser receives them from its push service, the service worker shows them instead.
import { rpc, type EventParams } from '../client/rpc';
import { socket } from '../client/socket';
import { m } from '../paraglide/messages.js';
import { beginningOf } from '../parts/cut';
import { deliverySentenceOf } from '../phrases/delivery-sentence.svelte';
import { go } from './place.svelte';
import { alerts } from './alerts.svelte';
import { awaited } from './awaited';
import { ownPush } from './own-push';

/** The window that holds this lock shows the notifications. */
const LEADS = 'gatehouse.alerts';
/** Each window that the user looks at holds this lock. */
const IN_VIEW = 'gatehouse.in-view';
/** The longest text of a notification. */
const MAX_TEXT = 200;

/** Returns the text, or its beginning with an ellipsis. */
const shortened = (text: string): string => (text.length > MAX_TEXT ? `${beginningOf(text, MAX_TEXT - 1)}…` : text);

/** Starts the notifications. Returns a function that stops them. */
export function startAlerting(): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  let leads = false;
  // When this window ends, the next one takes over.
  navigator.locks
    .request(LEADS, { signal }, () => {
      leads = true;
      return ended;
    })
    .catch(() => undefined);

  let leave: (() => void) | null = null;
  const look = () => {
    const inView = !signal.aborted && !document.hidden && document.hasFocus();
    if (inView === (leave !== null)) return;
    leave?.();
    leave = null;
    if (!inView) return;
    const left = new Promise<void>((resolve) => (leave = resolve));
    void navigator.locks.request(IN_VIEW, { mode: 'shared' }, () => left);
  };
  look();
  document.addEventListener('visibilitychange', look, { signal });
  for (const name of ['focus', 'blur']) addEventListener(name, look, { signal });

  async function show(tag: string, title: string, body: string, url: string) {
    if (leads) await notify(tag, title, body, url);
  }

  async function notify(tag: string, title: string, body: string, url: string) {
    if (alerts.pushed !== 'unavailable' && ownPush() !== null) return;
    const { held = [] } = await navigator.locks.query();
    if (held.some(({ name }) => name === IN_VIEW)) return;
    const options = { body: shortened(body), tag, icon: '/icons/icon-192.png', data: { url } };
    const worker = await navigator.serviceWorker.getRegistration();
    if (worker?.active) return worker.showNotification(title, options);
    const shown = new Notification(title, options);
    shown.onclick = () => {
      shown.close();
      focus();
      go(url);
    };
  }

  async function answered({ session, error }: EventParams<'chat.done'>) {
    const title = error ? m.alerts_no_answer() : m.alerts_answer();
    const { messages } = await rpc('chat.history', { session, limit: 1 });
    const body = error?.message ?? messages.at(-1)?.content ?? '';
    await notify(`answer ${session}`, title, body, `/chat/${session}`);
  }

  async function hide(tag: string) {
    const worker = await navigator.serviceWorker.getRegistration();
    for (const shown of (await worker?.getNotifications({ tag })) ?? []) shown.close();
  }

  // The browser loads the icon before it shows a notification, so an approval may be resolved before its notification
  // is open.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (step: () => Promise<void>) => {
    last = last.then(step).catch(() => undefined);
  };

  const ends = [
    socket.on('approval.requested', ({ id, shown, session }) => {
      inTurn(() =>
        show(`approval ${id}`, m.alerts_approval({ tool: shown.tool }), shown.arguments, `/chat/${session}`),
      );
    }),
    socket.on('approval.resolved', ({ id }) => inTurn(() => hide(`approval ${id}`))),
    socket.on('webhooks.delivery', ({ id, webhook_id, status, summary, event_type, error }) => {
      if (status !== 'failed') return;
      const text = [summary ? deliverySentenceOf(summary, webhook_id) : event_type, error]
        .filter((part) => part != null)
        .join('\n');
      inTurn(() => show('delivery', m.alerts_failed(), text, `/deliveries/${id}`));
    }),
    // The window that asked notifies.
    socket.on('chat.done', (done) => {
      if (awaited.delete(done.turn_id) && done.stop !== 'aborted') inTurn(() => answered(done));
    }),
    socket.on('channel.message', ({ source, text }) =>
      inTurn(() => show('inbox', m.alerts_inbox({ source }), text, '/inbox')),
    ),
  ];
  // The service worker passes a click on a notification to a window.
  navigator.serviceWorker.addEventListener(
    'message',
    ({ data }: MessageEvent<{ open?: unknown }>) => {
      if (typeof data.open === 'string' && data.open.startsWith('/')) go(data.open);
    },
    { signal },
  );
  return () => {
    for (const end of ends) end();
    ending.abort();
    look();
  };
}
