// Shows a secret that exists only now: copy, download, and a check box before it goes away.
import { button, check, focusHeading, h } from './dom.js';

async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard outside a secure context: select the text and try the old way; at worst it stays selected to copy by hand.
    getSelection().selectAllChildren(shown);
    return document.execCommand('copy');
  }
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function panel({ title, text, secret, file, heading }, done) {
  const shown = h('output', { class: 'secret' }, secret);
  const said = h('p', { class: 'said', role: 'status' });
  const alert = h('p', { class: 'alert', role: 'alert' });
  const stored = check('I stored it in a safe place');
  const box = stored.querySelector('input');
  const warn = (event) => event.preventDefault();
  addEventListener('beforeunload', warn);
  const goOn = button('Continue', () => {
    if (!box.checked) {
      alert.textContent = 'Store it first, then tick the box. It cannot be shown again.';
      box.focus();
      return;
    }
    removeEventListener('beforeunload', warn);
    shown.textContent = '';
    done();
  }, 'primary');
  return h('div', {}, heading, h('p', {}, text), shown,
    h('div', { class: 'row' },
      button('Copy', async () => { said.textContent = (await copy(secret, shown)) ? 'Copied.' : 'It is selected: copy it by hand.'; }),
      button('Download', () => { download(file, `${title}\n${location.origin}\n\n${secret}\n`); said.textContent = 'Handed to your downloads.'; })),
    said, h('div', { class: 'field' }, stored), alert, h('div', { class: 'row' }, goOn));
}

export const RECOVERY = {
  title: 'Your recovery key',
  text: 'It opens the vault if you lose your password. It is shown only this once; nobody can look it up for you. Keep it apart from this computer.',
  file: 'gatehouse-recovery-key.txt',
};

/** Shows the secret as the whole view; resolves when the person has stored it. */
export function showInView(root, what) {
  return new Promise((done) => {
    const heading = h('h1', {}, what.title);
    root.replaceChildren(h('div', { class: 'card' }, panel({ ...what, heading }, done)));
    focusHeading(heading);
  });
}

/** Shows the secret in a modal that Escape does not close; resolves when the person has stored it. */
export function showOnce(what) {
  return new Promise((done) => {
    const heading = h('h2', { id: 'once' }, what.title);
    const dialog = h('dialog', { 'aria-labelledby': 'once', 'data-keep': true });
    let stored = false;
    dialog.append(panel({ ...what, heading }, () => {
      stored = true;
      dialog.close();
      dialog.dispatchEvent(new Event('stored'));
      dialog.remove();
      done();
    }));
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    // A second Escape closes a dialog whatever the page says: put it back while the secret is not stored.
    dialog.addEventListener('close', () => { if (!stored) dialog.showModal(); });
    document.body.append(dialog);
    dialog.showModal();
    focusHeading(heading);
  });
}
