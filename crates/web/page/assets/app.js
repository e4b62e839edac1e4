// The entry: reads what the shell carries, asks who is there, and shows the one view that fits.
import { button, focusHeading, h } from './dom.js';
import { authStatus } from './api.js';
import { login, onboarding } from './enter.js';
import { home } from './home.js';

function shellData() {
  try {
    return JSON.parse(document.querySelector('meta[name=gatehouse]').content);
  } catch {
    return {};
  }
}

const product = shellData().product ?? 'Gatehouse';
const root = document.getElementById('main');
document.getElementById('product').textContent = product;

function simple(title, text, ...actions) {
  const heading = h('h1', {}, title);
  root.className = 'narrow';
  root.replaceChildren(h('div', { class: 'card' }, heading, h('p', {}, text), h('div', { class: 'row' }, ...actions)));
  document.title = `${title} · ${product}`;
  focusHeading(heading);
}

function view(name, title, draw, status) {
  root.className = name === 'home' ? '' : 'narrow';
  document.title = title;
  draw(root, status, product);
}

async function start() {
  const status = await authStatus();
  const path = location.pathname.replace(/\/+$/, '') || '/';
  if (!status.setup_complete && (path === '/onboarding' || !status.authenticated)) {
    if (path !== '/onboarding') return location.replace('/onboarding');
    return view('onboarding', `Set up · ${product}`, onboarding, status);
  }
  if (!status.authenticated) return view('login', `Log in · ${product}`, login, status);
  if (path === '/onboarding') return location.replace('/');
  if (path !== '/') return simple('Nothing here', `There is no page at ${location.pathname} in this version.`, h('a', { class: 'button primary', href: '/' }, 'Go to the start page'));
  return view('home', product, home, status);
}

const boot = () => start().catch((err) => simple('Something is in the way', err.retryAfter ? `${err.message} Try again in ${err.retryAfter} s.` : err.message, button('Try again', boot, 'primary')));
boot();
