// Secrets that the gateway returns only once. The shell shows them above the open page until the user confirms that the
// secret is stored. This includes an answer that arrives after the user left its page. Kept only in memory.
import { session } from './session.svelte';

export interface OneTimeSecret {
  secret: string;
  title: string;
  /** The name of the secret's record. Absent if there is only one secret of this kind. */
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
  /** A new secret ends the previous secrets of its kind, so those are no longer shown. */
  kind?: string;
}

export interface Waiting extends OneTimeSecret {
  /** Whether the user confirmed that the secret is stored. */
  stored: boolean;
}

/** The first one is shown. */
export const secrets = $state<Waiting[]>([]);

/** Shows a secret until the user confirms that it is stored. */
export function showSecret(one: OneTimeSecret): void {
  if (one.kind !== undefined) {
    for (const other of secrets.filter(({ kind }) => kind === one.kind)) dropSecret(other);
  }
  if (secrets.length === 0) addEventListener('beforeunload', warn);
  secrets.push({ ...one, stored: false });
}

/** Removes one of `secrets` if it is still there, because a newer secret may have replaced it. */
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
