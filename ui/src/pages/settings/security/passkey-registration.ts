// Registers a passkey of this browser, by @simplewebauthn/browser, which is loaded when it begins.
import { http } from '../../../client/http';

/** Asks the authenticator for a new passkey and stores it under `name`. Throws what the browser throws when the person says no. */
export async function registerPasskey(name: string): Promise<void> {
  const begun = await http('post', '/api/auth/passkey/register/begin', { body: {} });
  const { startRegistration } = await import('@simplewebauthn/browser');
  const options = begun.options as { publicKey: Parameters<typeof startRegistration>[0]['optionsJSON'] };
  const credential = await startRegistration({ optionsJSON: options.publicKey });
  await http('post', '/api/auth/passkey/register/finish', {
    body: { challenge_id: begun.challenge_id, name, credential },
  });
}

/** Why the browser gave no passkey. */
export function whyNot(error: unknown): 'exists' | 'refused' {
  return (error as { name?: string }).name === 'InvalidStateError' ? 'exists' : 'refused';
}
