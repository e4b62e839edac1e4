// Where the page begins: one small script that asks who is there and loads what they need.
import { mount } from 'svelte';
import './style/tokens.css';
import './style/base.css';
import './state/theme.svelte';
import Root from './Root.svelte';
import { begin, likelyInside } from './state/session.svelte';
import { find } from './shell/routes';

// Who was inside the last time is most likely inside now: their part of the page loads while the gateway is asked.
if (likelyInside()) {
  const { pathname } = location;
  const page = find(pathname === '/' ? '/chat' : pathname).load;
  // What fails here fails again where it is needed, and is told there.
  void Promise.allSettled([import('./shell/Inside.svelte'), page()]);
}
void begin();

const page = document.getElementById('page');
if (page) {
  page.replaceChildren();
  mount(Root, { target: page });
}
if ('serviceWorker' in navigator && window.isSecureContext) {
  addEventListener('load', () => void navigator.serviceWorker.register('/sw.js').catch(() => undefined));
}
