// Secrets that the gateway returns only once. The shell shows them above the open page until the user confirms that they
// stored them, also if an answer arrives after the user left the page that asked for it. They are kept in memory only.
import { session } from './session.svelte';

export interface OneTimeSecret {
  secret: string;
  title: string;
  /** The name of the record that the secret belongs to; absent if there is only one such secret. */
  name?: string;
  /** The purpose of the secret. */
  text: string;
  /** The name of the secret, such as "Recovery key". */
  label: string;
  /** Label of the button that closes the dialog. */
  action: string;
  /** The download; none if absent. */
  file?: { name: string; text?: string };
  /** A command or message that uses the secret. */
  example?: { label: string; text: string; copy: string };
  /** A QR code that a device reads instead of the typed secret. */
  code?: { label: string; text: string; alt: string };
  /** The new secret ends the previous ones of this kind, so those are no longer shown. */
  kind?: string;
}

export interface Waiting extends OneTimeSecret {
  /** Whether the user confirmed that they stored it. */
  stored: boolean;
}

/** The first one is shown. */
export const secrets = $state<Waiting[]>([]);

/** Shows a secret until the user confirms that they stored it. */
export function showSecret(one: OneTimeSecret): void {
  if (one.kind !== undefined) {
    for (const other of secrets.filter(({ kind }) => kind === one.kind)) dropSecret(other);
  }
  if (secrets.length === 0) addEventListener('beforeunload', warn);
  secrets.push({ ...one, stored: false });
}

/** Removes one of `secrets`, if it is still there: a newer one may have replaced it. */
export function dropSecret(one: Waiting): void {
  const at = secrets.indexOf(one);
  if (at === -1) return;
  secrets.splice(at, 1);
  if (secrets.length === 0) removeEventListener('beforeunload', warn);
}

function warn(event: BeforeUnloadEvent): void {
  // A logout reloads the page to clear its memory.
  if (session.face !== 'starting' && secrets.some(({ stored }) => !stored)) event.preventDefault();
}
