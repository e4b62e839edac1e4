// The passkey ceremonies, by @simplewebauthn/browser, which is loaded when one begins.
import { offline } from '../client/failure';
import { http, type Shape } from '../client/http';

type Begun = Shape<'CeremonyBegun'>;
type Credential = Record<string, unknown>;
export interface PasskeyAnswer {
  challenge_id: string;
  credential: Credential;
}

/** Whether this browser and this address can do it: passkeys are bound to a host name, over HTTPS or on localhost. */
export const passkeysWork = (status: Shape<'AuthStatus'> | null): boolean => passkeyObstacle(status) === null;

/** Why passkeys cannot be used here: an address instead of a name (`loopback`: localhost would do), no HTTPS, or a browser without them. */
export type PasskeyObstacle = 'loopback' | 'address' | 'insecure' | 'browser';

export function passkeyObstacle(status: Shape<'AuthStatus'> | null): PasskeyObstacle | null {
  if (/^(127\.|\[::1\])/.test(location.hostname)) return 'loopback';
  if (!status?.webauthn_available) return 'address';
  if (!isSecureContext) return 'insecure';
  return typeof globalThis.PublicKeyCredential === 'function' ? null : 'browser';
}

/** This page under the name `localhost`, where passkeys work. */
export const atLocalhost = (): string =>
  `${location.protocol}//localhost${location.port ? `:${location.port}` : ''}${location.pathname}${location.search}`;

/** It comes from the gateway, too: that it cannot be had says nothing of the device. */
const library = () =>
  import('@simplewebauthn/browser').catch(() => {
    throw offline();
  });

// A challenge that no answer was sent to is good for another try: the gateway keeps few of them for each client, for five minutes.
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

/** Lets the person choose a passkey; gives the body for `passkey/auth/finish` and `confirm`. */
export const passkeyAnswer = (): Promise<PasskeyAnswer> => ask(false);

/** Whether the browser can offer passkeys where the password is typed. */
export async function canAutofillPasskeys(): Promise<boolean> {
  try {
    return Boolean(await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.());
  } catch {
    return false;
  }
}

/**
 * Offers passkeys where the password is typed, until `stop` or a choice; renews the challenge before it is too old, while the page is seen.
 * Gives null when it was stopped.
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

/** Ends a ceremony that waits for the person. */
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

/** Makes a passkey and stores it at the gateway. With `setup_code` where it is the first credential of a remote caller. */
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

/** How a ceremony ended that is no failure of the gateway: the person (or time) ended it, the device has one already, or it cannot. */
export function passkeyRefusal(error: unknown): 'cancelled' | 'exists' | 'unable' {
  const { name, cause } = error as { name?: string; cause?: { name?: string } };
  const names = [name, cause?.name];
  if (names.includes('NotAllowedError') || names.includes('AbortError')) return 'cancelled';
  return names.includes('InvalidStateError') ? 'exists' : 'unable';
}

/** What a passkey that is made here may be called: the browser's system. */
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
