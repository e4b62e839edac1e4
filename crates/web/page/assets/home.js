// The page for someone who is in: who they are, the vault, and the sections of security.js. It redraws a section only when
// what it shows has changed, so that an event never takes a half-typed form away.
import { ask, button, card, field, form, h, focusHeading, newPassword, userName } from './dom.js';
import { api, leaveIfLoggedOut } from './api.js';
import { live } from './live.js';
import { RECOVERY, showOnce } from './once.js';
import { accessLists, removeAll } from './security.js';

const password = (name, label, required = true) => field({ label, name, type: 'password', autocomplete: 'current-password', required });
const recoveryKey = () => field({ label: 'Recovery key', name: 'recovery_key', autocomplete: 'off', required: true, hint: 'Eight groups of four. Upper or lower case, with or without hyphens.' });

const METHOD = {
  Loopback: 'Loopback (no login was asked for)',
  Password: 'Password (a session, by password or passkey)',
  ApiKey: 'ApiKey',
};

function you(status) {
  const failed = status.locality?.failed_check;
  return card('you', 'You', h('dl', {},
    h('dt', {}, 'Method'), h('dd', {}, METHOD[status.auth_method] ?? String(status.auth_method ?? 'unknown')),
    h('dt', {}, 'Scopes'), h('dd', {}, (status.scopes ?? []).join(', ') || 'none'),
    h('dt', {}, 'Connection'), h('dd', {}, status.is_local ? 'local' : `remote${failed ? ` (${failed})` : ''}`)));
}

/** Asks for the password in a modal, sends it, shows the recovery key that comes back, then `after`. */
async function withKey(title, text, path, submit, after) {
  const answer = await ask({ title, text, fields: [userName(), password('password', 'Password')], submit, onSubmit: (values) => api('POST', path, values) });
  if (answer?.recovery_key) await showOnce({ ...RECOVERY, secret: answer.recovery_key });
  if (answer) after();
}

/** Some vault actions take a password that may be left out. */
const optional = (values) => (values.password ? { password: values.password } : {});

const VAULT = {
  uninitialized: 'No vault yet: stored secrets are not encrypted.',
  sealed: 'Sealed. Stored secrets cannot be read until you open it.',
  unsealed: 'Open. Stored secrets are encrypted on disk and usable now.',
  disabled: 'Disabled. Stored secrets are kept as plain text.',
};

function vault(status, after) {
  const said = h('p', { class: 'said', role: 'status' });
  const post = (path, title, text, submit, kind) => ask({ title, text, submit, kind, onSubmit: () => api('POST', path, {}) }).then((ok) => ok && after());
  const disable = () => ask({
    title: 'Disable the vault?',
    text: ['Every stored secret is decrypted and kept as plain text. A restart is advised afterwards.'],
    fields: status.vault_status === 'sealed' ? [userName(), password('password', 'Password')] : [],
    submit: 'Disable', kind: 'primary danger',
    onSubmit: (values) => api('POST', '/api/auth/vault/disable', optional(values)),
  }).then((answer) => {
    if (!answer) return;
    const counts = Object.entries(answer.report ?? {}).map(([what, n]) => `${what.replaceAll('_', ' ')}: ${typeof n === 'number' ? n : JSON.stringify(n)}`).join(', ');
    after(`The vault is disabled.${counts ? ` Decrypted: ${counts}.` : ''}${answer.restart_advised ? ' Please restart the server.' : ''}`);
  });
  const parts = {
    sealed: () => [
      h('div', { class: 'field' }, form({ fields: [userName(), password('password', 'Vault password')], submit: 'Unlock', onSubmit: async (values) => { await api('POST', '/api/auth/vault/unlock', values); after(); } })),
      h('div', { class: 'row' },
        button('Use the recovery key', () => ask({ title: 'Unlock with the recovery key', fields: [recoveryKey()], submit: 'Unlock', onSubmit: (values) => api('POST', '/api/auth/vault/recovery', values) }).then((ok) => ok && after())),
        button('Disable…', disable, 'danger')),
    ],
    unsealed: () => [h('div', { class: 'row' },
      button('Seal', () => post('/api/auth/vault/seal', 'Seal the vault?', 'Stored secrets cannot be read until it is opened again with the password or the recovery key.', 'Seal', 'primary')),
      button('New recovery key…', () => withKey('Make a new recovery key', 'The old recovery key stops working.', '/api/auth/vault/recovery-key', 'Make it', after)),
      button('Rotate…', () => withKey('Rotate the vault key', 'Every stored secret is encrypted anew and you get a new recovery key. The old recovery key, and an auto-unseal file with it, stop working.', '/api/auth/vault/rotate', 'Rotate', after)),
      button('Disable…', disable, 'danger'))],
    uninitialized: () => [
      status.has_password ? null : h('p', { class: 'quiet' }, 'Set a password first: that makes the vault.'),
      h('div', { class: 'row' },
        status.has_password && button('Initialize…', () => withKey('Initialize the vault', 'It is opened by your login password from now on. You get a recovery key.', '/api/auth/vault/initialize', 'Initialize', after), 'primary'),
        button('Disable…', disable, 'danger'))],
    disabled: () => [h('div', { class: 'row' }, button('Enable…', () => ask({
      title: 'Enable the vault',
      text: 'With the password it opens at once and plain-text secrets are encrypted. Without it, an existing vault stays sealed.',
      fields: [userName(), password('password', 'Password (optional)', false)], submit: 'Enable',
      onSubmit: (values) => api('POST', '/api/auth/vault/enable', optional(values)),
    }).then((answer) => {
      if (!answer) return null;
      return answer.recovery_key ? showOnce({ ...RECOVERY, secret: answer.recovery_key }).then(() => after()) : after();
    }), 'primary'))],
  };
  return card('vault', 'Vault', h('p', {}, VAULT[status.vault_status] ?? `Status: ${status.vault_status}`), ...(parts[status.vault_status]?.() ?? []), said);
}

