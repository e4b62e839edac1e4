// The one door to the server: JSON over same-origin fetch, one error shape, the step-up question, and what to do when the
// session has ended. It keeps no credential; the cookie is the browser's.
import { ask, field, userName } from './dom.js';
import { passkeyAnswer, passkeysWork } from './passkey.js';

export class ApiError extends Error {
  constructor(status, body, headers) {
    super(body?.error ?? `The server answered ${status}.`);
    this.status = status;
    this.code = body?.code ?? '';
    this.field = body?.field;
    this.requestId = body?.request_id ?? headers?.get('x-request-id');
    this.retryAfter = status === 429 ? Math.max(1, Number(body?.retry_after_seconds ?? headers?.get('retry-after')) || 1) : 0;
  }
}

/** One request, no second thoughts. A body is always an object; empty ones are left out. */
export async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    });
  } catch {
    throw new ApiError(0, { error: 'The server cannot be reached. Check that it is running, then try again.' });
  }
  const data = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, data, response.headers);
  return data ?? {};
}

export const authStatus = () => call('GET', '/api/auth/status');

/** Asks the server whether the caller is still known, and shows the login view at this URL if not. Never loops: it reloads only on a clear no. */
export async function leaveIfLoggedOut() {
  const status = await authStatus();
  if (status.authenticated) return status;
  const open = document.querySelector('dialog[data-keep]');
  if (open) await new Promise((done) => { open.addEventListener('stored', done, { once: true }); });
  location.reload();
  return new Promise(() => {});
}

/** A request of the logged-in page: asks for a step-up and repeats once; leaves for the login view when the session is gone. */
export async function api(method, path, body) {
  try {
    return await call(method, path, body);
  } catch (err) {
    if (err.code === 'CONFIRMATION_REQUIRED') {
      if (!(await stepUp())) throw Object.assign(new Error('Not done: it was not confirmed.'), { code: 'CANCELLED' });
      return call(method, path, body);
    }
    if (err.code === 'AUTH_NOT_AUTHENTICATED' || err.code === 'AUTH_SETUP_REQUIRED') await leaveIfLoggedOut();
    throw err;
  }
}

/** Confirms that it is still the owner. True when confirmed. */
async function stepUp() {
  const status = await authStatus();
  const byPasskey = status.has_passkeys && passkeysWork(status);
  if (!status.has_password && !byPasskey) {
    throw new Error('This needs a fresh confirmation, and your passkey does not work at this address. Open the gateway at the address where you made it.');
  }
  const confirmed = await ask({
    title: 'Confirm that it is you',
    text: 'This change needs a recent confirmation. It then holds for a few minutes.',
    fields: status.has_password ? [userName(), field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', required: true })] : [],
    submit: status.has_password ? 'Confirm' : null,
    onSubmit: ({ password }) => call('POST', '/api/auth/confirm', { password }),
    more: byPasskey ? [['Use a passkey', async () => call('POST', '/api/auth/confirm', await passkeyAnswer(call))]] : [],
  });
  return confirmed !== null;
}
