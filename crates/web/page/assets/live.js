// The live connection: says hello on /ws/chat, hands events on, and comes back with growing pauses when it is cut.
import { h } from './dom.js';
import { leaveIfLoggedOut } from './api.js';

const FIRST_MS = 1000;
const LONGEST_MS = 30000;

/** Starts it. `on(event, params)` gets every notification, and `connected` with the greeting. Gives the element that shows the state. */
export function live(on) {
  const state = h('span', { class: 'state', role: 'status' }, 'Connecting…');
  const show = (text, isLive = false) => {
    if (state.textContent !== text) state.textContent = text;
    state.dataset.live = isLive ? 'yes' : 'no';
  };
  let pause = FIRST_MS;
  let timer = null;

  const open = () => {
    timer = null;
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/chat`);
    socket.addEventListener('open', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'connect', params: { client: { id: 'gatehouse-page', version: '1' } } })));
    socket.addEventListener('message', (event) => {
      let message;
      try { message = JSON.parse(event.data); } catch { return; }
      if (message.id === 1 && message.result) {
        pause = FIRST_MS;
        show('Live', true);
        on('connected', message.result);
      } else if (message.method) {
        on(message.method, message.params ?? {});
      }
    });
    socket.addEventListener('close', again);
  };

  const again = async (event) => {
    show('Reconnecting…');
    // 4401 says the session ended; a refused upgrade only looks like a cut line. Both are settled by asking.
    try {
      await leaveIfLoggedOut();
      if (event.code === 4401) pause = Math.max(pause, 5 * FIRST_MS);
    } catch (err) {
      if (err.status === 0) show('Server not reachable, trying again…');
      if (err.retryAfter) pause = Math.max(pause, err.retryAfter * 1000);
    }
    timer = setTimeout(open, pause * (0.75 + Math.random() / 2));
    pause = Math.min(pause * 2, LONGEST_MS);
  };

  const now = () => {
    if (timer === null) return;
    clearTimeout(timer);
    pause = FIRST_MS;
    open();
  };
  addEventListener('online', now);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) now(); });
  open();
  return state;
}
