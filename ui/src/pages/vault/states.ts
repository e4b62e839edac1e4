// Titles and descriptions of the vault's states.
import { m } from '../../paraglide/messages.js';
import type { VaultStatus } from '../../state/facts.svelte';

export const TITLES: Record<VaultStatus, () => string> = {
  uninitialized: m.vault_state_uninitialized,
  sealed: m.vault_state_sealed,
  unsealed: m.vault_state_unsealed,
  disabled: m.vault_state_disabled,
};

export const TEXTS: Record<VaultStatus, () => string> = {
  uninitialized: m.vault_state_uninitialized_text,
  sealed: m.vault_state_sealed_text,
  unsealed: m.vault_state_unsealed_text,
  disabled: m.vault_state_disabled_text,
};