function passwordCard(status, after) {
  const known = status.has_password;
  const pair = newPassword('new_password', 'New password');
  if (!status.setup_complete) return card('password', 'Your password', h('p', {}, 'No password yet. '), h('a', { class: 'button', href: '/onboarding' }, 'Set one up'));
  const change = () => ask({
    title: known ? 'Change the password' : 'Set a password',
    text: known ? 'Your other sessions are ended.' : 'It also sets up the vault and gives you a recovery key.',
    fields: [userName(), ...(known ? [password('current_password', 'Current password')] : []), ...pair.fields],
    submit: known ? 'Change password' : 'Set password',
    problem: pair.problem,
    onSubmit: (values) => api('POST', '/api/auth/password/change', { new_password: values.new_password, ...(known ? { current_password: values.current_password } : {}) }),
  }).then(async (answer) => {
    if (!answer) return;
    if (answer.recovery_key) await showOnce({ ...RECOVERY, secret: answer.recovery_key });
    after(known ? 'The password was changed. Your other sessions have ended.' : 'The password was set.');
  });
  return card('password', 'Your password', h('p', { class: 'quiet' }, known ? 'A password is set.' : 'No password is set. You log in by passkey.'), h('div', { class: 'row' }, button(known ? 'Change password…' : 'Set a password…', change)));
}

function banners(el, status) {
  const list = [];
  if (status.auth_disabled) list.push(h('p', { class: 'notice' }, h('strong', {}, 'Authentication is disabled. '), 'Anyone who reaches this server may do everything. ', h('a', { href: '/onboarding' }, 'Turn it back on')));
  else if (!status.setup_complete) list.push(h('p', { class: 'notice' }, h('strong', {}, 'Setup is not finished. '), 'Everyone on this computer has full access until you choose a password or passkey. ', h('a', { href: '/onboarding' }, 'Set up')));
  if (status.vault_status === 'sealed') list.push(h('p', { class: 'notice' }, h('strong', {}, 'The vault is sealed. '), 'Stored secrets cannot be read. ', h('a', { href: '#vault' }, 'Open it')));
  el.replaceChildren(...list);
}

export function home(root, first, product) {
  const said = h('p', { class: 'said', role: 'status' });
  const version = h('footer', { class: 'quiet' });
  const heading = h('h1', { class: 'gone' }, product);
  const say = (text) => { said.textContent = typeof text === 'string' ? text : ''; };
  const lists = accessLists((text) => changed(text));
  const spots = [
    { key: (s) => [s.auth_method, s.scopes, s.is_local], draw: you },
    { key: (s) => [s.vault_status, s.has_password], draw: (s) => vault(s, (text) => changed(text)) },
    { key: (s) => [s.has_password, s.setup_complete], draw: (s) => passwordCard(s, (text) => changed(text)) },
    { key: (s) => [s.webauthn_available, s.setup_complete], draw: (s) => lists.draw(s) },
    { key: (s) => [s.setup_complete], draw: (s) => (s.setup_complete ? removeAll((text) => changed(text)) : h('div')) },
  ].map((spot) => ({ ...spot, box: h('div'), seen: '' }));

  const out = button('Log out', async () => {
    try {
      await api('POST', '/api/auth/logout', {});
      location.reload();
    } catch (err) { say(err.message); }
  }, 'small');
  const show = (status) => {
    banners(document.getElementById('banners'), status);
    out.hidden = status.auth_method !== 'Password'; // nothing to end otherwise
    for (const spot of spots) {
      const key = JSON.stringify(spot.key(status));
      if (key === spot.seen) continue;
      const hadFocus = spot.box.contains(document.activeElement);
      spot.seen = key;
      spot.box.replaceChildren(spot.draw(status));
      if (hadFocus) spot.box.querySelector('h2')?.focus();
    }
  };
  let timer = null;
  const refresh = async () => {
    timer = null;
    try {
      show(await leaveIfLoggedOut());
      await lists.load();
    } catch (err) { say(err.message); }
  };
  // Several events of one change, and the change made here, become one look at the server.
  const changed = (text) => {
    if (typeof text === 'string') say(text);
    timer ??= setTimeout(refresh, 150);
  };

  const state = live((event, params) => {
    if (event === 'connected') version.textContent = `${params.server?.name ?? product} ${params.server?.version ?? ''}`;
    if (event === 'connected' || event === 'vault.status' || event === 'auth.changed') changed();
  });
  document.getElementById('top-end').replaceChildren(state, out);
  root.replaceChildren(heading, said, ...spots.map((spot) => spot.box), version);
  show(first);
  lists.load();
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target) {
    target.scrollIntoView();
    target.querySelector('h2')?.focus();
  } else focusHeading(heading);
}
