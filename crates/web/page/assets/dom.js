// Builds the page's elements: text only ever through text nodes, so nothing that the server says can become markup.
// Forms report in one live region, count down a 429 on their buttons, and mark the field the server named.

let serial = 0;

/** Makes an element. `on` holds listeners; `true` sets a bare attribute; null and false are left out. */
export function h(tag, props = {}, ...kids) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') for (const [event, fn] of Object.entries(value)) el.addEventListener(event, fn);
    else el.setAttribute(name, value === true ? '' : value);
  }
  el.append(...kids.flat().filter((kid) => kid !== null && kid !== undefined && kid !== false));
  return el;
}

export const button = (text, onClick, kind = '') => h('button', { type: 'button', class: kind, on: { click: onClick } }, text);

/** One section of the home page. */
export const card = (id, title, ...kids) => h('section', { class: 'card', id, 'aria-labelledby': `${id}-h` }, h('h2', { id: `${id}-h`, tabindex: '-1' }, title), ...kids);

/** Moves focus to a heading, for a reader who must learn that the view changed. */
export function focusHeading(el) {
  el.setAttribute('tabindex', '-1');
  el.focus();
}

export function time(text) {
  if (!text) return 'never';
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? String(text)
    : h('time', { datetime: text }, new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(date));
}

/** A labelled input. `hint` is tied to it; a password gets a button that shows it. */
export function field({ label, name, type = 'text', hint, extra = [], ...attrs }) {
  const id = `f${(serial += 1)}`;
  const hintEl = hint === undefined ? null : h('p', { class: 'hint', id: `${id}-hint` }, hint);
  const input = h('input', { id, name, type, 'aria-describedby': hintEl ? hintEl.id : null, autocapitalize: 'none', spellcheck: 'false', ...attrs });
  const show = type === 'password' && h('button', { type: 'button', class: 'small', 'aria-pressed': 'false', 'aria-describedby': `${id}-label` }, 'Show');
  if (show) show.addEventListener('click', () => {
    const on = input.type === 'password';
    input.type = on ? 'text' : 'password';
    show.setAttribute('aria-pressed', String(on));
  });
  return Object.assign(h('div', { class: 'field' }, h('label', { for: id, id: `${id}-label` }, label), h('div', { class: 'control' }, input, show), hintEl, ...extra), { input, hintEl });
}

export const check = (label, attrs = {}) => h('label', { class: 'check' }, h('input', { type: 'checkbox', ...attrs }), h('span', {}, label));

export const letters = (text) => [...text].length;
export const PASSWORD_MIN = 12;

/** The pair for a new password. It judges the length and nothing else, and says so. */
export function newPassword(name, label = 'Password') {
  const meter = h('meter', { min: 0, max: 24, low: PASSWORD_MIN, optimum: 24, value: 0, 'aria-label': 'Length of the password' });
  const first = field({ label, name, type: 'password', autocomplete: 'new-password', required: true, hint: `At least ${PASSWORD_MIN} characters. Longer is stronger; a few random words do well.`, extra: [meter] });
  const again = field({ label: `Confirm ${label.toLowerCase()}`, name: 'confirm', type: 'password', autocomplete: 'new-password', required: true });
  first.input.addEventListener('input', () => {
    const n = letters(first.input.value);
    meter.value = Math.min(n, 24);
    first.hintEl.textContent = n < PASSWORD_MIN ? `${n} of at least ${PASSWORD_MIN} characters.` : `${n} characters. ${n < 16 ? 'Long enough.' : n < 20 ? 'Good length.' : 'Very good length.'}`;
  });
  const problem = (values) => letters(values[name]) < PASSWORD_MIN ? { field: name, message: `The password needs at least ${PASSWORD_MIN} characters.` }
    : values[name] !== values.confirm ? { field: 'confirm', message: 'The two passwords are not the same.' } : null;
  return { fields: [first, again], problem };
}

/** A hidden user name, so that password managers file the password under one account. */
export const userName = () => h('input', { class: 'gone', type: 'text', name: 'username', value: 'owner', autocomplete: 'username', tabindex: '-1', readonly: true, 'aria-hidden': 'true' });

function sentence(err) {
  if (err.name === 'NotAllowedError') return 'No passkey was used: it was cancelled, it timed out, or none fits this address.';
  if (err.name === 'InvalidStateError') return 'This device already holds a passkey for this gateway.';
  if (err.name === 'SecurityError') return 'Passkeys do not work at this address.';
  return err.requestId && err.status >= 500 ? `${err.message} (request ${err.requestId})` : err.message;
}

