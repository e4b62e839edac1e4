// Passkeys, sessions, API keys, and the way to remove them all.
import { ask, button, card, check, field, h, time } from './dom.js';
import { api } from './api.js';
import { passkeysWork, registerPasskey } from './passkey.js';
import { showOnce } from './once.js';

const SCOPES = [
  ['operator.read', 'view status, list jobs, read history'],
  ['operator.write', 'send messages, create jobs, change settings'],
  ['operator.approvals', 'answer approval requests'],
  ['operator.pairing', 'manage paired devices'],
  ['operator.admin', 'everything, credentials and vault included'],
];

const item = (name, tags, meta, actions) => h('li', {},
  h('div', { class: 'what' }, h('strong', {}, name), ...tags.map((t) => h('span', { class: 'tag' }, t)), h('p', { class: 'meta' }, ...meta)),
  h('div', { class: 'row' }, ...actions));

/** “Firefox on Linux” from a User-Agent; the whole text when it is not a browser's. */
function browser(agent) {
  const name = [['Edg/', 'Edge'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']].find(([mark]) => agent?.includes(mark))?.[1];
  const system = [['Android', 'Android'], ['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Mac OS', 'macOS'], ['Windows', 'Windows'], ['Linux', 'Linux']].find(([mark]) => agent?.includes(mark))?.[1];
  return name ? `${name}${system ? ` on ${system}` : ''}` : (agent || 'Unknown client').slice(0, 80);
}

const sure = (title, text, submit, work) => ask({ title, text, submit, kind: 'primary danger', onSubmit: work });

/** The three lists. `changed` is told after every change; `load` reads them again. */
export function accessLists(changed) {
  const lists = {};
  const list = (id) => (lists[id] = { ul: h('ul', { class: 'list' }), said: h('p', { class: 'said', role: 'status' }) });
  const after = (text) => (done) => { if (done) changed(text); };

  const passkeyItem = (key) => item(key.name, [key.rp_id], ['Added ', time(key.created_at), ' · last used ', time(key.last_used_at)], [
    button('Rename', () => ask({ title: 'Rename the passkey', fields: [field({ label: 'Name', name: 'name', value: key.name, required: true, maxlength: 64 })], submit: 'Rename', onSubmit: ({ name }) => api('PATCH', `/api/auth/passkeys/${encodeURIComponent(key.id)}`, { name }) }).then(after()), 'small'),
    button('Remove', () => sure('Remove this passkey?', `“${key.name}” can no longer log in here.`, 'Remove', () => api('DELETE', `/api/auth/passkeys/${encodeURIComponent(key.id)}`)).then(after('Passkey removed.')), 'small danger'),
  ]);

  const sessionItem = (s) => item(browser(s.user_agent), s.current ? ['this one', s.login_method] : [s.login_method], [
    s.client_ip ? `${s.client_ip} · ` : '', 'since ', time(s.created_at), ' · last seen ', time(s.last_seen_at), ' · ends ', time(s.expires_at),
  ], s.current ? [] : [
    button('Revoke', () => sure('End this session?', 'Whoever uses it must log in again.', 'End it', () => api('DELETE', `/api/auth/sessions/${encodeURIComponent(s.id)}`)).then(after('Session ended.')), 'small danger'),
  ]);

  const keyItem = (key) => item(key.label || 'API key', [`${key.prefix}…`], [
    (key.scopes ?? []).join(', '), ' · made ', time(key.created_at), ' · last used ', time(key.last_used_at), key.expires_at ? ' · expires ' : ' · does not expire', key.expires_at ? time(key.expires_at) : '',
    key.allowed_cidrs?.length ? ` · only from ${key.allowed_cidrs.join(', ')}` : '',
  ], [button('Revoke', () => sure('Revoke this key?', `“${key.label}” stops working at once.`, 'Revoke', () => api('DELETE', `/api/auth/api-keys/${encodeURIComponent(key.id)}`)).then(after('Key revoked.')), 'small danger')]);

  const addPasskey = () => ask({
    title: 'Add a passkey', text: `It will work at ${location.hostname}.`,
    fields: [field({ label: 'Name', name: 'name', value: browser(navigator.userAgent), required: true, maxlength: 64, hint: 'So that you know it again in the list.' })],
    submit: 'Add passkey', onSubmit: ({ name }) => registerPasskey(api, name.trim()),
  }).then(after('Passkey added.'));

  const addKey = async () => {
    const answer = await ask({
      title: 'Create an API key',
      fields: [
        field({ label: 'Label', name: 'label', required: true, maxlength: 64, autocomplete: 'off' }),
        h('fieldset', {}, h('legend', {}, 'Scopes'), ...SCOPES.map(([scope, what]) => check([h('strong', {}, scope), ` – ${what}`], { name: 'scopes', value: scope }))),
        field({ label: 'Expires at the end of (optional)', name: 'expires_at', type: 'date', min: new Date().toLocaleDateString('sv') }),
        field({ label: 'Only from these addresses (optional)', name: 'allowed_cidrs', autocomplete: 'off', hint: 'For example 192.0.2.0/24, 2001:db8::/32' }),
      ],
      submit: 'Create key',
      problem: (values) => (values.scopes?.length ? null : { field: 'scopes', message: 'Choose at least one scope.' }),
      onSubmit: (values) => {
        const cidrs = values.allowed_cidrs.split(/[\s,;]+/).filter(Boolean);
        return api('POST', '/api/auth/api-keys', {
          label: values.label.trim(), scopes: values.scopes,
          ...(values.expires_at ? { expires_at: new Date(`${values.expires_at}T23:59:59`).toISOString() } : {}),
          ...(cidrs.length ? { allowed_cidrs: cidrs } : {}),
        });
      },
    });
    if (!answer) return;
    await showOnce({ title: 'Your new API key', text: 'Send it as “Authorization: Bearer …”. It is shown only this once.', secret: answer.key, file: 'gatehouse-api-key.txt' });
    changed('Key created.');
  };

  const endOthers = () => sure('Log out the others?', 'Every session but this one ends.', 'Log them out', () => api('DELETE', '/api/auth/sessions'))
    .then((answer) => answer && changed(`${answer.ended ?? 0} other ${answer.ended === 1 ? 'session' : 'sessions'} ended.`));

  const draw = (status) => {
    const may = passkeysWork(status);
    const part = (id, title, what, ...kids) => { const { ul, said } = list(id); return card(id, title, h('p', { class: 'quiet' }, what), ul, said, ...kids); };
    return h('div', {},
      part('passkeys', 'Passkeys', may ? 'A passkey works only at the host name where it was made.' : 'None can be added at this address: passkeys need a host name (not an IP address) and a secure connection.',
        may && status.setup_complete && h('div', { class: 'row' }, button('Add a passkey…', addPasskey))),
      part('sessions', 'Sessions', 'Where you are logged in. A session ends after 30 days.', h('div', { class: 'row' }, button('Log out the others…', endOthers))),
      part('api-keys', 'API keys', 'For programs. Give a key only the scopes it needs.', h('div', { class: 'row' }, button('Create a key…', addKey))));
  };

  const loadOne = async (id, path, member, draws, none) => {
    const { ul, said } = lists[id];
    try {
      const found = (await api('GET', path))[member] ?? [];
      const text = JSON.stringify(found);
      if (ul.dataset.seen === text) return;
      ul.dataset.seen = text;
      const hadFocus = ul.contains(document.activeElement);
      ul.replaceChildren(...found.map(draws));
      said.textContent = found.length ? '' : none;
      if (hadFocus) document.getElementById(`${id}-h`)?.focus({ preventScroll: true });
    } catch (err) { said.textContent = err.message; }
  };
  const load = () => Promise.all([
    loadOne('passkeys', '/api/auth/passkeys', 'passkeys', passkeyItem, 'No passkey yet.'),
    loadOne('sessions', '/api/auth/sessions', 'sessions', sessionItem, 'No session: you are here without a login.'),
    loadOne('api-keys', '/api/auth/api-keys', 'api_keys', keyItem, 'No key yet.'),
  ]);
  return { draw, load };
}

const PHRASE = 'remove all auth';

export function removeAll(changed) {
  const go = () => ask({
    title: 'Remove all auth?',
    text: ['This deletes the password, all passkeys, sessions and API keys. After it, anyone who reaches this server may do everything until setup is done again.', 'The vault and the stored secrets are kept.'],
    fields: [field({ label: `Type “${PHRASE}” to go on`, name: 'phrase', autocomplete: 'off', required: true })],
    submit: 'Remove all auth', kind: 'primary danger',
    problem: ({ phrase }) => (phrase.trim().toLowerCase() === PHRASE ? null : { field: 'phrase', message: `Type the words “${PHRASE}”.` }),
    onSubmit: () => api('POST', '/api/auth/reset', {}),
  }).then((answer) => answer && changed(`All auth is removed.${answer.kept?.length ? ` Kept: ${answer.kept.join(', ')}.` : ''} A new setup code is in the server's terminal.`));
  return card('reset', 'Remove all auth', h('p', { class: 'quiet' }, 'Deletes every password, passkey, session and API key, and switches authentication off.'), h('div', { class: 'row' }, button('Remove all auth…', go, 'danger')));
}
