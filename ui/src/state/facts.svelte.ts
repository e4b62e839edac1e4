// Facts about the gateway. `index.html` carries the first values; API answers and events update them.
import type { Shape } from '../client/http';

export type VaultStatus = 'uninitialized' | 'sealed' | 'unsealed' | 'disabled';

export interface Facts {
  product: string;
  vault_status: VaultStatus;
  voice_enabled: boolean;
  has_passkeys: boolean;
  setup_required: boolean;
  auth_disabled: boolean;
}

const carried = document.querySelector<HTMLMetaElement>('meta[name=gatehouse]')?.content ?? '{}';

export const facts: Facts = $state({
  product: 'Gatehouse',
  vault_status: 'uninitialized',
  voice_enabled: false,
  has_passkeys: false,
  setup_required: false,
  auth_disabled: false,
  ...read(carried),
});

function read(text: string): Partial<Facts> {
  try {
    return JSON.parse(text) as Partial<Facts>;
  } catch {
    return {};
  }
}

/** Number of vault states received over the socket. */
let vaultEvents = 0;

/** Records a vault state from the socket, which delivers them in order. */
export function hearVault(status: string): void {
  vaultEvents++;
  facts.vault_status = status as VaultStatus;
}

/**
 * Call this before an HTTP request that returns the vault state, and pass the state to the returned function. The
 * function ignores the state if the socket delivered one in the meantime, because the socket's state is at least as
 * new.
 */
export function askVault(): (status: string) => void {
  const before = vaultEvents;
  return (status) => {
    if (vaultEvents === before) facts.vault_status = status as VaultStatus;
  };
}

/** Takes over an answer of `GET /api/auth/status`. Get `vault` from `askVault` before the request. */
export function learn(status: Shape<'AuthStatus'>, vault: (status: string) => void): void {
  vault(status.vault_status);
  facts.has_passkeys = status.has_passkeys;
  facts.setup_required = status.setup_required;
  facts.auth_disabled = status.auth_disabled;
}
