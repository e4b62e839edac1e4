// Entry point: asks the gateway who the user is and loads the view they need.
import { mount } from 'svelte';
import './design/tokens.css';
import './design/fonts.css';
import './design/base.css';
import './state/language';
import './state/theme.svelte';
import Root from './Root.svelte';
import { moduleOrNull, watchStyles } from './client/module';
import { facts } from './state/facts.svelte';
import { begin, likelyInside } from './state/session.svelte';
import { nextTask } from './parts/idle';
import { find, movedTo } from './shell/routes';

// Loads the view that the user probably needs while the gateway answers. A user who was logged in last time is probably
// still logged in.
function load(): Promise<unknown> {
  if (!likelyInside()) {
    if (!facts.setup_required && !facts.auth_disabled) void moduleOrNull(() => import('./pages/login/Login.svelte'));
    return Promise.resolve();
  }
  const { pathname } = location;
  const { page } = find(movedTo(pathname) ?? pathname);
  // A failure here occurs again where the module is needed, and is reported there.
  return Promise.allSettled([import('./shell/Inside.svelte'), page.load()]);
}

function show(): void {
  const page = document.getElementById('page');
  page?.replaceChildren();
  if (page) mount(Root, { target: page });
}

/** How long the page waits for its typeface. Text that is first drawn in a fallback font would move. */
const TYPEFACE_MS = 400;

function typeface(): Promise<unknown> {
  const late = new Promise((resolve) => setTimeout(resolve, TYPEFACE_MS));
  return Promise.race([document.fonts.load('1em "Gatehouse Sans"'), late]).catch(() => undefined);
}

watchStyles();
void begin();
// Runs in a separate task, because evaluating this file and its imports already takes long on phones.
void Promise.all([nextTask().then(load), typeface()]).then(show);

if ('serviceWorker' in navigator && window.isSecureContext) {
  addEventListener('load', () => void navigator.serviceWorker.register('/sw.js').catch(() => undefined));
}
