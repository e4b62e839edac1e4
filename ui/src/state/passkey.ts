// Passkey ceremonies with @simplewebauthn/browser, which is loaded on first use.
import { offline } from '../client/failure';
import { http, type Shape } from '../client/http';

type Begun = Shape<'CeremonyBegun'>;
type Credential = Record<string, unknown>;
export interface PasskeyAnswer {
  challenge_id: string;
  credential: Credential;
}

/** Whether passkeys work here. They need a host name, and HTTPS or localhost. */
export const passkeysWork = (status: Shape<'AuthStatus'> | null): boolean => passkeyObstacle(status) === null;

/**
 * Why passkeys do not work. `loopback` means that the host is a loopback IP address, and localhost works. `address`
 * means that WebAuthn is not available for the host. The other reasons are missing HTTPS and missing browser support.
 */
export type PasskeyObstacle = 'loopback' | 'address' | 'insecure' | 'browser';

export function passkeyObstacle(status: Shape<'AuthStatus'> | null): PasskeyObstacle | null {
  if (/^(127\.|\[::1\])/.test(location.hostname)) return 'loopback';
  if (!status?.webauthn_available) return 'address';
  if (!isSecureContext) return 'insecure';
  return typeof globalThis.PublicKeyCredential === 'function' ? null : 'browser';
}

/** Returns the current URL with the host name `localhost`, where passkeys work. */
export const atLocalhost = (): string =>
  `${location.protocol}//localhost${location.port ? `:${location.port}` : ''}${location.pathname}${location.search}`;

/** The gateway serves the library, so a failed import means that the gateway is unreachable. */
const library = () =>
  import('@simplewebauthn/browser').catch(() => {
    throw offline();
  });

/** Loads the library in advance, in case the gateway does not respond later. */
export const preparePasskeys = (): void => void library().catch(() => undefined);

// An unanswered challenge can be reused. The gateway keeps only a few per client, for 5 minutes.
const FRESH_MS = 4 * 60_000;
let kept: { begun: Begun; at: number } | null = null;

async function challenge(): Promise<Begun> {
  if (kept && Date.now() - kept.at < FRESH_MS) return kept.begun;
  const begun = await http('post', '/api/auth/passkey/auth/begin', { keep: true });
  kept = { begun, at: Date.now() };
  return begun;
}

async function ask(byAutofill: boolean): Promise<PasskeyAnswer> {
  const [{ startAuthentication }, begun] = await Promise.all([library(), challenge()]);
  const { publicKey } = begun.options as { publicKey: Parameters<typeof startAuthentication>[0]['optionsJSON'] };
  const credential = await startAuthentication({ optionsJSON: publicKey, useBrowserAutofill: byAutofill });
  kept = null;
  return { challenge_id: begun.challenge_id, credential: credential as unknown as Credential };
}

/** Asks the user for a passkey. Returns the body for `passkey/auth/finish` and `confirm`. */
export const passkeyAnswer = (): Promise<PasskeyAnswer> => ask(false);

/** Whether the browser can offer passkeys by autofill in the password form. */
export async function canAutofillPasskeys(): Promise<boolean> {
  try {
    return Boolean(await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.());
  } catch {
    return false;
  }
}

/**
 * Offers passkeys by autofill until `stop` aborts or the user chooses a passkey. Renews the challenge before it
 * expires, but only while the page is visible. Returns null after `stop`.
 */
export async function passkeyByAutofill(stop: AbortSignal): Promise<PasskeyAnswer | null> {
  while (!stop.aborted) {
    await seen(stop);
    if (stop.aborted) return null;
    let renewed = false;
    const age = kept ? Date.now() - kept.at : 0;
    const timer = setTimeout(
      () => {
        renewed = true;
        void cancelPasskey();
      },
      Math.max(1000, FRESH_MS - age),
    );
    try {
      return await ask(true);
    } catch (error) {
      if (stop.aborted) return null;
      if (!renewed) throw error;
      kept = null;
    } finally {
      clearTimeout(timer);
    }
  }
  return null;
}

/** Cancels a ceremony that is waiting for the user. */
export async function cancelPasskey(): Promise<void> {
  const { WebAuthnAbortService } = await library();
  WebAuthnAbortService.cancelCeremony();
}

function seen(stop: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !stop.aborted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    stop.addEventListener('abort', look, { once: true });
  });
}

/** Registers a new passkey. A remote caller needs `setup_code` for the first credential. */
export async function registerPasskey(name: string, setup_code: string | null = null) {
  const [{ startRegistration }, begun] = await Promise.all([
    library(),
    http('post', '/api/auth/passkey/register/begin', { body: { setup_code } }),
  ]);
  const { publicKey } = begun.options as { publicKey: Parameters<typeof startRegistration>[0]['optionsJSON'] };
  const credential = (await startRegistration({ optionsJSON: publicKey })) as unknown as Credential;
  const body = { challenge_id: begun.challenge_id, name, credential, setup_code };
  return http('post', '/api/auth/passkey/register/finish', { body });
}

/**
 * Returns why the browser's ceremony failed (canceled or timed out, already registered here, or
 * unsupported).
 */
export function passkeyRefusal(error: unknown): 'cancelled' | 'exists' | 'unable' {
  const { name, cause } = error as { name?: string; cause?: { name?: string } };
  const names = [name, cause?.name];
  if (names.includes('NotAllowedError') || names.includes('AbortError')) return 'cancelled';
  return names.includes('InvalidStateError') ? 'exists' : 'unable';
}

/** Returns the operating system or device as a suggested name for a passkey created here. */
export function systemName(): string {
  const agent = navigator.userAgent;
  const known: [RegExp, string][] = [
    [/iPhone/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Android/, 'Android'],
    [/Mac OS X/, 'Mac'],
    [/Windows/, 'Windows'],
    [/CrOS/, 'Chromebook'],
    [/Linux/, 'Linux'],
  ];
  return known.find(([pattern]) => pattern.test(agent))?.[1] ?? '';
}
