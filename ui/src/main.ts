// Where the page begins: one small script that asks who is there and loads what they need.
import { mount } from 'svelte';
import './style/tokens.css';
import './style/base.css';
import './state/theme.svelte';
import Root from './Root.svelte';
import { begin, likelyInside } from './state/session.svelte';
import { find } from './shell/routes';

// Who was inside the last time is most likely inside now: their part of the page loads while the gateway is asked.
function load(): Promise<unknown> {
  if (!likelyInside()) return Promise.resolve();
  const { pathname } = location;
  const page = find(pathname === '/' ? '/chat' : pathname).load;
  // What fails here fails again where it is needed, and is told there.
  return Promise.allSettled([import('./shell/Inside.svelte'), page()]);
}

function show(): void {
  const page = document.getElementById('page');
  page?.replaceChildren();
  if (page) mount(Root, { target: page });
}

void load().then(show);
void begin();

if ('serviceWorker' in navigator && window.isSecureContext) {
  addEventListener('load', () => void navigator.serviceWorker.register('/sw.js').catch(() => undefined));
}
