// One-time data from the setup: the recovery key until the user confirms that it is stored, and the reset settings. The
// data is only in memory. The browser shows a warning before a reload or a closed window discards it.

import { m } from '../../paraglide/messages.js';
import { showRecoveryKey } from '../../parts/recovery-key';
import { session } from '../../state/session.svelte';

export const held = $state<{
  key: string | null;
  stored: boolean;
  /** Settings that a remote caller changed before the setup and that the setup reset. */
  reverted: readonly string[];
}>({ key: null, stored: false, reverted: [] });

const warn = (event: BeforeUnloadEvent) => {
  if (!held.stored) event.preventDefault();
};

export function hold(key: string): void {
  // The user left the setup before the answer arrived.
  if (session.face !== 'onboarding') return showRecoveryKey(key, m.vault_recovery_key_use());
  held.key = key;
  held.stored = false;
  addEventListener('beforeunload', warn);
}

export function release(): void {
  held.key = null;
  removeEventListener('beforeunload', warn);
}
