// The passkey ceremonies, by @simplewebauthn/browser, which is loaded when one begins.
import { http, type Shape } from '../client/http';

/** Whether this browser and this address can do it: passkeys are bound to a host name, over HTTPS or on localhost. */
export const passkeysWork = (status: Shape<'AuthStatus'> | null): boolean =>
  Boolean(status?.webauthn_available) && typeof globalThis.PublicKeyCredential === 'function';

/** Lets the person choose a passkey; gives the body for `passkey/auth/finish` and `confirm`. */
export async function passkeyAnswer(): Promise<{ challenge_id: string; credential: Record<string, unknown> }> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const begun = await http('post', '/api/auth/passkey/auth/begin', { keep: true });
  const options = begun.options as { publicKey: Parameters<typeof startAuthentication>[0]['optionsJSON'] };
  const credential = await startAuthentication({ optionsJSON: options.publicKey });
  return { challenge_id: begun.challenge_id, credential: credential as unknown as Record<string, unknown> };
}
