// The two views for someone who is not in yet: onboarding and login.
import { button, field, form, h, focusHeading, newPassword, userName, guarded } from './dom.js';
import { call, api } from './api.js';
import { offerInAutofill, passkeyAnswer, passkeysWork, registerPasskey } from './passkey.js';
import { RECOVERY, showInView } from './once.js';

const DONE_ALREADY = '#already-set-up';

const or = (text) => h('p', { class: 'or' }, h('span', {}, text));

/** Any step of setup may find that someone finished it meanwhile: then the login is next. */
const toLoginOnConflict = (work) => async (values) => {
  try {
    await work(values);
  } catch (err) {
    if (err.status === 409) return location.replace(`/${DONE_ALREADY}`);
    if (err.code === 'FORBIDDEN') throw Object.assign(err, { field: 'setup_code' });
    throw err;
  }
  return null;
};

export function onboarding(root, status, product) {
  const needsCode = status.setup_code_required;
  const code = needsCode && field({
    label: 'Setup code', name: 'setup_code', inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: 6, required: true,
    hint: 'Six digits, printed in the terminal where the server runs. “gatehouse auth setup-code” prints it again.',
  });
  const proof = () => (needsCode ? { setup_code: code.input.value.trim() } : {});
  const codeProblem = () => (needsCode && !/^\d{6}$/.test(code.input.value.trim()) ? { field: 'setup_code', message: 'The setup code is six digits.' } : null);
  const pair = newPassword('password');
  const mayPasskey = passkeysWork(status);

  const byPasskey = async () => {
    const why = codeProblem();
    if (why) throw Object.assign(new Error(why.message), { field: why.field });
    await toLoginOnConflict(() => registerPasskey(call, 'First passkey', proof()).then(() => finished(root, { passkey: true }, status)))();
  };
  const heading = h('h1', {}, status.auth_disabled ? 'Turn authentication back on' : `Set up ${product}`);
  root.replaceChildren(h('div', { class: 'card' }, heading,
    h('p', { class: 'quiet' }, status.auth_disabled ? 'Right now anyone who reaches this server may do everything. Choose how you will log in.' : 'Choose how you will log in. You can add the other way later.'),
    form({
      fields: [userName(), code, ...pair.fields],
      submit: 'Set password',
      problem: (values) => codeProblem() ?? pair.problem(values),
      onSubmit: toLoginOnConflict(async ({ password }) => {
        const { recovery_key: secret } = await call('POST', '/api/auth/setup', { password, ...proof() });
        if (secret) await showInView(root, { ...RECOVERY, secret });
        finished(root, { password: true }, status);
      }),
      more: mayPasskey ? [['Use a passkey instead', byPasskey]] : [],
    }),
    h('p', { class: 'hint' }, mayPasskey ? 'A passkey is bound to this host name, and with a passkey alone the vault is not set up; a password sets it up.' : 'Passkeys are not offered here: they need a host name (not an IP address) and a secure connection.')));
  root.querySelector('input:not(.gone)').focus();
}

function finished(root, by, status) {
  const heading = h('h1', {}, 'You are set up');
  const alert = h('p', { class: 'alert', role: 'alert' });
  const said = h('p', { class: 'said', role: 'status' });
  const add = by.password && passkeysWork(status) && button('Add a passkey too', null);
  if (add) add.addEventListener('click', guarded(alert, [add], async () => {
    await registerPasskey(api, 'First passkey');
    add.remove();
    said.textContent = 'Passkey added.';
  }));
  root.replaceChildren(h('div', { class: 'card' }, heading,
    h('p', {}, by.password ? 'Your password is set and you are logged in.' : 'Your passkey is registered and you are logged in. Set a password as well to encrypt stored secrets in the vault.'),
    alert, h('div', { class: 'row' }, h('a', { class: 'button primary', href: by.password ? '/' : '/#password' }, by.password ? 'Go on' : 'Go on to set a password'), add), said));
  focusHeading(heading);
}

export function login(root, status, product) {
  const mayPasskey = status.has_passkeys && passkeysWork(status);
  const stay = () => location.reload(); // the URL stays; the server now answers it for someone it knows
  let stopAutofill = () => {};
  const waitInAutofill = () => {
    if (mayPasskey) stopAutofill = offerInAutofill(call, async (answer) => { await call('POST', '/api/auth/passkey/auth/finish', answer); stay(); });
  };
  const byPasskey = async () => {
    stopAutofill();
    await call('POST', '/api/auth/passkey/auth/finish', await passkeyAnswer(call));
    stay();
  };
  const sealed = status.vault_status === 'sealed' && h('p', { class: 'notice' },
    status.has_password ? 'The vault is sealed. Logging in with the password opens it; with a passkey you can open it afterwards.' : 'The vault is sealed. You can open it after logging in.');
  const done = location.hash === DONE_ALREADY && h('p', { class: 'notice', role: 'status' }, 'Setup is already complete. Log in with the password or passkey that was chosen.');
  if (done) history.replaceState(null, '', location.pathname + location.search);
  const parts = [];
  if (status.has_password) parts.push(form({
    fields: [userName(), field({ label: 'Password', name: 'password', type: 'password', autocomplete: `current-password${mayPasskey ? ' webauthn' : ''}`, required: true })],
    submit: 'Log in',
    kind: 'primary wide',
    onSubmit: async ({ password }) => { await call('POST', '/api/auth/login', { password }); stopAutofill(); stay(); },
  }));
  if (parts.length && mayPasskey) parts.push(or('or'));
  if (mayPasskey) parts.push(form({ submit: 'Log in with a passkey', kind: status.has_password ? 'wide' : 'primary wide', onSubmit: byPasskey }));
  if (!parts.length) parts.push(h('p', { class: 'notice' }, 'This gateway is opened by a passkey, and that does not work at this address. Open it at the host name where the passkey was made.'));
  root.replaceChildren(h('div', { class: 'card' }, h('h1', {}, `Log in to ${product}`), done, sealed, ...parts));
  (root.querySelector('input:not(.gone)') ?? root.querySelector('button'))?.focus();
  waitInAutofill();
}