/** Runs `work` once at a time for a set of buttons; errors go to `alert`, a 429 counts down on the buttons. */
export function guarded(alert, buttons, work, scope = null) {
  const label = new Map(buttons.map((b) => [b, b.textContent]));
  const lock = (on) => buttons.forEach((b) => b.setAttribute('aria-disabled', String(on)));
  const countDown = (seconds) => {
    const until = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      buttons.forEach((b) => { b.textContent = left > 0 ? `Wait ${left} s` : label.get(b); });
      if (left > 0) return setTimeout(tick, 250);
      lock(false);
      alert.textContent = '';
      return null;
    };
    tick();
  };
  return async (event) => {
    event?.preventDefault();
    if (buttons.some((b) => b.getAttribute('aria-disabled') === 'true')) return;
    alert.textContent = '';
    scope?.querySelectorAll('[aria-invalid]').forEach((el) => el.removeAttribute('aria-invalid'));
    lock(true);
    let wait = 0;
    try {
      await work();
    } catch (err) {
      if (err.name === 'AbortError') return;
      wait = err.retryAfter ?? 0;
      alert.textContent = wait > 0 ? `${sentence(err)} Try again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.` : sentence(err);
      const named = err.field && scope?.querySelector(`[name="${CSS.escape(err.field)}"]`);
      const wrong = named || (err.code === 'INVALID_CREDENTIALS' && scope?.querySelector('input[type=password]'));
      if (wrong) {
        wrong.setAttribute('aria-invalid', 'true');
        wrong.focus();
      }
    } finally {
      if (wait > 0) countDown(wait);
      else lock(false);
    }
  };
}

/** A form. `problem(values)` may refuse before anything is sent; `more` are further buttons `[text, work(values), kind?]` that share its lock. */
export function form({ fields = [], submit, kind = 'primary', problem, onSubmit, more = [], cancel }) {
  const alert = h('p', { class: 'alert', role: 'alert' });
  const main = submit ? h('button', { type: 'submit', class: kind }, submit) : null;
  const others = more.map(([text, , otherKind]) => h('button', { type: 'button', class: otherKind ?? '' }, text));
  const el = h('form', { novalidate: true }, ...fields, alert, h('div', { class: 'row' }, main, ...others, cancel));
  const buttons = [main, ...others].filter(Boolean);
  const values = () => {
    const out = {};
    for (const input of el.querySelectorAll('input[name]')) {
      if (input.type !== 'checkbox') out[input.name] = input.value;
      else if (input.checked) (out[input.name] ??= []).push(input.value);
    }
    delete out.username;
    return out;
  };
  const send = guarded(alert, buttons, async () => {
    const found = values();
    const empty = [...el.querySelectorAll('input[required]')].find((input) => input.value.trim() === '');
    const missing = empty && { field: empty.name, message: `Please fill in “${empty.labels[0]?.textContent ?? empty.name}”.` };
    // Of two complaints the one higher up on the screen comes first.
    const inputs = [...el.querySelectorAll('input[name]')].map((input) => input.name);
    const why = [missing, problem?.(found)].filter(Boolean).sort((a, b) => inputs.indexOf(a.field) - inputs.indexOf(b.field))[0];
    if (why) throw Object.assign(new Error(why.message), { field: why.field });
    await onSubmit(found);
  }, el);
  el.addEventListener('submit', send);
  others.forEach((b, i) => b.addEventListener('click', guarded(alert, buttons, () => more[i][1](values()), el)));
  return Object.assign(el, { alert });
}

/** Asks in a native modal. Resolves to what `onSubmit` returned, or null when it was cancelled. Focus goes back by itself. */
export function ask({ title, text = [], fields = [], submit = 'OK', kind = 'primary', problem, onSubmit, more = [] }) {
  return new Promise((resolve) => {
    const id = `d${(serial += 1)}`;
    const dialog = h('dialog', { 'aria-labelledby': id });
    let answer = null;
    const finish = (fn) => async (values) => { answer = (await fn(values)) ?? true; dialog.close(); };
    dialog.append(
      h('h2', { id }, title),
      ...[text].flat().map((t) => h('p', {}, t)),
      form({ fields, submit, kind, problem, onSubmit: finish(onSubmit), more: more.map(([t, fn, k]) => [t, finish(fn), k]), cancel: button('Cancel', () => dialog.close()) }),
    );
    dialog.addEventListener('close', () => { dialog.remove(); resolve(answer); });
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector('input:not(.gone)')?.focus();
  });
}
