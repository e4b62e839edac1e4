// Shows a new recovery key above the open page.
import { m } from '../paraglide/messages.js';
import { showSecret } from '../state/secrets.svelte';
import { recoveryFile } from './recovery-file';

/** `text` is the purpose of the key. */
export function showRecoveryKey(secret: string, text: string): void {
  showSecret({
    secret,
    text,
    title: m.vault_recovery_key(),
    label: m.vault_recovery_key_once(),
    action: m.vault_recovery_key_done(),
    file: recoveryFile(secret),
    kind: 'recovery key',
  });
}
