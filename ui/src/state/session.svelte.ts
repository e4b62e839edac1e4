// The user's identity and view. Login and logout go through here.
import { tick } from 'svelte';
import { http, type Shape } from '../client/http';
import { Failure, isFailure } from '../client/failure';
import { beginSession, sameSession, setHooks } from '../client/hooks';
import { moduleOrNull } from '../client/module';
import { askVault, facts, learn } from './facts.svelte';
import { mayGo } from './place.svelte';

export type Face = 'starting' | 'onboarding' | 'login' | 'inside' | 'unreachable';

export const session = $state<{ face: Face; status: Shape<'AuthStatus'> | null; ended: boolean }>({
  face: 'starting',
  status: null,
  /** Whether the gateway ended the session while the user was logged in. */
  ended: false,
});

const WAS_INSIDE = 'gatehouse.inside';

/** Whether this window is logging out. */
let loggingOut = false;

/** Whether the user was logged in last time. If so, the app can load before the gateway answers. */
export const likelyInside = (): boolean =>
  stored() === '1' && (!facts.setup_required || facts.auth_disabled) && location.pathname !== '/onboarding';

/** The pending status request, if any. */
let asking: Promise<void> | null = null;

/**
 * Asks the gateway who the user is and selects the view. A user who was logged in last time sees the app immediately,
 * but empty. No other request is sent until the gateway admits the user.
 */
export function begin(): Promise<void> {
  if (session.face === 'starting' && likelyInside()) session.face = 'inside';
  asking = ask().finally(() => (asking = null));
  return asking;
}

/** Calls wait for this promise and for the running status request. */
let held: Promise<unknown> = Promise.resolve();

/**
 * The longest time that calls are held. The limit is needed because a hidden window is not painted.
 */
const HELD_MS = 300;

/**
 * Holds calls until the first page is painted, because work on their answers would delay the paint.
 */
export function holdCalls(painted: Promise<unknown>): void {
  held = Promise.race([painted, new Promise((resolve) => setTimeout(resolve, HELD_MS))]);
}

setHooks({
  isSealed: () => facts.vault_status === 'sealed',
  async admitted() {
    // The answer may arrive before the held calls are released.
    const asked = asking;
    await Promise.all([held, asked]);
    if (asked && session.face === 'login') throw new Failure('AUTH_NOT_AUTHENTICATED', '');
  },
  vaultSealed() {
    // The refusal may be older than the latest vault state from the socket.
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
    // On any error, show a page that says so and retries.
    session.face = 'unreachable';
    if (!isFailure(error)) throw error;
  }
}

function faceOf(status: Shape<'AuthStatus'>): Face {
  // While authentication is disabled, everyone is admitted and can set it up again at any time.
  if (status.setup_required && !status.auth_disabled) return 'onboarding';
  if (!status.authenticated) return 'login';
  // An admitted user continues with the later setup steps if the URL asks for them.
  const steps = status.setup_required || new URLSearchParams(location.search).has('step');
  return location.pathname === '/onboarding' && steps ? 'onboarding' : 'inside';
}

/** Selects the view again after the URL has changed. */
export function reconsider(): void {
  if (!session.status) return;
  session.face = faceOf(session.status);
  store(session.face === 'inside');
}

/** Fetches the status again after credentials or the state of authentication changed. */
export async function refresh(): Promise<void> {
  const isSame = sameSession();
  try {
    const vault = askVault();
    const status = await http('get', '/api/auth/status');
    if (!isSame()) return;
    learn(status, vault);
    session.status = status;
    if (!status.authenticated) leave();
  } catch (error) {
    // The gateway is unreachable. The live connection shows that and refreshes when it is back.
    if (!isFailure(error)) throw error;
  }
}

/** Call after a successful login or setup. */
export async function enter(): Promise<void> {
  // Without a password or passkey, the next user may not be the person whose input and secrets are in memory.
  if (session.ended && session.status?.setup_required) return forget();
  beginSession();
  session.ended = false;
  await begin();
}

/** Shows the login without changing the URL, because the gateway no longer accepts this session. */
export function leave(): void {
  // A logout of this window ends with a reload, which shows the login.
  if (loggingOut) return;
  const within = session.face === 'inside' || (session.face === 'onboarding' && !session.status?.setup_required);
  if (!within) return;
  session.ended = true;
  session.face = 'login';
  store(false);
}

/**
 * Logs out. Throws if the gateway does not confirm, so that the user learns that the session is still valid.
 */
export async function logOut(): Promise<void> {
  if (!mayGo()) return;
  loggingOut = true;
  try {
    await http('post', '/api/auth/logout', { keep: true });
  } catch (error) {
    if (!isFailure(error, 'AUTH_NOT_AUTHENTICATED')) {
      loggingOut = false;
      // The session may have ended even if the answer was lost.
      void refresh();
      throw error;
    }
  }
  // Until the reload, this window and the others show neither conversations nor the login.
  session.face = 'starting';
  store(false);
  session.ended = false;
  windows.postMessage('logout');
  // The push service may still hold notifications.
  const ended = moduleOrNull(() => import('./own-push'))
    .then((loaded) => loaded?.endPush())
    .catch(() => undefined);
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 2_000))]);
  await forget();
}

/** Connects all windows of this browser. A logout in one window clears the memory of all. */
const windows = new BroadcastChannel('gatehouse.session');
windows.addEventListener('message', () => void forget());

/**
 * The keys of prompts and saved filters that earlier versions kept in the browser and the gateway
 * stores now.
 */
export const KEPT = ['prompts', 'delivery filters'] as const;

export function hasKept(): boolean {
  try {
    return KEPT.some((key) => localStorage.getItem(key) !== null);
  } catch {
    // Storage is disabled.
    return false;
  }
}

/** Reloads the page to clear conversations, drafts and answers from memory. */
async function forget(): Promise<void> {
  // Unmount the app first, along with its `beforeunload` handlers.
  session.face = 'starting';
  await tick();
  try {
    sessionStorage.clear();
    for (const key of KEPT) localStorage.removeItem(key);
  } catch {
    // Storage is disabled, so there is nothing to clear.
  }
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
    // Storage may be disabled. The next start is then only a little slower.
  }
}

export const product = (): string => facts.product;
