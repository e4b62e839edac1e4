// Who is there, and which of the page's four faces they see. Entering and leaving go through here.
import { tick } from 'svelte';
import { http, type Shape } from '../client/http';
import { Failure, isFailure } from '../client/failure';
import { setHooks } from '../client/hooks';
import { askVault, facts, learn } from './facts.svelte';
import { mayGo } from './place.svelte';

export type Face = 'starting' | 'onboarding' | 'login' | 'inside' | 'unreachable';

export const session = $state<{ face: Face; status: Shape<'AuthStatus'> | null; ended: boolean }>({
  face: 'starting',
  status: null,
  /** The person was inside, and the gateway said that this is over. */
  ended: false,
});

const WAS_INSIDE = 'gatehouse.inside';

/** Whether this browser was let in the last time: then the inside comes while the gateway is asked. */
export const likelyInside = (): boolean =>
  stored() === '1' && (!facts.setup_required || facts.auth_disabled) && location.pathname !== '/onboarding';

/** For as long as the gateway is asked. */
let asking: Promise<void> | null = null;

/**
 * Asks the gateway who this is, and shows what follows from it. Who was inside the last time is shown the inside at once, empty as it is:
 * nothing else is asked before the gateway has let them in.
 */
export function begin(): Promise<void> {
  if (session.face === 'starting' && likelyInside()) session.face = 'inside';
  asking = ask().finally(() => (asking = null));
  return asking;
}

setHooks({
  async admitted() {
    if (!asking) return;
    await asking;
    if (session.face === 'login') throw new Failure('AUTH_NOT_AUTHENTICATED', '');
  },
  vaultSealed() {
    // The refusal may be older than what the live line told since.
    if (facts.vault_status !== 'sealed') void refresh();
  },
});

async function ask(): Promise<void> {
  try {
    const vault = askVault();
    const status = await http('get', '/api/auth/status');
    learn(status, vault);
    session.status = status;
    session.face = faceOf(status);
    store(session.face === 'inside');
  } catch (error) {
    // Whatever went wrong, the page must not stand still: it tells, and tries again.
    session.face = 'unreachable';
    if (!isFailure(error)) throw error;
  }
}

function faceOf(status: Shape<'AuthStatus'>): Face {
  // While auth is disabled everyone is let in, and may set it up again when they choose to.
  if (status.setup_required && !status.auth_disabled) return 'onboarding';
  if (!status.authenticated) return 'login';
  // Whoever is let in goes on with what follows setup, when the address says so.
  const steps = status.setup_required || new URLSearchParams(location.search).has('step');
  return location.pathname === '/onboarding' && steps ? 'onboarding' : 'inside';
}

/** The address changed: another face may belong to it. */
export function reconsider(): void {
  if (!session.status) return;
  session.face = faceOf(session.status);
  store(session.face === 'inside');
}

/** Credentials or the state of authentication changed while the person is inside: what is shown of them is asked anew. */
export async function refresh(): Promise<void> {
  try {
    const vault = askVault();
    const status = await http('get', '/api/auth/status');
    learn(status, vault);
    session.status = status;
    if (!status.authenticated) leave();
  } catch (error) {
    // Nobody answers: the live connection tells, and asks again when it is back.
    if (!isFailure(error)) throw error;
  }
}

/** The gateway let the person in. */
export async function enter(): Promise<void> {
  session.ended = false;
  await begin();
}

/** The gateway no longer knows this person: the login stands where they were. */
export function leave(): void {
  const within = session.face === 'inside' || (session.face === 'onboarding' && !session.status?.setup_required);
  if (!within) return;
  session.ended = true;
  session.face = 'login';
  store(false);
}

/** Ends the session at the gateway, too. Throws while the gateway cannot be told: whoever leaves a machine to others must know. */
export async function logOut(): Promise<void> {
  if (!mayGo()) return;
  try {
    await http('post', '/api/auth/logout', { keep: true });
  } catch (error) {
    if (!isFailure(error, 'AUTH_NOT_AUTHENTICATED')) throw error;
  }
  store(false);
  session.ended = false;
  windows.postMessage('logout');
  await forget();
}

/** The windows of this browser: a logout in one of them empties the memory of all. */
const windows = new BroadcastChannel('gatehouse.session');
windows.addEventListener('message', () => void forget());

/** Loads the page anew, so that conversations, drafts and answers leave its memory. */
async function forget(): Promise<void> {
  // The inside goes first, and with it what would ask the browser not to leave.
  session.face = 'starting';
  await tick();
  history.replaceState(null, '', '/');
  location.reload();
}

function stored(): string | null {
  try {
    return localStorage.getItem(WAS_INSIDE);
  } catch {
    return null;
  }
}

function store(inside: boolean): void {
  try {
    if (inside) localStorage.setItem(WAS_INSIDE, '1');
    else localStorage.removeItem(WAS_INSIDE);
  } catch {
    // Storage may be shut off: the page is only a little slower then.
  }
}

export const product = (): string => facts.product;
